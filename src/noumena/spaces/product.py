"""Spaces side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
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
        object.__setattr__(self, "factors", tuple(self.factors))
        if not self.factors:
            raise ValueError("`factors` must name at least one space, got none.")
        for factor in self.factors:
            _checks.kind("factors", factor, AbstractSpace, "Pass spaces such as `Sphere(3)`.")

    @property
    def dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return sum(factor.dim for factor in self.factors)

    def split(self, z: Float[Tensor, "*n d"]) -> tuple[Tensor, ...]:
        """The coordinates of each factor."""
        return torch.split(z, [factor.dim for factor in self.factors], dim=-1)

    @property
    def bounded(self) -> bool:
        return all(factor.bounded for factor in self.factors)

    @property
    def log_volume(self) -> float:
        return sum(factor.log_volume for factor in self.factors)

    def contains(self, z: Float[Tensor, "n d"]) -> Bool[Tensor, " n"]:
        parts = zip(self.factors, self.split(z), strict=True)
        return torch.stack([factor.contains(part) for factor, part in parts]).all(dim=0)

    def project(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        parts = zip(self.factors, self.split(z), strict=True)
        return torch.cat([factor.project(part) for factor, part in parts], dim=-1)

    def sample_uniform(
        self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        return torch.cat([factor.sample_uniform(n, generator, dtype) for factor in self.factors], dim=-1)
