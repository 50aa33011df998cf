"""The generalized normal marginal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks, _projected
from .. import _generalized_normal as law
from ..spaces import AbstractSpace, Box, Euclidean, Sphere
from .base import AbstractMarginal


@dataclass(frozen=True)
class GeneralizedNormal(AbstractMarginal):
    """Latents gathered about a centre: density proportional to exp(-sum_j (|z_j - center_j| / scale)^p) in R^d.

    p = 1 is the Laplace law, p = 2 the normal law, p = 3 and above have lighter tails. The marginal of unbounded
    latents, and on a bounded space the one to take when uniformity should fail by a known amount. The space decides
    what becomes of the law of R^d:

    - `Euclidean`: nothing;
    - `Box`: it is restricted to the box, exactly, by coordinate, and normalised there;
    - `Sphere`: it is drawn in R^d and divided by its norm (times the radius). This is the projected law of the
      literature, not the restricted density. `log_prob` integrates along the ray through each point, to 1e-10.

    Conventions differ on the width of the normal law, so it must be named: `scale=s` has density exp(-(|x|/s)^p)
    for every p, hence a standard deviation of s / sqrt(2) at p = 2; `std` is the standard deviation, at p = 2 only.

    Args:
        space: A `Euclidean` space, a `Box` or a `Sphere`; for products see `marginals.Product`.
        p: Exponent, at least 1.
        scale: Positive, one number or one for each coordinate. Give this or `std`.
        std: Standard deviation before restriction or projection, likewise; scale = sqrt(2) std.
        center: A point of R^d, anywhere. Default: the origin, the middle of the box, or the sphere's first axis.
    """

    space: AbstractSpace
    p: int | float
    scale: law.Scale | None = None
    std: law.Scale | None = None
    center: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _checks.kind("space", self.space, AbstractSpace, "Pass a space such as `Euclidean(3)`.")
        if not isinstance(self.space, Euclidean | Box | Sphere):
            raise ValueError(
                f"`GeneralizedNormal` needs a `Euclidean` space, a `Box` or a `Sphere`, got `{self.space}`; "
                "for a product of spaces use `marginals.Product`."
            )
        checked = law.require_width(self.p, self.scale, self.std)
        for name, value in zip(("p", "scale", "std"), checked, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "center", self._checked_center())
        law.scales(torch.empty(0), self.space.dim, self.scale, self.std)

    def _checked_center(self) -> tuple[float, ...]:
        space = self.space
        if self.center is None:
            if isinstance(space, Box):
                low, high = space.bounds(torch.empty(0, dtype=torch.float64))
                return tuple(((low + high) / 2).tolist())
            north = space.radius if isinstance(space, Sphere) else 0.0
            return (north,) + (0.0,) * (space.dim - 1)
        center = tuple(_checks.number("center", value) for value in _checks.sequence("center", self.center))
        if len(center) != space.dim:
            raise ValueError(f"`center` must have {space.dim} numbers, one for each coordinate; got {len(center)}.")
        return center

    def _sample(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        like = torch.empty(0, dtype=dtype, device=generator.device)
        center, scale = self._center_and_scale(like)
        if isinstance(self.space, Box):
            return law.sample_in_box(center.expand(n, -1), scale, *self.space.bounds(like), self.p, generator)
        draw = center + scale * law.sample((n, self.space.dim), self.p, generator, dtype)
        return self.space.project(draw)

    def _log_prob(self, z: Tensor) -> Tensor:
        center, scale = self._center_and_scale(z)
        if isinstance(self.space, Box):
            log_prob = law.log_prob_in_box(z, center, scale, *self.space.bounds(z), self.p)
        elif isinstance(self.space, Sphere):
            direction = z / z.norm(dim=1, keepdim=True)
            log_prob = _projected.log_prob(direction, center.expand_as(z), scale, self.p)
            log_prob = log_prob - (self.space.dim - 1) * math.log(self.space.radius)
        else:
            log_prob = (law.log_prob((z - center) / scale, self.p) - scale.log()).sum(dim=1)
        return log_prob.masked_fill(~self.space.contains(z), -math.inf)

    def _center_and_scale(self, like: Tensor) -> tuple[Float[Tensor, " d"], Float[Tensor, " d"]]:
        return like.new_tensor(self.center), law.scales(like, self.space.dim, self.scale, self.std)
