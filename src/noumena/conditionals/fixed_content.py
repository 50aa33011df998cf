"""The conditional that keeps part of the latent: the diversity condition fails."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from .. import _checks, _rng, _vmf
from ..spaces import AbstractSpace, Sphere
from ._sphere import require_sphere
from .base import AbstractConditional


@dataclass(frozen=True)
class FixedContent(AbstractConditional):
    """Positives that keep the first coordinates u of z = (u, v) bit for bit and redraw v on the sphere of its norm.

    The law to take when some content never varies between views, so that positives do not reach all of the space
    (Zaliaduonis et al., Definition 3.1 fails). The support of z is its fibre, the points (u, v') with ||v'|| = ||v||,
    and the density there is proportional to exp(kappa z.z'), for which the direction of v' is von Mises-Fisher about
    that of v with concentration kappa ||v||^2. On a sphere of radius r kappa multiplies the cosine, as it does in
    `VonMisesFisher`: exp(kappa z.z' / r^2), concentration kappa ||v||^2 / r^2.

    Densities are with respect to the area of the fibre; where a fibre consists of one or two points (all coordinates
    or all but one fixed, or v = 0) they are probabilities. Off the fibre the log density is -inf, up to the rounding
    of the dtype. `sample_support` is uniform on the fibre.

    The published experiments use the concentration kappa whatever ||v|| is, and a fair sign when a single coordinate
    is left; the model that they fit cannot then be matched by the true latents. `concentration="published"` repeats
    that.

    Args:
        kappa: Concentration, at least 0.
        fixed: How many coordinates are kept, from 0 (`VonMisesFisher`) to all (positives are copies).
        space: The sphere; the unit sphere of the anchors' dimension if left out.
        concentration: "exact", the density above, or "published".
    """

    kappa: int | float
    fixed: int
    space: AbstractSpace | None = None
    concentration: Literal["exact", "published"] = "exact"

    def __post_init__(self) -> None:
        _checks.at_least("kappa", self.kappa, 0)
        _checks.count("fixed", self.fixed, low=0)
        _checks.choice("concentration", self.concentration, ("exact", "published"))
        if self.space is not None:
            self._require(require_sphere(self, self.space))

    @property
    def full_support(self) -> bool:
        return self.fixed == 0

    def natural_space(self, dim: int) -> Sphere:
        return self._require(Sphere(dim))

    def _require(self, space: Sphere) -> Sphere:
        if self.fixed > space.dim:
            raise ValueError(f"`fixed` must be at most the {space.dim} coordinates of a point, got {self.fixed}.")
        return space

    def _sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        u, v = z[:, : self.fixed], z[:, self.fixed :]
        if v.shape[1] == 0:
            return z.clone()
        norm, direction = _polar(v)
        drawn = _vmf.sample(direction, self._concentrations(z), generator)
        # A lone coordinate keeps its size to the bit, and changes at most its sign.
        v_pos = v * (drawn * direction) if v.shape[1] == 1 else norm[:, None] * drawn
        return torch.cat([u, v_pos], dim=1)

    def _log_prob(self, z_pos: Tensor, z: Tensor) -> Tensor:
        gap = (z_pos - z)[:, : self.fixed].abs()
        norm, direction = _polar(z[:, self.fixed :])
        norm_pos, direction_pos = _polar(z_pos[:, self.fixed :])
        # The slack of `Sphere.contains`, for the same reason.
        slack = 64 * z.shape[1] ** 0.5 * torch.finfo(z.dtype).eps * self._radius(z)
        on_fibre = (gap <= slack).all(dim=1) & ((norm_pos - norm).abs() <= slack)
        free = z.shape[1] - self.fixed
        log_prob = torch.zeros_like(norm)
        if free > 0:
            log_prob = _vmf.log_density(direction_pos, direction, self._concentrations(z)) - (free - 1) * norm.log()
            log_prob = log_prob.masked_fill(norm == 0, 0.0)
        return log_prob.masked_fill(~on_fibre, -math.inf)

    def _sample_support(self, z: Tensor, m: int, generator: torch.Generator) -> Tensor:
        u, v = (part[:, None].expand(-1, m, -1) for part in z.split([self.fixed, z.shape[1] - self.fixed], dim=1))
        if v.shape[2] == 1:
            kept = _rng.uniform(tuple(v.shape), generator, z.dtype) < 0.5
            v = torch.where(kept, v, -v)
        elif v.shape[2] > 1:
            directions = Sphere(v.shape[2]).sample_uniform(len(z) * m, generator, z.dtype)
            v = v.norm(dim=2, keepdim=True) * directions.view(v.shape)
        return torch.cat([u, v], dim=2)

    def _concentrations(self, z: Tensor) -> Tensor:
        """The concentration of each anchor's fibre."""
        v = z[:, self.fixed :]
        if self.concentration == "exact":
            return self.kappa * (v / self._radius(z)).square().sum(dim=1)
        return z.new_full((len(z),), self.kappa if v.shape[1] > 1 else 0.0)

    def _radius(self, z: Tensor) -> float:
        return require_sphere(self, self.space_of(z)).radius


def _polar(v: Tensor) -> tuple[Tensor, Tensor]:
    """Norms and unit directions of the rows; of a zero row the first axis, since any will do."""
    norm = v.norm(dim=1)
    direction = v / norm[:, None]
    axis = torch.zeros_like(v)
    axis[:, :1] = 1
    return norm, torch.where((norm > 0)[:, None], direction, axis)
