"""Argument checks, so that every error says what must hold, what was given and what to do."""

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor


def number(name: str, value: Any) -> float:
    """A finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"`{name}` must be a number, got {value!r} ({type(value).__name__}).")
    if not math.isfinite(value):
        raise ValueError(f"`{name}` must be finite, got {value!r}.")
    return float(value)


def positive(name: str, value: Any) -> float:
    if number(name, value) <= 0:
        raise ValueError(f"`{name}` must be positive, got {value!r}.")
    return float(value)


def at_least(name: str, value: Any, low: float) -> float:
    if number(name, value) < low:
        raise ValueError(f"`{name}` must be at least {low:g}, got {value!r}.")
    return float(value)


def within(name: str, value: Any, low: float, high: float) -> float:
    if not low <= number(name, value) <= high:
        raise ValueError(f"`{name}` must lie between {low:g} and {high:g}, got {value!r}.")
    return float(value)


def count(name: str, value: Any, low: int = 1) -> int:
    """A whole number, at least `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"`{name}` must be a whole number, got {value!r} ({type(value).__name__}).")
    if value < low:
        raise ValueError(f"`{name}` must be at least {low}, got {value}.")
    return int(value)


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    options = tuple(options)
    if value not in options:
        near = get_close_matches(str(value), options, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(map(repr, options))}."
        raise ValueError(f"`{name}` cannot be {value!r}; {hint}")
    return value


def kind(name: str, value: Any, expected: type | tuple[type, ...], hint: str = "") -> Any:
    """An instance of `expected`; `hint` says what to pass instead."""
    if not isinstance(value, expected):
        wanted = expected if isinstance(expected, tuple) else (expected,)
        names = " or ".join(f"`{one.__name__}`" for one in wanted)
        raise TypeError(f"`{name}` must be a {names}, got `{type(value).__name__}`. {hint}".rstrip())
    return value


def sequence(name: str, value: Any) -> tuple[Any, ...]:
    """A list, a tuple or the like, as a tuple."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"`{name}` must be a sequence, got `{type(value).__name__}`. Pass a list or a tuple.")
    return tuple(value)


def matrix(name: str, value: Any, columns: int | None = None, axes: str = "(n, d)") -> Tensor:
    """A floating tensor of shape (n, d) with at least one row and only finite entries."""
    rows(name, value, columns, axes)
    if value.shape[0] == 0 or value.shape[1] == 0:
        raise ValueError(f"`{name}` must not be empty; got the shape {tuple(value.shape)}.")
    return finite(name, value)


def rows(name: str, value: Any, columns: int | None = None, axes: str = "(n, d)") -> Tensor:
    """A floating tensor of shape (n, d), whatever its entries and however few its rows."""
    floating(name, value)
    if value.ndim != 2 or (columns is not None and value.shape[1] != columns):
        wanted = axes if columns is None else axes.replace("d)", f"{columns})")
        raise ValueError(f"`{name}` must have the shape {wanted}; got {tuple(value.shape)}.")
    return value


def floating(name: str, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"`{name}` must be a torch.Tensor, got `{type(value).__name__}`; torch.as_tensor converts arrays."
        )
    if not value.is_floating_point():
        raise TypeError(f"`{name}` must have a floating dtype, got {value.dtype}; convert it with .float().")
    return value


def finite(name: str, value: Tensor) -> Tensor:
    if not bool(torch.isfinite(value).all()):
        bad = value.numel() - int(torch.isfinite(value).sum())
        raise ValueError(
            f"`{name}` must be finite; {bad} of {value.numel()} entries are NaN or infinite. "
            "Drop those rows, or look for a division by zero or a diverged training step before this call."
        )
    return value


def same_shape(name: str, value: Tensor, other_name: str, other: Tensor) -> None:
    if value.shape != other.shape:
        raise ValueError(
            f"`{name}` must have the shape of `{other_name}`, {tuple(other.shape)}; got {tuple(value.shape)}."
        )


def same_kind(name: str, value: Tensor, other_name: str, other: Tensor) -> None:
    """Equal dtype and device: nothing is converted on the way."""
    if value.dtype != other.dtype:
        raise TypeError(
            f"`{name}` must have the dtype of `{other_name}`, {other.dtype}; got {value.dtype}. Convert one of them."
        )
    if value.device != other.device:
        raise ValueError(
            f"`{name}` must be on the device of `{other_name}`, {other.device}; got {value.device}. Move one of them."
        )


def dtype(value: Any) -> torch.dtype:
    """A dtype that random numbers can have."""
    if not isinstance(value, torch.dtype) or not value.is_floating_point:
        raise TypeError(f"`dtype` must be a floating dtype such as torch.float32, got {value!r}.")
    return value


def generator(value: Any, device: torch.device | None = None) -> torch.Generator:
    """An explicit torch generator, on `device` if one is given."""
    if not isinstance(value, torch.Generator):
        raise TypeError(
            f"`generator` must be a torch.Generator, got `{type(value).__name__}`; "
            "pass torch.Generator().manual_seed(0), so that the draw can be repeated."
        )
    if device is not None and located(value.device) != located(device):
        raise ValueError(
            f"`generator` must be on the device of its inputs, {device}; got {value.device}. "
            f"Make one with torch.Generator(device={str(device)!r})."
        )
    return value


def located(device: torch.device) -> tuple[str, int]:
    """Kind and index of a device: `cuda` and `cuda:0` name one."""
    return device.type, device.index or 0
