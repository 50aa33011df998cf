"""Marginals side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
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
        object.__setattr__(self, "factors", _checks.sequence("factors", self.factors))
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

    def _sample(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        return torch.cat([factor._sample(n, generator, dtype) for factor in self.factors], dim=1)

    def _log_prob(self, z: Tensor) -> Tensor:
        parts = zip(self.factors, self.space.split(z), strict=True)
        return torch.stack([factor._log_prob(part) for factor, part in parts]).sum(dim=0)
