"""The von Mises-Fisher conditional."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .. import _checks, _vmf
from ..spaces import AbstractSpace, Sphere
from ._sphere import require_sphere
from .base import AbstractConditional


@dataclass(frozen=True, eq=False)
class VonMisesFisher(AbstractConditional):
    """Positives gathered about their anchor on a sphere: p(z' | z) proportional to exp(kappa cos(z, z')).

    The law under which the dot product is the right score (Zimmermann et al., 2021): every direction away from the
    anchor varies, and all of them alike. Drawn exactly, for any concentration; without a space the anchors must be
    unit vectors. On a sphere of any radius kappa multiplies the *cosine*, so that radius r with kappa is unit radius
    with kappa, scaled; written with the dot product it is exp((kappa / r^2) z.z'). The density is normalised with
    respect to the surface of that sphere.

    Args:
        kappa: Concentration, at least 0 (uniform): one number, or a tensor (n,) with one for each anchor.
        space: The sphere; the unit sphere of the anchors' dimension if left out.
    """

    kappa: float | Tensor
    space: AbstractSpace | None = None

    def __post_init__(self) -> None:
        if self.space is not None:
            require_sphere(self, self.space)
        if not isinstance(self.kappa, Tensor):
            _checks.at_least("kappa", self.kappa, 0.0)
            return
        _checks.finite("kappa", _checks.floating("kappa", self.kappa))
        if self.kappa.ndim != 1:
            raise ValueError(
                f"`kappa` must be a number or have the shape (n,), one for each anchor; got {tuple(self.kappa.shape)}."
            )
        if bool((self.kappa < 0).any()):
            raise ValueError(f"`kappa` must be at least 0, got {float(self.kappa.min())!r}.")

    def natural_space(self, dim: int) -> Sphere:
        return Sphere(dim)

    def _sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        radius = self._radius(z)
        kappa = self._per_anchor(z) if isinstance(self.kappa, Tensor) else z.new_full((len(z),), self.kappa)
        return radius * _vmf.sample(z / radius, kappa, generator)

    def _log_prob(self, z_pos: Tensor, z: Tensor) -> Tensor:
        radius, dim = self._radius(z), z.shape[1]
        kappa = self._per_anchor(z) if isinstance(self.kappa, Tensor) else torch.tensor(self.kappa, dtype=torch.float64)
        log_prob = _vmf.log_density(z_pos / radius, z / radius, kappa) - (dim - 1) * math.log(radius)
        return log_prob.masked_fill(~self.space_of(z).contains(z_pos), -math.inf)

    def _log_prob_grid(self, z_pos: Tensor, z: Tensor) -> Tensor:
        # At the anchor itself the density is the normaliser alone.
        versine = torch.cdist(z, z_pos, compute_mode="donot_use_mm_for_euclid_dist").square() / (
            2 * self._radius(z) ** 2
        )
        kappa = self._per_anchor(z)[:, None] if isinstance(self.kappa, Tensor) else self.kappa
        return self._log_prob(z, z)[:, None] - kappa * versine

    def _per_anchor(self, z: Tensor) -> Tensor:
        assert isinstance(self.kappa, Tensor)
        _checks.same_kind("kappa", self.kappa, "z", z)
        if len(self.kappa) != len(z):
            raise ValueError(f"`kappa` must have one entry for each of the {len(z)} anchors; got {len(self.kappa)}.")
        return self.kappa

    def _radius(self, z: Tensor) -> float:
        return require_sphere(self, self.space_of(z)).radius
