"""Rows of arrays that may be larger than memory: checked, in blocks, or some of them."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

Rows = np.ndarray | Tensor

BLOCK = 16_384  # rows held at once


def require(name: str, value: object, like: tuple[str, Rows] | None = None) -> Rows:
    """An (n, d) array of numbers; `like` names another array that it must have as many rows as."""
    if not isinstance(value, np.ndarray | Tensor):
        raise TypeError(
            f"`{name}` must be a NumPy array or a tensor, got `{type(value).__name__}`; numpy.asarray converts lists."
        )
    if value.ndim != 2 or 0 in value.shape:
        hint = " Flatten what is not a vector." if value.ndim > 2 else " Use reshape(-1, 1) for a single column."
        raise ValueError(f"`{name}` must have the shape (n, d), got {tuple(value.shape)}.{hint if value.ndim else ''}")
    numbers = value.dtype.kind in "fiub" if isinstance(value, np.ndarray) else not value.is_complex()
    if not numbers:
        raise TypeError(f"`{name}` must hold real numbers, got {value.dtype}.")
    if like is not None and len(value) != len(like[1]):
        raise ValueError(
            f"`{name}` must have a row for each row of `{like[0]}`, {len(like[1])}; got {len(value)}. "
            "Row i of one belongs to row i of the other: look for a dropped last batch."
        )
    return value


def blocks(name: str, array: Rows, size: int = BLOCK) -> Iterator[Tensor]:
    """Consecutive rows in float64; refuses NaN and infinity."""
    for start in range(0, len(array), size):
        yield _converted(name, array[start : start + size], start)


def take(name: str, array: Rows, index: Tensor) -> Tensor:
    """The rows of an ascending index, in float64."""
    rows = array[index.to(array.device)] if isinstance(array, Tensor) else array[index.numpy()]
    return _converted(name, rows, None)


def epsilon(array: Rows) -> float:
    """Relative rounding of the array's own type."""
    if isinstance(array, Tensor):
        return torch.finfo(array.dtype).eps if array.is_floating_point() else 0.0
    return float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0


def _converted(name: str, rows: Rows, start: int | None) -> Tensor:
    if isinstance(rows, Tensor):
        converted = rows.detach().cpu().double()
    else:
        converted = torch.from_numpy(np.array(rows, dtype=np.float64))  # a copy: mapped files cannot be written to
    finite = torch.isfinite(converted).all(dim=1)
    if not bool(finite.all()):
        first = int((~finite).nonzero()[0])
        where = "" if start is None else f", the first is row {start + first}"
        raise ValueError(
            f"`{name}` must be finite; {int((~finite).sum())} rows hold NaN or infinity{where}. "
            "Drop those pairs from every array, or look for a diverged training step."
        )
    return converted
