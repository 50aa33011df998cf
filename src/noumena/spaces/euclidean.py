"""All of R^dim."""

import math
from dataclasses import dataclass

import torch
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

    def _contains(self, z: Tensor) -> Tensor:
        return torch.isfinite(z).all(dim=-1)

    def _project(self, z: Tensor) -> Tensor:
        return z
