"""Tables whose rows are picture files."""

import hashlib
import os
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from .base import AbstractImageTable
from .cache import Damaged
from .pictures import decode

SAMPLED = 16  # files that stand for all of them in a fingerprint


class AbstractImageFiles(AbstractImageTable):
    """A table of pictures in files, read by row and decoded by several threads: the decoders run side by side.

    Subclasses define `path` and set `resize` and `crop` if their files differ in size. Where decoding is what one
    waits for, `Mapped` keeps a decoded copy.

    Attributes:
        workers: Threads that read and decode.
        resize, crop: See `pictures.decode`.
    """

    workers: int
    resize: int | None = None
    crop: int | None = None

    @abstractmethod
    def path(self, row: int) -> Path:
        """The file of a row."""

    def fingerprint(self) -> str:
        """Tells this table from others, and from itself with other pictures, labels or factors."""
        told = hashlib.sha256(repr((self.name, self.shape, len(self), self.resize, self.crop)).encode())
        for known in (self.labels, self.factors):
            told.update(b"" if known is None else known.numpy().tobytes())
        for row in np.linspace(0, len(self) - 1, SAMPLED).astype(int).tolist():
            path = self.path(row).absolute()
            seen = path.stat() if path.is_file() else None
            told.update(repr((path, seen and (seen.st_size, seen.st_mtime_ns))).encode())
        return told.hexdigest()

    def _images(self, rows: Tensor) -> Tensor:
        found = np.empty((len(rows), *self.shape), np.uint8)

        def read(place: int, row: int) -> None:
            found[place] = self._read(row)

        with ThreadPoolExecutor(self.workers) as pool:
            for _ in pool.map(read, range(len(rows)), rows.tolist()):
                pass
        return torch.from_numpy(found)

    def _read(self, row: int) -> np.ndarray:
        path = self.path(row)
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"no file `{path}`, the image of row {row} of `{self.name}`; copy or unpack the set again."
            ) from error
        image = decode(content, path, self.resize, self.crop)
        if image.shape != self.shape:
            raise Damaged(
                f"`{path}` must be a picture of {self.shape[2]}x{self.shape[1]}, as the first of `{self.name}` is; got "
                f"{image.shape[2]}x{image.shape[1]}. Copy or unpack the set again."
            )
        return image


def first_shape(path: Path, what: str) -> tuple[int, int, int]:
    """Channels, height and width of the first picture of a set."""
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`, the first image of {what}; copy or unpack the set again.")
    channels, height, width = decode(path.read_bytes(), path).shape
    return channels, height, width


def threads(workers: int | None) -> int:
    """As many as were asked for; by default one for each core, up to eight."""
    return min(8, os.cpu_count() or 1) if workers is None else _checks.count("workers", workers)
