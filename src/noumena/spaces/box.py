"""An axis-aligned box."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks, _rng
from .base import AbstractSpace


@dataclass(frozen=True)
class Box(AbstractSpace):
    """A product of closed intervals, with Lebesgue measure.

    Args:
        dim: Number of coordinates.
        low, high: Bounds, one number for all coordinates or one for each; kept as tuples of length `dim`.
    """

    dim: int
    low: float | Sequence[float] = 0.0
    high: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        _checks.count("dim", self.dim)
        for name in ("low", "high"):
            object.__setattr__(self, name, self._per_coordinate(name, getattr(self, name)))
        for j, (low, high) in enumerate(zip(self.low, self.high, strict=True)):  # pyright: ignore
            if low >= high:
                raise ValueError(f"`low` must be below `high` in every coordinate; coordinate {j} has [{low}, {high}].")

    def _per_coordinate(self, name: str, bound: float | Sequence[float]) -> tuple[float, ...]:
        values = tuple(bound) if isinstance(bound, Sequence) else (bound,) * self.dim
        if len(values) != self.dim:
            raise ValueError(f"`{name}` must have one value or {self.dim}, one for each coordinate; got {len(values)}.")
        return tuple(_checks.number(name, value) for value in values)

    def bounds(self, like: Tensor) -> tuple[Float[Tensor, " d"], Float[Tensor, " d"]]:
        """Lower and upper bounds as tensors of the dtype and device of `like`."""
        return like.new_tensor(self.low), like.new_tensor(self.high)

    @property
    def bounded(self) -> bool:
        return True

    @property
    def log_volume(self) -> float:
        return sum(math.log(high - low) for low, high in zip(self.low, self.high, strict=True))  # pyright: ignore

    def _contains(self, z: Tensor) -> Tensor:
        low, high = self.bounds(z)
        slack = 4 * torch.finfo(z.dtype).eps * torch.maximum(low.abs(), high.abs())
        return ((z >= low - slack) & (z <= high + slack)).all(dim=-1)

    def _project(self, z: Tensor) -> Tensor:
        return torch.clamp(z, *self.bounds(z))

    def _sample_uniform(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        draw = _rng.uniform((n, self.dim), generator, dtype)
        return torch.lerp(*self.bounds(draw), draw)
