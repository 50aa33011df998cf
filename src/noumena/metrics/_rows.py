"""Pairs of true and recovered rows: taken in, checked, standardised and split."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

# Squares and sums of larger numbers leave float64; embeddings of this size come from a diverged run.
LARGEST = 1e100
# A column that varies by less than this share of its size is constant up to the rounding of its own mean.
ROUNDING = 64 * np.finfo(np.float64).eps


class Rows(NamedTuple):
    """True `z` (n, d) and recovered `h` (n, k) in float64, with the relative precision of what was given."""

    z: np.ndarray
    h: np.ndarray
    precision: float

    def take(self, index: np.ndarray) -> "Rows":
        return Rows(self.z[index], self.h[index], self.precision)


def rows(z: ArrayLike | Tensor, h: ArrayLike | Tensor, least: int, reason: str) -> Rows:
    """The checked pair; `reason` says what fewer than `least` rows cannot do."""
    (z, z_precision), (h, h_precision) = _matrix("z", z), _matrix("h", h)
    if len(z) != len(h):
        raise ValueError(f"`h` must have the rows of `z`, {len(z)}; got {len(h)}. Row i of both is one sample.")
    if len(z) < least:
        raise ValueError(f"`z` and `h` must have at least {least} rows, got {len(z)}: {reason}.")
    return Rows(z, h, max(z_precision, h_precision))


def standardised_rows(z: ArrayLike | Tensor, h: ArrayLike | Tensor, held_out: bool) -> Rows:
    """The pair with standardised columns, for scores that ignore the offset and scale of every column."""
    least = 6 if held_out else 3
    given = rows(z, h, least, "a correlation needs three rows" + " in each half" * held_out)
    return Rows(standardise(given.z), standardise(given.h), given.precision)


def halves(given: Rows, held_out: bool, seed: int) -> tuple[Rows, Rows]:
    """The rows to fit and the rows to score: two halves, or all rows twice."""
    if not held_out:
        return given, given
    n = len(given.z)
    order = np.random.default_rng([seed, 0]).permutation(n)
    return given.take(order[: n - n // 2]), given.take(order[n - n // 2 :])


def standardise(x: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and mean square 1; columns without variation become 0."""
    centred = x - x.mean(axis=0)
    # Once more: beside a large offset, the first mean is rounded more coarsely than the column varies.
    centred -= centred.mean(axis=0)
    size = np.abs(centred).max(axis=0)
    flat = size <= ROUNDING * np.abs(x).max(axis=0)
    # Dividing by the largest entry first keeps the squares of very small columns from vanishing.
    centred /= np.where(flat, np.inf, size)
    return centred / np.where(flat, 1.0, np.sqrt(np.square(centred).mean(axis=0)))


def require_variation(z: np.ndarray, part: str, score: str, coordinates: np.ndarray | None = None) -> None:
    """Refuse true coordinates that are constant on the rows called `part`."""
    spread, size = np.ptp(z, axis=0), np.abs(z).max(axis=0)
    flat = np.flatnonzero(spread <= ROUNDING * size)
    if flat.size:
        which = (flat if coordinates is None else coordinates[flat]).tolist()
        raise ValueError(
            f"`z` must vary in every coordinate; coordinates {which} are constant on {part}, where {score} is "
            "undefined. Leave them out, or give more rows."
        )


def _matrix(name: str, value: Any) -> tuple[np.ndarray, float]:
    """`value` as a float64 matrix, and the relative precision of its own type."""
    if isinstance(value, Tensor):
        array = _from_torch(name, value)
        precision = torch.finfo(value.dtype).eps if value.is_floating_point() else 0.0
    else:
        array, precision = _from_array(name, value)
    if array.ndim != 2:
        hint = " Use reshape(-1, 1) for a single coordinate." if array.ndim == 1 else ""
        raise ValueError(f"`{name}` must have the shape (n, d): one sample a row; got {array.shape}.{hint}")
    if array.size == 0:
        raise ValueError(f"`{name}` must not be empty; got the shape {array.shape}.")
    bad = int(np.count_nonzero(~(np.abs(array) <= LARGEST)))
    if bad:
        raise ValueError(
            f"`{name}` must be finite and at most {LARGEST:g} in size; {bad} of {array.size} entries are not. "
            "Drop those rows, or look for a diverged training step before this call."
        )
    # Types coarser than float32 are treated like it: their rounding would otherwise hide directions that matter.
    return array, float(np.clip(precision, np.finfo(np.float64).eps, np.finfo(np.float32).eps))


def _from_torch(name: str, value: Tensor) -> np.ndarray:
    if value.is_complex():
        raise TypeError(f"`{name}` must hold real numbers, got {value.dtype}.")
    return value.detach().cpu().double().numpy()  # to the CPU first: not every device knows float64


def _from_array(name: str, value: Any) -> tuple[np.ndarray, float]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"`{name}` must have rows of equal length: {error}") from error
    if array.dtype.kind not in "fiub":
        raise TypeError(f"`{name}` must be an array, a torch.Tensor or rows of real numbers, got {_called(value)}.")
    precision = np.finfo(array.dtype).eps if array.dtype.kind == "f" else 0.0
    return array.astype(np.float64), float(precision)


def _called(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return f"`{type(value).__name__}`" + (f" of {dtype}" if dtype is not None else "")
