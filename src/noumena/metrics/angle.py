"""Recovery up to orthogonal maps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from .. import _checks
from ._resampling import percentiles, resamples, stream
from ._rows import Rows, rows
from .base import AbstractMetric, MetricResult

# Rows of a tile. It stays in the cache, and for a dozen coordinates its products are small enough that BLAS does not
# share them between threads, which costs more than the product itself and very much more on a busy machine.
BLOCK = 128
RE_PAIRINGS = 20_000  # draws behind the chance level, whose standard error is then about half a percent of it


@dataclass(frozen=True, kw_only=True)
class AngleError(AbstractMetric):
    """Angle-preservation error: (1 / 2n²) Σ_ij |z_i·z_j - h_i·h_j|, over all ordered pairs, each row with itself too.

    The score when theory promises recovery up to rotation and reflection, and the only one here that sees a stretch:
    0 if all inner products agree. For unit vectors it lies between 0 and 1; otherwise it has the units of z². Nothing
    is fitted, so every row scores and there is no split. `z` and `h` may differ in dimension. Time grows with n²
    (under a tenth of a second for 8192 rows), memory does not.

    `chance` is its average when the rows of h are put in random order, from 20 000 re-paired draws.

    Args:
        normalise: Divide every row by its length first, so that only angles count. False takes rows as given; the
            embeddings it was published for have unit length.
        bootstrap, confidence, seed: See `AbstractMetric`. The rows are resampled, and with them all pairs.
    """

    normalise: bool = False
    larger_is_better: ClassVar[bool] = False
    ignores: ClassVar[str] = "orthogonal maps"

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.kind("normalise", self.normalise, bool)

    @property
    def name(self) -> str:
        return "angle_error_normalised" if self.normalise else "angle_error"

    def __call__(self, z: ArrayLike | Tensor, h: ArrayLike | Tensor) -> MetricResult:
        given = rows(z, h, 2, "one row has no angle")
        if self.normalise:
            given = Rows(_unit("z", given.z), _unit("h", given.h), given.precision)
        n = len(given.z)
        counts = None
        if self.bootstrap:
            counts = np.stack([np.bincount(index, minlength=n) for index in resamples(self, n)], axis=1).astype(float)
        total, resampled = 0.0, np.zeros(self.bootstrap)
        for first, second, errors in _tiles(given.z, given.h):
            times = 1 if first == second else 2  # errors are symmetric; the tile below the diagonal is not computed
            total += times * float(errors.sum())
            if counts is not None:
                resampled += times * (counts[first] * (errors @ counts[second])).sum(axis=0)
        return MetricResult(
            value=total / (2 * n * n),
            chance=_chance(given.z, given.h, stream(self)),
            held_out=True,
            interval=percentiles(self, resampled / (2 * n * n)) if self.bootstrap else None,
        )


def _unit(name: str, x: np.ndarray) -> np.ndarray:
    size = np.abs(x).max(axis=1, keepdims=True)
    if not size.all():
        raise ValueError(f"`{name}` must have no zero rows to be normalised; row {int(np.argmin(size))} is zero.")
    return x / size / np.linalg.norm(x / size, axis=1, keepdims=True)


def _tiles(z: np.ndarray, h: np.ndarray) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """|z_i·z_j - h_i·h_j| tile by tile, on and above the diagonal."""
    blocks = [slice(start, min(start + BLOCK, len(z))) for start in range(0, len(z), BLOCK)]
    for position, first in enumerate(blocks):
        for second in blocks[position:]:
            errors = z[first] @ z[second].T
            errors -= h[first] @ h[second].T
            yield first, second, np.abs(errors, out=errors)


def _chance(z: np.ndarray, h: np.ndarray, generator: np.random.Generator) -> float:
    """The error averaged over random orders of the rows of h: then pairs of z and of h are independent draws."""
    n, apart, itself = len(z), 0.0, 0.0
    # A few draws at a time, since rows may be wide.
    for draws in np.array_split(np.zeros(RE_PAIRINGS), 20):
        i, k = generator.integers(n, size=(2, len(draws)))
        j, m = (np.stack([i, k]) + generator.integers(1, n, size=(2, len(draws)))) % n
        apart += float(np.abs(_inner(z[i], z[j]) - _inner(h[k], h[m])).sum())
        itself += float(np.abs(_inner(z[i], z[i]) - _inner(h[k], h[k])).sum())
    return ((n - 1) * apart + itself) / (2 * n * RE_PAIRINGS)


def _inner(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("nd,nd->n", a, b)


def angle_error(z: ArrayLike | Tensor, h: ArrayLike | Tensor, *, normalise: bool = False) -> float:
    """The value of `AngleError`: by how much `h` (n, k) changes the inner products of `z` (n, d); 0 is perfect."""
    return AngleError(normalise=normalise)(z, h).value
