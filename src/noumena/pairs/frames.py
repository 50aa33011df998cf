"""Pairs of frames of one sequence, at most some frames apart."""

import numpy as np
import torch

from .. import _checks
from ..batch import PairBatch
from ..data import AbstractImageTable
from ..data.pixels import unit
from .base import AbstractPairSource


class Frames(AbstractPairSource):
    """Frame t of a sequence and frame min(t + k, T - 1), k uniform in 1..gap: the pairs of KITTI Masks.

    Anchors are all frames but the last of each sequence, and no frame is drawn twice as an anchor of one batch. Near
    its end a sequence gives its last frame more often. `Temporal` pairs frames of arrays at one fixed lag instead.

    Args:
        table: Images with `episodes`. Its factors, where known, are the latents of the pairs.
        gap: The most frames between an anchor and its positive: 1 for the published "0.05 s", 5 for "0.15 s".
    """

    def __init__(self, table: AbstractImageTable, gap: int = 1) -> None:
        self.table = _checks.kind("table", table, AbstractImageTable, "Pass one such as `Walkers()`.")
        self.gap = _checks.count("gap", gap)
        if table.episodes is None:
            raise ValueError(f"`table` must have episodes, the sequence of each row; `{table.name}` has none.")
        breaks = np.flatnonzero(table.episodes[1:] != table.episodes[:-1])
        ends = np.append(breaks, len(table) - 1)
        last = torch.from_numpy(np.repeat(ends, np.diff(ends, prepend=-1)))
        self.anchors = (torch.arange(len(table)) < last).nonzero()[:, 0]
        self.last = last
        if len(self.anchors) == 0:
            raise ValueError(f"`table` must have a sequence of two frames, `{table.name}` has none.")

    def __len__(self) -> int:
        """The number of anchors."""
        return len(self.anchors)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        if n > len(self):
            raise ValueError(f"`n` must be at most the {len(self)} anchors there are, got {n}.")
        device = generator.device
        chosen = torch.randperm(len(self), generator=generator, device=device)[:n].cpu()
        ahead = torch.randint(1, self.gap + 1, (n,), generator=generator, device=device).cpu()
        rows = self.anchors[chosen]
        rows_pos = torch.minimum(rows + ahead, self.last[rows])
        return stored(self.table, rows, rows_pos, generator, dtype)


def stored(
    table: AbstractImageTable,
    rows: torch.Tensor,
    rows_pos: torch.Tensor,
    generator: torch.Generator,
    dtype: torch.dtype,
) -> PairBatch:
    """Pairs of rows of a table: images in [0, 1], with the factors that the table knows."""
    device, factors = generator.device, table.factors
    # Read at once, so that a table of files has all its threads at work.
    x, x_pos = unit(table.images(torch.cat([rows, rows_pos])), dtype, device).split(len(rows))
    if factors is None:
        return PairBatch(x=x, x_pos=x_pos)
    z, z_pos = (factors[which.to(factors.device)].to(device, dtype) for which in (rows, rows_pos))
    return PairBatch(x=x, x_pos=x_pos, z=z, z_pos=z_pos)
