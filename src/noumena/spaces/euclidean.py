"""All of R^dim."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .. import _checks
from .base import AbstractSpace


@dataclass(frozen=True)
class Euclidean(AbstractSpace):
    """R^dim with Lebesgue measure: unbounded, so it has no uniform law.

    Args:
        dim: Number of coordinates.
    """

    dim: int

    def __post_init__(self) -> None:
        _checks.count("dim", self.dim)

    @property
    def bounded(self) -> bool:
        return False

    @property
    def log_volume(self) -> float:
        return math.inf

    def contains(self, z: Float[Tensor, "n d"]) -> Bool[Tensor, " n"]:
        return torch.isfinite(z).all(dim=-1)

    def project(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        return z

    def sample_uniform(
        self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        raise ValueError(f"a uniform law needs a bounded space, got `{self}`; use `Sphere` or `Box`.")
