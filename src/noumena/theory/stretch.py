"""The best map of one family under every mixture of the plain and the adapted loss."""

import math
from dataclasses import dataclass

import torch

from .. import _checks
from ..conditionals import AbstractConditional, FixedContent
from ..finding import Curve, Finding
from ..losses import Dot
from ..marginals import AbstractMarginal
from .asymptotic import asymptotic_loss
from .base import AbstractComputation
from .maps import Shrink
from .recovery import recovery
from .shrink import require_fixed_content

LOWEST, HIGHEST = 0.1, 64.0  # stretches looked at: at the last u is gone but for the poles
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class BestStretch(AbstractComputation):
    """The member of `Shrink(k, a)` with the lowest loss, a in [0.1, 64], and what it recovers.

    What an encoder can reach that holds just these maps, such as the linear one of an identity mixing: it answers
    whether the loss that is minimised asks for the latents. On spheres of up to three dimensions.

    Args:
        marginal, conditional: Uniform on a unit sphere, and a `FixedContent`: the world.
        tau: Temperature.
        share: c, the share of negatives from the anchor's own support.
        negatives: M; see `asymptotic_loss`.
        resolution: Of the search's quadrature.
    """

    marginal: AbstractMarginal
    conditional: AbstractConditional
    tau: float
    share: float
    negatives: int
    resolution: int = 14

    def __post_init__(self) -> None:
        require_fixed_content(self.marginal, self.conditional)
        _checks.within("share", self.share, 0.0, 1.0)

    @property
    def names(self) -> tuple[str, ...]:
        return ("stretch", "best_loss", "loss_of_isometries", "linear_r2", "angle_error")

    def __call__(self, generator: torch.Generator) -> Finding:
        grid = [LOWEST * (HIGHEST / LOWEST) ** (i / 40) for i in range(41)]
        losses = [self._loss(a) for a in grid]
        lowest = min(range(len(grid)), key=losses.__getitem__)
        best = self._refined(grid[max(0, lowest - 1)], grid[min(len(grid) - 1, lowest + 1)])
        assert isinstance(self.conditional, FixedContent)
        scores = recovery(Shrink(self.conditional.fixed, best), self.marginal)
        values = {
            "stretch": best,
            "best_loss": self._loss(best),
            "loss_of_isometries": self._loss(1.0),
            "linear_r2": scores.linear_r2,
            "angle_error": scores.angle_error,
        }
        labels = ("log2 of the stretch of what varies", "loss")
        return Finding(values, {"loss": Curve([math.log2(a) for a in grid], losses, *labels)})

    def _loss(self, a: float) -> float:
        assert isinstance(self.conditional, FixedContent)
        found = asymptotic_loss(
            Shrink(self.conditional.fixed, a),
            self,
            Dot(self.tau),
            share=self.share,
            negatives=self.negatives,
            resolution=self.resolution,
        )
        return found.total

    def _refined(self, low: float, high: float) -> float:
        """The minimum between two stretches, by golden section in the logarithm."""
        low, high = math.log(low), math.log(high)
        inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
        values = [self._loss(math.exp(x)) for x in inner]
        while high - low > 1e-4:
            if values[0] <= values[1]:
                high, inner[1], values[1] = inner[1], inner[0], values[0]
                inner[0] = high - _GOLDEN * (high - low)
                values[0] = self._loss(math.exp(inner[0]))
            else:
                low, inner[0], values[0] = inner[0], inner[1], values[1]
                inner[1] = low + _GOLDEN * (high - low)
                values[1] = self._loss(math.exp(inner[1]))
        return math.exp((low + high) / 2)
