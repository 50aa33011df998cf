"""Conditionals side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .. import _checks, spaces
from ..spaces import AbstractSpace
from .base import AbstractConditional


@dataclass(frozen=True)
class Product(AbstractConditional):
    """Independent blocks of latents, each redrawn by a law of its own.

    Args:
        factors: The conditionals, at least one, in the order of their coordinates.
        space: A `spaces.Product` with a factor for each, which then replace their own. Default: the product of
            their own; without either the law does not know where to cut the coordinates, and must be placed by `on`.
    """

    factors: Sequence[AbstractConditional]
    space: AbstractSpace | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _checks.sequence("factors", self.factors))
        if not self.factors:
            raise ValueError("`factors` must name at least one conditional, got none.")
        for factor in self.factors:
            _checks.kind("factors", factor, AbstractConditional, "Pass conditionals such as `VonMisesFisher(10.0)`.")
        if self.space is None:
            own = [factor.space for factor in self.factors if factor.space is not None]
            if len(own) == len(self.factors):
                object.__setattr__(self, "space", spaces.Product(own))
            return
        if not isinstance(self.space, spaces.Product) or len(self.space.factors) != len(self.factors):
            raise ValueError(f"`space` must be a product of {len(self.factors)} spaces, got `{self.space}`.")
        placed = tuple(one.on(where) for one, where in zip(self.factors, self.space.factors, strict=True))
        object.__setattr__(self, "factors", placed)

    @property
    def normalised(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return all(factor.normalised for factor in self.factors)

    @property
    def full_support(self) -> bool:
        return all(factor.full_support for factor in self.factors)

    def natural_space(self, dim: int) -> spaces.Product:
        raise ValueError(
            f"`Product` cannot tell how {dim} coordinates belong to its {len(self.factors)} factors; "
            "give each factor a space, or give `space=spaces.Product([...])`."
        )

    def _split(self, z: Tensor) -> tuple[Tensor, ...]:
        space = self.space_of(z)
        assert isinstance(space, spaces.Product)
        return space.split(z)

    def _sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        parts = zip(self.factors, self._split(z), strict=True)
        return torch.cat([factor._sample(part, generator) for factor, part in parts], dim=-1)

    def _log_prob(self, z_pos: Tensor, z: Tensor) -> Tensor:
        parts = zip(self.factors, self._split(z_pos), self._split(z), strict=True)
        return torch.stack([factor._log_prob(part_pos, part) for factor, part_pos, part in parts]).sum(dim=0)

    def _sample_support(self, z: Tensor, m: int, generator: torch.Generator) -> Tensor:
        parts = zip(self.factors, self._split(z), strict=True)
        return torch.cat([factor._sample_support(part, m, generator) for factor, part in parts], dim=-1)
