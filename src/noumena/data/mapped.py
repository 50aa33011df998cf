"""A decoded copy of a table of files, memory-mapped."""

import os
from pathlib import Path

import numpy as np
import torch
from filelock import FileLock
from torch import Tensor

from .. import _checks
from . import cache
from .base import AbstractImageTable
from .cache import Damaged, Progress
from .files import AbstractImageFiles

FOLDER = "copies"
BLOCK = 1024  # rows written at once


class Mapped(AbstractImageTable):
    """Another table's images, decoded once into one file of the cache: every later read is a copy of bytes.

    For sets that are read many times over: a picture of 224 pixels takes milliseconds to decode, and the copy (n x c x
    h x w bytes, which must fit onto the disk) microseconds. What is known of the rows is the other table's. Copies are
    built once, whoever asks first; an interrupted one is taken up where it stopped, and none is used before it is
    whole. Pictures that have changed since get a copy of their own.

    Args:
        table: Pictures in files.
        cache: The folder of the cache, if not the user's.
        progress: Is told of images while the copy is built.
    """

    def __init__(
        self, table: AbstractImageFiles, *, cache: str | Path | None = None, progress: Progress = lambda *_: None
    ) -> None:
        _checks.kind("table", table, AbstractImageFiles, "Tables in memory need no copy.")
        self.name, self.shape = table.name, table.shape
        self.labels, self.class_names = table.labels, table.class_names
        self.factors, self.factor_names = table.factors, table.factor_names
        self.episodes = table.episodes
        self.path = _copy(table, cache, progress)
        self._pixels = np.memmap(self.path, np.uint8, "r", shape=(len(table), *table.shape))

    def __len__(self) -> int:
        return len(self._pixels)

    def _images(self, rows: Tensor) -> Tensor:
        return torch.from_numpy(np.asarray(self._pixels[rows.cpu().numpy()]))


def _copy(table: AbstractImageFiles, given: str | Path | None, progress: Progress) -> Path:
    """The path of the whole copy, built if it is not there."""
    folder = cache.make(cache.folder(given) / FOLDER)
    channels, height, width = table.shape
    name = f"{table.name.replace('/', '-')}-{height}x{width}-{table.fingerprint()[:12]}.bytes"
    path = folder / name
    with FileLock(folder / f".{name}.lock"):
        if not (path.is_file() and (cache.marked(path) or cache.intact(path, progress))):
            _build(table, folder / f".{name}.part", progress)
            os.replace(folder / f".{name}.part", path)
            cache.mark(path, cache.digest(path, progress))
    return path


def _build(table: AbstractImageFiles, part: Path, progress: Progress) -> None:
    size = int(np.prod(table.shape))
    done = _rows_kept(part, size, len(table))
    with cache.writable(part), open(part, "r+b" if part.exists() else "w+b") as file:
        file.truncate(done * size)
        file.seek(done * size)
        while done < len(table):
            rows = torch.arange(done, min(done + BLOCK, len(table)))
            file.write(table.images(rows).numpy().tobytes())
            file.flush()
            os.fsync(file.fileno())
            done += len(rows)
            progress(f"decoding {table.name}", done * size, len(table) * size)


def _rows_kept(part: Path, size: int, rows: int) -> int:
    """Whole blocks, but for the last: it may have got its length and not yet its bytes when the power failed."""
    if not part.exists():
        return 0
    blocks = min(part.stat().st_size // size, rows) // BLOCK
    return max(0, blocks - 1) * BLOCK


def copies(given: str | Path | None = None) -> list[Path]:
    """The whole copies in a cache."""
    return sorted((cache.folder(given) / FOLDER).glob("*.bytes"))


def check_copy(path: Path, progress: Progress | None = None) -> None:
    """Read a copy again, all of it; raises if it is not what was written."""
    if not cache.intact(path, progress):
        raise Damaged(f"`{path}` is not what was written; it is built anew when it is next used.")
