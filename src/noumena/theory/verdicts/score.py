"""What model of log p(z' | z) a score is, on embeddings of a given head."""

from dataclasses import dataclass

import torch

from ...losses import AbstractScore, AnisotropicScore, Dot, Lp
from ...losses.scores import WeightedDot
from ...spaces import Box, Euclidean, Sphere
from .learner import Head
from .world import close


@dataclass(frozen=True)
class Model:
    """A score read as -sum_j rate_j |h_j - h'_j|^p, up to terms that no minimiser depends on.

    Attributes:
        name: What the score is.
        p: Exponent.
        rates: One for each coordinate, at the present size of the head: a sphere's radius is taken into them.
        free: Whether one overall scale can adapt: it is trained, or embeddings may have any length.
        shaped: Whether the ratios of the rates are trained.
        inner: Whether it is an inner product, which sees where the origin lies.
    """

    name: str
    p: float
    rates: tuple[float, ...]
    free: bool
    shaped: bool = False
    inner: bool = False

    @property
    def isotropic(self) -> bool:
        return close(max(self.rates), min(self.rates))

    @property
    def beta(self) -> float:
        """On a sphere: the concentration of the von Mises-Fisher law that the score is."""
        return 2 * sum(self.rates) / len(self.rates)


@torch.no_grad()
def model(score: AbstractScore, head: Head) -> Model | None:
    """The model, or None for a score that is none of this package's."""
    dim, space = head.space.dim, head.space
    squared = space.radius**2 if isinstance(space, Sphere) else 1.0
    sized = head.learnable or isinstance(space, Euclidean)
    match score:
        case Dot():
            rates, trained = (squared / (2 * score.tau),) * dim, score.temperature.log_tau is not None
            return Model("inner product", 2, rates, sized or trained, inner=True)
        case WeightedDot():
            rates = tuple(squared * float(one) / (2 * score.tau) for one in score.importance)
            shaped = score.values.raw is not None
            free = sized or shaped or score.temperature.log_tau is not None
            return Model("weighted inner product", 2, rates, free, shaped, inner=True)
        case Lp(p=p):
            # On a sphere the radius scales every distance.
            rate = (space.radius**p if isinstance(space, Sphere) else 1.0) / score.tau
            return Model(f"L{p:g}", p, (rate,) * dim, sized or score.temperature.log_tau is not None)
        case AnisotropicScore():
            rates = tuple(squared * score.factor * float(one) for one in score.precision)
            shaped = score.values.raw is not None
            return Model("anisotropic squared distance", 2, rates, sized or shaped, shaped)
    return None


def can_contain(space: Sphere | Box | Euclidean, widths: tuple[float, ...]) -> bool:
    """Whether a box or R^d holds a set of these extents, whatever its position."""
    if not isinstance(space, Box):
        return True
    low, high = space.bounds(torch.empty((), dtype=torch.float64))
    given = sorted((high - low).tolist())
    return all(have >= want * (1 - 1e-3) for have, want in zip(given, sorted(widths), strict=True))
