"""What the losses say of an explicit map, beside what it does to the latents: Theorem A.5 in numbers."""

from dataclasses import dataclass

import torch

from .. import _checks
from ..conditionals import AbstractConditional
from ..finding import Finding
from ..losses import Dot
from ..marginals import AbstractMarginal
from .asymptotic import asymptotic_loss
from .base import AbstractComputation
from .maps import AbstractMap, Shrink
from .recovery import recovery
from .shrink import require_fixed_content


@dataclass(frozen=True)
class MapLosses(AbstractComputation):
    """Plain and adapted limit loss of a map and of the latents themselves, and the scores of the map.

    Where the losses agree and the scores do not, no training on that loss can find the latents: only what the encoder
    cannot or will not represent decides. On spheres of up to three dimensions.

    Args:
        marginal, conditional: Uniform on a unit sphere, and a `FixedContent`: the world.
        map: One of `theory.maps`.
        tau: Temperature.
    """

    marginal: AbstractMarginal
    conditional: AbstractConditional
    map: AbstractMap
    tau: float

    def __post_init__(self) -> None:
        require_fixed_content(self.marginal, self.conditional)
        _checks.kind("map", self.map, AbstractMap, "Pass a map such as `Fold()`.")

    @property
    def names(self) -> tuple[str, ...]:
        return ("plain", "adapted", "plain_of_latents", "adapted_of_latents", "linear_r2", "angle_error")

    def __call__(self, generator: torch.Generator) -> Finding:
        score, latents = Dot(self.tau), Shrink(self.map.fixed)
        values = {
            f"{name}{of}": asymptotic_loss(map, self, score, share=share).total
            for of, map in (("", self.map), ("_of_latents", latents))
            for name, share in (("plain", 0.0), ("adapted", 1.0))
        }
        return Finding(values | recovery(self.map, self.marginal)._asdict())
