"""The uniform marginal."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .. import _checks
from ..spaces import AbstractSpace
from .base import AbstractMarginal


@dataclass(frozen=True)
class Uniform(AbstractMarginal):
    """Latents spread evenly over a bounded space, a product of bounded spaces included.

    The marginal under which the identifiability theorems of Zimmermann et al. (2021) are stated: the density of
    negatives is then constant, and InfoNCE compares the conditional alone.

    Args:
        space: A bounded space.
    """

    space: AbstractSpace

    def __post_init__(self) -> None:
        _checks.kind("space", self.space, AbstractSpace, "Pass a space such as `Sphere(3)`.")
        if not self.space.bounded:
            given = f"{type(self.space).__name__}({self.space.dim})"
            raise ValueError(f"`Uniform` needs a bounded space, got `{given}`; use `Sphere` or `Box`.")

    def _sample(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        return self.space.sample_uniform(n, generator, dtype)

    def _log_prob(self, z: Tensor) -> Tensor:
        log_prob = z.new_full((len(z),), -self.space.log_volume)
        return log_prob.masked_fill(~self.space.contains(z), -math.inf)
