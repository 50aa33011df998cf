"""Theorem 4.5 of "The Loss Is Not Enough" in numbers: shrinking what varies beats every isometry in the plain loss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .. import _checks, _vmf
from ..conditionals import AbstractConditional, FixedContent
from ..finding import Curve, Finding
from ..losses import Dot
from ..marginals import AbstractMarginal, Uniform
from ..spaces import Sphere
from .asymptotic import asymptotic_loss
from .base import AbstractComputation
from .collapse import collapse_bound
from .maps import Shrink

_NODES = 200  # of the integral over the share of |z|^2 that stays fixed


def shrink_slope(dim: int, fixed: int, kappa: float, tau: float, *, concentration: str = "exact") -> float:
    """Slope of the plain limit loss along `Shrink(fixed, 1 - epsilon)` at epsilon = 0, where the map is the identity.

    -(2/tau) E[|u|^2 |v|^2 (1 - A(t))], A the mean cosine of a von Mises-Fisher law of d - k coordinates and
    concentration t: kappa |v|^2 for the exact conditional, kappa for the published sampler. It comes from the alignment
    alone; uniformity is stationary at every isometry. Never above 0, and below 0 unless nothing or everything is fixed:
    no isometry is then optimal.

    Args:
        dim, fixed: d and k, of the unit sphere.
        kappa: Concentration of the conditional.
        tau: Temperature of the score.
        concentration: "exact" or "published", as in `FixedContent`.
    """
    _checks.count("dim", dim)
    if _checks.count("fixed", fixed, low=0) > dim:
        raise ValueError(f"`fixed` must be at most `dim`, {dim}; got {fixed}.")
    _checks.at_least("kappa", kappa, 0.0)
    _checks.positive("tau", tau)
    _checks.choice("concentration", concentration, ("exact", "published"))
    free = dim - fixed
    if fixed == 0 or free == 0:
        return 0.0
    # |u| = sin(angle) of a uniform point has the density sin^(k-1) cos^(d-k-1).
    nodes, weights = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(_NODES))
    angle = (nodes + 1) * math.pi / 4
    weight = weights * angle.sin() ** (fixed - 1) * angle.cos() ** (free - 1)
    a, b = angle.sin().square(), angle.cos().square()
    # The published sampler gives a lone coordinate a fair sign.
    t = kappa * b if concentration == "exact" else torch.full_like(b, kappa if free > 1 else 0.0)
    mean = weight @ (a * b * (1 - _vmf.mean_resultant(t, free))) / weight.sum()
    return -2 / tau * float(mean)


@dataclass(frozen=True)
class ShrinkCurve(AbstractComputation):
    """The plain limit loss along `Shrink(k, 1 - epsilon)`: its slope at the identity, its values, and its bounds.

    Args:
        marginal, conditional: Uniform on a unit sphere, and a `FixedContent`: the world.
        tau: Temperature.
        epsilons: Where values are reported, as `loss_at_E` and `alignment_per_epsilon_at_E`, each in (0, 1).
    """

    marginal: AbstractMarginal
    conditional: AbstractConditional
    tau: float
    epsilons: Sequence[float] = (0.001, 0.01, 0.1, 0.3, 0.4, 0.5)

    def __post_init__(self) -> None:
        require_fixed_content(self.marginal, self.conditional)
        for epsilon in _checks.sequence("epsilons", self.epsilons):
            if not 0 < _checks.number("epsilons", epsilon) < 1:
                raise ValueError(f"`epsilons` must lie between 0 and 1, got {epsilon}.")

    @property
    def names(self) -> tuple[str, ...]:
        at = [f"{name}_at_{epsilon:g}" for name in ("loss", "alignment_per_epsilon") for epsilon in self.epsilons]
        return ("slope", "loss_of_isometries", "infimum", *at)

    def __call__(self, generator: torch.Generator) -> Finding:
        law = self.conditional
        assert isinstance(law, FixedContent)
        score, seed = Dot(self.tau), generator.initial_seed()

        def at(epsilon: float):
            # Equal draws for all maps, where there are any: differences of losses are then as sure as losses.
            draws = torch.Generator().manual_seed(seed)
            return asymptotic_loss(Shrink(law.fixed, 1 - epsilon), self, score, generator=draws)

        identity = at(0.0)
        dim = self.marginal.space.dim
        values = {
            "slope": shrink_slope(dim, law.fixed, law.kappa, self.tau, concentration=law.concentration),
            "loss_of_isometries": identity.total,
            "infimum": collapse_bound(dim, self.tau),
        }
        for epsilon in self.epsilons:
            found = at(epsilon)
            values[f"loss_at_{epsilon:g}"] = found.total
            values[f"alignment_per_epsilon_at_{epsilon:g}"] = (found.alignment - identity.alignment) / epsilon
        grid = [i / 20 for i in range(20)]
        losses = [at(epsilon).total for epsilon in grid]
        isometries = [identity.total] * len(grid)
        labels = ("epsilon: what varies is shrunk by 1 - epsilon", "plain loss less log M")
        return Finding(values, {"shrink": Curve(grid, losses, *labels), "isometries": Curve(grid, isometries, *labels)})


def require_fixed_content(marginal: AbstractMarginal, conditional: AbstractConditional) -> None:
    """Refuse worlds that explicit maps of u and v do not speak of."""
    _checks.kind("conditional", conditional, FixedContent, "Maps of u and v need positives that keep u.")
    space = _checks.kind("marginal", marginal, Uniform, "The maps are stated for uniform latents.").space
    if space != Sphere(space.dim):
        raise ValueError(f"`marginal` must live on a unit sphere such as Sphere(3), got {space}.")
