"""A diagnosis of a million pairs on disk: seconds, and memory beyond what was there before."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from ..diagnostics import diagnose
from .measure import Row, peak_megabytes, seconds

PAIRS, DIM, BLOCK = 1_000_000, 128, 50_000


def run(pairs: int = PAIRS, dim: int = DIM) -> Iterator[Row]:
    """Unit anchors and positives near them, float32, written to a temporary folder and memory-mapped. Memory counts
    the pages of the files that are mapped, though the system may drop them at any time."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), pairs, dim)
        before = time.process_time()
        taken = seconds(_prepare(folder), repeats=1, warmup=0)
        processor = time.process_time() - before
        yield Row(
            f"diagnosis of {pairs} pairs of {dim} float32, memory-mapped",
            taken,
            megabytes=peak_megabytes(_prepare, folder),
            note=f"{processor:.0f} s of processor time on {torch.get_num_threads()} threads; at most 120 s and 4096 MB "
            "are claimed on two cores",
        )


def write(folder: Path, pairs: int, dim: int) -> None:
    """anchors.npy and positives.npy."""
    generator = torch.Generator().manual_seed(0)
    files = [
        np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, (pairs, dim))
        for name in ("anchors", "positives")
    ]
    for start in range(0, pairs, BLOCK):
        rows = slice(start, min(start + BLOCK, pairs))
        h = torch.nn.functional.normalize(torch.randn(rows.stop - start, dim, generator=generator), dim=1)
        near = h + 0.06 * torch.randn(h.shape, generator=generator)
        files[0][rows], files[1][rows] = h.numpy(), torch.nn.functional.normalize(near, dim=1).numpy()
    for file in files:
        file.flush()


def _prepare(folder: str) -> Callable[[], object]:
    anchors, positives = (np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in ("anchors", "positives"))
    return lambda: diagnose(anchors, positives)
