"""Marginals side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks, spaces
from .base import AbstractMarginal


@dataclass(frozen=True)
class Product(AbstractMarginal):
    """Independent blocks of latents, each with a law and a space of its own; the space is the product of theirs.

    Args:
        factors: The marginals, at least one, in the order of their coordinates.
    """

    factors: Sequence[AbstractMarginal]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", tuple(self.factors))
        if not self.factors:
            raise ValueError("`factors` must name at least one marginal, got none.")
        for factor in self.factors:
            _checks.kind("factors", factor, AbstractMarginal, "Pass marginals such as `Uniform(Sphere(3))`.")

    @property
    def space(self) -> spaces.Product:  # pyright: ignore[reportIncompatibleVariableOverride]
        return spaces.Product([factor.space for factor in self.factors])

    @property
    def normalised(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return all(factor.normalised for factor in self.factors)

    def sample(self, n: int, *, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Float[Tensor, "n d"]:
        return torch.cat([factor.sample(n, generator=generator, dtype=dtype) for factor in self.factors], dim=1)

    def log_prob(self, z: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        _checks.matrix("z", z, self.space.dim)
        parts = zip(self.factors, self.space.split(z), strict=True)
        return torch.stack([factor.log_prob(part) for factor, part in parts]).sum(dim=0)
