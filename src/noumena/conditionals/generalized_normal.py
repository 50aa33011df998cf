"""The generalized normal conditional."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .. import _checks, _projected
from .. import _generalized_normal as law
from ..spaces import AbstractSpace, Box, Euclidean, Sphere
from .base import AbstractConditional


@dataclass(frozen=True)
class GeneralizedNormal(AbstractConditional):
    """Positives gathered about their anchor: density proportional to exp(-sum_j (|z'_j - z_j| / scale)^p) in R^d.

    p = 1 is the Laplace law, p = 2 the normal law. The conditional that the score `Lp(p, tau)` matches when
    tau = scale^p; for p other than 2 it singles out the axes, up to permutation and sign (Zimmermann et al., 2021).
    The space decides what becomes of the law of R^d:

    - `Euclidean`, its natural space: nothing;
    - `Box`: it is restricted to the box, exactly, by coordinate. The normaliser depends on the anchor alone;
    - `Sphere`: it is drawn in R^d about the anchor and divided by its norm (times the radius). This is the projected
      law of the literature, not the restricted density, which for p = 2 would be `VonMisesFisher`. `log_prob`
      integrates along the ray through each point, to 1e-10, at about 0.1 ms for a pair in ten dimensions.

    Conventions differ on the width of the normal law, so it must be named: `scale=s` has density exp(-(|x|/s)^p)
    for every p, hence a standard deviation of s / sqrt(2) at p = 2; `std` is the standard deviation, at p = 2 only.

    Args:
        p: Exponent, at least 1.
        scale: Positive, one number or one for each coordinate. Give this or `std`.
        std: Standard deviation before restriction or projection, likewise; scale = sqrt(2) std.
        space: A `Euclidean` space, a `Box` or a `Sphere`; for products see `conditionals.Product`.
    """

    p: int | float
    scale: law.Scale | None = None
    std: law.Scale | None = None
    space: AbstractSpace | None = None

    def __post_init__(self) -> None:
        checked = law.require_width(self.p, self.scale, self.std)
        for name, value in zip(("p", "scale", "std"), checked, strict=True):
            object.__setattr__(self, name, value)
        if self.space is None:
            return
        _checks.kind("space", self.space, AbstractSpace, "Pass a space such as `Euclidean(3)`.")
        if not isinstance(self.space, Euclidean | Box | Sphere):
            raise ValueError(
                f"`GeneralizedNormal` needs a `Euclidean` space, a `Box` or a `Sphere`, got `{self.space}`; "
                "for a product of spaces use `conditionals.Product`."
            )
        law.scales(torch.empty(0), self.space.dim, self.scale, self.std)

    def natural_space(self, dim: int) -> Euclidean:
        return Euclidean(dim)

    def _sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        scale = self._scales(z)
        if isinstance(self.space, Box):
            return law.sample_in_box(z, scale, *self.space.bounds(z), self.p, generator)
        draw = z + scale * law.sample(tuple(z.shape), self.p, generator, z.dtype)
        return self.space_of(z).project(draw)

    def _log_prob(self, z_pos: Tensor, z: Tensor) -> Tensor:
        scale, space = self._scales(z), self.space_of(z)
        if isinstance(space, Box):
            log_prob = law.log_prob_in_box(z_pos, z, scale, *space.bounds(z), self.p)
        elif isinstance(space, Sphere):
            direction = z_pos / z_pos.norm(dim=1, keepdim=True)
            log_prob = _projected.log_prob(direction, z, scale, self.p) - (space.dim - 1) * math.log(space.radius)
        else:
            log_prob = (law.log_prob((z_pos - z) / scale, self.p) - scale.log()).sum(dim=1)
        return log_prob.masked_fill(~space.contains(z_pos), -math.inf)

    def _log_prob_grid(self, z_pos: Tensor, z: Tensor) -> Tensor:
        if isinstance(self.space_of(z), Sphere):
            return super()._log_prob_grid(z_pos, z)
        # At the anchor itself the density is the normaliser alone.
        scale = self._scales(z)
        distance = torch.cdist(z / scale, z_pos / scale, p=self.p, compute_mode="donot_use_mm_for_euclid_dist")
        return self._log_prob(z, z)[:, None] - distance**self.p

    def _scales(self, z: Tensor) -> Tensor:
        return law.scales(z, z.shape[1], self.scale, self.std)
