"""ImageNet, and whatever lies in one folder for each class."""

import os
from pathlib import Path

import torch

from .. import _checks
from .files import AbstractImageFiles, threads

SPLITS = {"train": "train", "test": "val"}
ENDINGS = (".jpeg", ".jpg", ".png")


class ImageNet(AbstractImageFiles):
    """Photographs in one folder for each class, brought to one size: the shorter side resized, the centre cut out.

    The layout is `train/CLASS/NAME.JPEG` and `val/CLASS/NAME.JPEG`; classes are numbered in the order of their names.
    Whatever else lies in folders by class can be read so, too.

    Args:
        root: The folder of `train` and `val`.
        split: "train", or "test" for `val` (ImageNet's own test set has no public labels).
        size: Of the images, square.
        resize: What the shorter side becomes before the centre is cut out; by default size * 256 / 224.
        workers: Threads that read and decode; by default one for each core, up to eight.
    """

    def __init__(
        self,
        root: str | Path,
        split: str = "train",
        *,
        size: int = 224,
        resize: int | None = None,
        workers: int | None = None,
    ) -> None:
        self.root = Path(root) / SPLITS[_checks.choice("split", split, SPLITS)]
        self.name, self.workers = f"imagenet/{split}", threads(workers)
        self.crop = _checks.count("size", size)
        self.resize = round(self.crop * 256 / 224) if resize is None else _checks.count("resize", resize, low=self.crop)
        self.shape = (3, self.crop, self.crop)
        self.class_names = tuple(_names(self.root, folders=True))
        if not self.class_names:
            raise FileNotFoundError(
                f"no folders in `{self.root}`; it must hold one for each class. Unpack the set's own tarballs so."
            )
        found = [_names(self.root / name, folders=False) for name in self.class_names]
        counts = torch.tensor([len(names) for names in found])
        if not bool(counts.all()):
            empty = self.class_names[int(counts.argmin())]
            raise FileNotFoundError(f"no images in `{self.root / empty}`; remove the folder, or copy the class again.")
        self.labels = torch.arange(len(found)).repeat_interleave(counts)
        self.files = [
            f"{name}{os.sep}{file}" for name, files in zip(self.class_names, found, strict=True) for file in files
        ]

    def __len__(self) -> int:
        return len(self.files)

    def path(self, row: int) -> Path:
        return self.root / self.files[row]


def _names(folder: Path, *, folders: bool) -> list[str]:
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder `{folder}`; name the one that holds `train` and `val`.")
    with os.scandir(folder) as entries:
        if folders:
            return sorted(entry.name for entry in entries if entry.is_dir())
        return sorted(entry.name for entry in entries if entry.name.lower().endswith(ENDINGS))
