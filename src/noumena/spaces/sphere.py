"""The sphere of a given radius about the origin."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .. import _checks, _rng
from .base import AbstractSpace


@dataclass(frozen=True)
class Sphere(AbstractSpace):
    """Points of R^dim at distance `radius` from the origin, with surface measure.

    `Sphere(10)` has ten coordinates and is nine-dimensional; `Sphere(1)` is the two points -radius and +radius.

    Args:
        dim: Number of coordinates.
        radius: Distance from the origin, positive.
    """

    dim: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        _checks.count("dim", self.dim)
        _checks.positive("radius", self.radius)

    @property
    def bounded(self) -> bool:
        return True

    @property
    def log_volume(self) -> float:
        half = self.dim / 2
        return math.log(2) + half * math.log(math.pi) - math.lgamma(half) + (self.dim - 1) * math.log(self.radius)

    def _contains(self, z: Tensor) -> Tensor:
        # A norm of d squares rounds by at most about sqrt(d) units; 64 leaves room for what came before.
        slack = 64 * self.dim**0.5 * torch.finfo(z.dtype).eps * self.radius
        return (z.norm(dim=-1) - self.radius).abs() <= slack

    def _project(self, z: Tensor) -> Tensor:
        norm = z.norm(dim=-1, keepdim=True)
        if bool((norm == 0).any()):
            raise ValueError("`z` must not contain the origin: it has no nearest point on a sphere. Drop those rows.")
        return z * (self.radius / norm)

    def _sample_uniform(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        return self._project(_rng.normal((n, self.dim), generator, dtype))
