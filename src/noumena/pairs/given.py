"""Pairs that the user already holds."""

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch
from .base import AbstractPairSource

Rows = np.ndarray | Tensor


class Given(AbstractPairSource):
    """Batches drawn from two arrays whose rows belong together: row i of `x_pos` is the positive of row i of `x`.

    A batch holds distinct rows. Arrays are indexed, never copied whole, so memory-mapped files stay on disk.

    Args:
        x, x_pos: Anchors and positives of one shape (rows, ...), NumPy arrays or tensors.
        z, z_pos: Their true factors (rows, d), where known; metrics need `z`.
        among: The rows that may be drawn, each once; all by default. Two sources with disjoint `among` split one
            pair of arrays into training and held-out pairs without a copy.
    """

    def __init__(
        self,
        x: Rows,
        x_pos: Rows,
        z: Rows | None = None,
        z_pos: Rows | None = None,
        *,
        among: np.ndarray | None = None,
    ) -> None:
        latents = {name: rows for name, rows in {"z": z, "z_pos": z_pos}.items() if rows is not None}
        for name, rows in {"x": x, "x_pos": x_pos, **latents}.items():
            _checks.kind(name, rows, (np.ndarray, Tensor), "numpy.asarray converts lists.")
            if isinstance(rows, np.ndarray) and rows.dtype.kind not in "fiub":
                raise TypeError(f"`{name}` must hold real numbers, got an array of {rows.dtype}.")
            if rows.ndim < 2 or len(rows) != len(x) or (name in latents and rows.ndim > 2):
                axes = "two axes" if name in latents else "at least two axes"
                raise ValueError(
                    f"`{name}` must have {len(x)} rows, one for each row of `x`, and {axes}; "
                    f"got the shape {tuple(rows.shape)}."
                )
        if x.shape != x_pos.shape:
            raise ValueError(f"`x_pos` must have the shape of `x`, {tuple(x.shape)}; got {tuple(x_pos.shape)}.")
        if len(x) == 0:
            raise ValueError("`x` must have at least one row, got none.")
        self.x, self.x_pos, self.z, self.z_pos = x, x_pos, z, z_pos
        self.among = None if among is None else places(among, len(x))

    def __len__(self) -> int:
        """The number of pairs that may be drawn."""
        return len(self.x) if self.among is None else len(self.among)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        if n > len(self):
            raise ValueError(f"`n` must be at most the {len(self)} pairs there are, got {n}.")
        index = torch.randperm(len(self), generator=generator, device=generator.device)[:n].cpu()
        index = index if self.among is None else self.among[index]
        return PairBatch(
            x=_take("x", self.x, index, generator, dtype),
            x_pos=_take("x_pos", self.x_pos, index, generator, dtype),
            z=None if self.z is None else _take("z", self.z, index, generator, dtype),
            z_pos=None if self.z_pos is None else _take("z_pos", self.z_pos, index, generator, dtype),
        )


def places(among: np.ndarray, rows: int) -> Tensor:
    """Row numbers below `rows`, checked to be distinct."""
    _checks.kind("among", among, np.ndarray, "numpy.asarray converts lists.")
    if among.ndim != 1 or len(among) == 0 or among.dtype.kind not in "iu":
        raise ValueError(
            f"`among` must be a non-empty vector of row numbers, got the shape {among.shape} of {among.dtype}."
        )
    if among.min() < 0 or among.max() >= rows or len(np.unique(among)) < len(among):
        raise ValueError(
            f"`among` must name each row at most once, from 0 to {rows - 1}; got {len(among)} entries, "
            f"{len(np.unique(among))} of them distinct, from {among.min()} to {among.max()}."
        )
    return torch.from_numpy(among.astype(np.int64))


def _take(name: str, rows: Rows, index: Tensor, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
    if isinstance(rows, Tensor):
        chosen = rows[index.to(rows.device)]
    else:
        chosen = torch.from_numpy(np.ascontiguousarray(rows[index.numpy()]))
    return _checks.finite(name, chosen.to(device=generator.device, dtype=dtype))
