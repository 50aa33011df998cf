"""The von Mises-Fisher marginal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks, _vmf
from ..spaces import Sphere
from .base import AbstractMarginal


@dataclass(frozen=True, eq=False)
class VonMisesFisher(AbstractMarginal):
    """Latents gathered about one direction of a sphere: density proportional to exp(kappa cos(angle to the mean)).

    The marginal to take when the assumption of uniform latents should fail by a known amount: kappa = 0 is uniform.
    On a sphere of any radius kappa multiplies the cosine, and the density is with respect to that sphere's surface.

    Args:
        space: The sphere.
        kappa: Concentration, at least 0.
        mean: Mean direction, one number for each coordinate; only its direction counts. Default: the first axis.
    """

    space: Sphere  # pyright: ignore[reportIncompatibleVariableOverride]
    kappa: float
    mean: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _checks.kind("space", self.space, Sphere, "This law lives on a sphere only, such as `Sphere(3)`.")
        _checks.at_least("kappa", self.kappa, 0.0)
        if self.mean is None:
            return
        mean = tuple(_checks.number("mean", value) for value in _checks.sequence("mean", self.mean))
        if len(mean) != self.space.dim:
            raise ValueError(f"`mean` must have {self.space.dim} numbers, one for each coordinate; got {len(mean)}.")
        if not any(mean):
            raise ValueError("`mean` must not be zero: it gives a direction. Leave it out for the first axis.")
        object.__setattr__(self, "mean", mean)

    def _sample(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        like = torch.empty(0, dtype=dtype, device=generator.device)
        mean, kappa = self._direction(like).expand(n, -1), like.new_full((n,), self.kappa)
        return self.space.radius * _vmf.sample(mean, kappa, generator)

    def _log_prob(self, z: Tensor) -> Tensor:
        kappa = torch.tensor(self.kappa, dtype=torch.float64)
        log_prob = _vmf.log_density(z / self.space.radius, self._direction(z), kappa)
        log_prob = log_prob - (self.space.dim - 1) * math.log(self.space.radius)
        return log_prob.masked_fill(~self.space.contains(z), -math.inf)

    def _direction(self, like: Tensor) -> Float[Tensor, "1 d"]:
        mean = self.mean or (1.0,) + (0.0,) * (self.space.dim - 1)
        length = math.hypot(*mean)
        return like.new_tensor([[value / length for value in mean]])
