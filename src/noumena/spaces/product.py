"""Spaces side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from .base import AbstractSpace


@dataclass(frozen=True)
class Product(AbstractSpace):
    """The Cartesian product: the coordinates of the first factor, then those of the second, and so on.

    Args:
        factors: The spaces, at least one.
    """

    factors: Sequence[AbstractSpace]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _checks.sequence("factors", self.factors))
        if not self.factors:
            raise ValueError("`factors` must name at least one space, got none.")
        for factor in self.factors:
            _checks.kind("factors", factor, AbstractSpace, "Pass spaces such as `Sphere(3)`.")

    @property
    def dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return sum(factor.dim for factor in self.factors)

    def split(self, z: Float[Tensor, "*n d"]) -> tuple[Tensor, ...]:
        """The coordinates of each factor."""
        if z.shape[-1] != self.dim:
            raise ValueError(f"`z` must have the {self.dim} coordinates of the factors; got {z.shape[-1]}.")
        return torch.split(z, [factor.dim for factor in self.factors], dim=-1)

    @property
    def bounded(self) -> bool:
        return all(factor.bounded for factor in self.factors)

    @property
    def log_volume(self) -> float:
        return sum(factor.log_volume for factor in self.factors)

    def _contains(self, z: Tensor) -> Tensor:
        parts = zip(self.factors, self.split(z), strict=True)
        return torch.stack([factor._contains(part) for factor, part in parts]).all(dim=0)

    def _project(self, z: Tensor) -> Tensor:
        parts = zip(self.factors, self.split(z), strict=True)
        return torch.cat([factor._project(part) for factor, part in parts], dim=-1)

    def _sample_uniform(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        return torch.cat([factor._sample_uniform(n, generator, dtype) for factor in self.factors], dim=-1)
