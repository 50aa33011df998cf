import hashlib
import io
import json
import tarfile

import numpy as np
import pytest
import torch
from PIL import Image

from noumena.data import CIFAR10, cifar
from noumena.data.cache import Damaged, Facts
from noumena.data.fetch import StoredSet
from tests.contracts.data import ImageTableContract
from tests.data.layouts import pictures, scratch

FOLDER = scratch()
N = 6  # images of a batch here, in place of 10 000
PICTURES = pictures(6 * N, 32, seed=3)
LABELS = np.random.default_rng(3).integers(0, 10, 6 * N)


def batch(i: int) -> bytes:
    """A label, then all red, all green and all blue bytes, image by image."""
    rows = range(i * N, (i + 1) * N)
    return b"".join(bytes([LABELS[r]]) + PICTURES[r].transpose(2, 0, 1).tobytes() for r in rows)


def stored() -> StoredSet:
    names = (*cifar.TRAIN, *cifar.TEST)
    facts = (Facts(name, len(batch(i)), hashlib.sha256(batch(i)).hexdigest()) for i, name in enumerate(names))
    return StoredSet("cifar10", "", tuple(facts), ())


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(cifar, "CIFAR10_SET", stored())
    monkeypatch.setattr(cifar, "ROWS", N)


(FOLDER / "cifar10").mkdir()
for _i, _name in enumerate((*cifar.TRAIN, *cifar.TEST)):
    (FOLDER / "cifar10" / _name).write_bytes(batch(_i))


class TestCIFAR10(ImageTableContract):
    def make(self):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(cifar, "CIFAR10_SET", stored())
            return CIFAR10("train", cache=FOLDER)

    def reference(self):
        return torch.from_numpy(PICTURES[: 5 * N].transpose(0, 3, 1, 2).copy())


def test_the_test_split():
    table = CIFAR10("test", cache=FOLDER)
    assert table.labels.tolist() == LABELS[5 * N :].tolist() and len(table) == N
    assert np.array_equal(table.pixels[2].permute(1, 2, 0).numpy(), PICTURES[5 * N + 2])


def test_the_official_batches_are_rebuilt_from_sheets(tmp_path):
    """One image to a line of 1024 pixels, with the package's spelling."""
    files = {
        "train_lables.json": json.dumps(LABELS[: 5 * N].tolist()).encode(),
        "test_lables.json": json.dumps(LABELS[5 * N :].tolist()).encode(),
    }
    for i, name in enumerate((*cifar.TRAIN, *cifar.TEST)):
        drawn = io.BytesIO()
        Image.fromarray(PICTURES[i * N : (i + 1) * N].reshape(N, 1024, 3)).save(drawn, "png")
        files[name.replace(".bin", ".png")] = drawn.getvalue()
    with tarfile.open(tmp_path / "sheets.tgz", "w:gz") as opened:
        for name, content in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    rebuilt = dict(cifar.from_sheets(tmp_path / "sheets.tgz"))
    assert rebuilt == {name: batch(i) for i, name in enumerate((*cifar.TRAIN, *cifar.TEST))}


def test_a_damaged_batch_is_named(tmp_path):
    (tmp_path / "cifar10").mkdir()
    for i, name in enumerate((*cifar.TRAIN, *cifar.TEST)):
        (tmp_path / "cifar10" / name).write_bytes(batch(i) if i != 2 else batch(3))
    with pytest.raises(Damaged, match="data_batch_3.bin` must have the sha256 .*; run `noumena data fetch cifar10`"):
        CIFAR10("train", cache=tmp_path)
    assert len(CIFAR10("test", cache=tmp_path)) == N
