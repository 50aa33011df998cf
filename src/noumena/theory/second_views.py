"""The law of positives by themselves: q(z') = E p(z' | z) over the marginal of z.

Candidates that are second views follow it, so a density ratio against such candidates needs it. It is the marginal
itself where that is uniform on a sphere and the conditional depends on the angle alone, and a product of integrals over
one coordinate where coordinates are independent. Elsewhere it has no form that could be computed for every batch.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from ..conditionals import AbstractConditional, VonMisesFisher
from ..conditionals import GeneralizedNormal as ConditionalNormal
from ..marginals import AbstractMarginal, Uniform
from ..marginals import GeneralizedNormal as MarginalNormal
from ..spaces import AbstractSpace, Box, Euclidean, Sphere

LogDensity = Callable[[Tensor], Tensor]
Law = TypeVar("Law", bound=Uniform | MarginalNormal | ConditionalNormal)

NODES = 40  # of Gauss and Legendre in each smooth piece
KNOTS = 4001  # of a tabulated coordinate
TAIL = 45.0  # a conditional is cut where its log density has fallen by this much


def second_view_law(marginal: AbstractMarginal, conditional: AbstractConditional) -> LogDensity:
    """log q, for rows z' (n, d); ValueError where it is not known."""
    if symmetric(marginal, conditional):
        return marginal.log_prob
    if isinstance(marginal, Uniform | MarginalNormal) and isinstance(conditional, ConditionalNormal):
        if isinstance(marginal.space, Box | Euclidean):
            return _Coordinates(marginal, conditional)
    raise ValueError(
        f"the law of second views is not known for `{type(conditional).__name__}` positives of a "
        f"`{type(marginal).__name__}` marginal on {marginal.space}: a floor needs candidates that are first views or "
        'drawn, such as InBatch(anchors="first", views="own").'
    )


def symmetric(marginal: AbstractMarginal, conditional: AbstractConditional) -> bool:
    """Whether the two views of a pair can be exchanged: a uniform sphere, and positives by their angle alone."""
    uniform = isinstance(marginal, Uniform) and isinstance(marginal.space, Sphere)
    return uniform and isinstance(conditional, VonMisesFisher) and not isinstance(conditional.kappa, Tensor)


class _Coordinates:
    """log q as a sum over coordinates; those with the same laws share one integral, tabulated where it is bounded."""

    def __init__(self, marginal: Uniform | MarginalNormal, conditional: ConditionalNormal) -> None:
        integrals: dict[str, LogDensity] = {}
        self.parts: list[LogDensity] = []
        for j in range(marginal.space.dim):
            one = _Coordinate(_coordinate(marginal, j), _coordinate(conditional, j, marginal.space))
            key = repr((one.marginal, one.conditional))
            if key not in integrals:
                integrals[key] = _tabulated(one) if isinstance(one.marginal.space, Box) else one
            self.parts.append(integrals[key])

    def __call__(self, z: Tensor) -> Tensor:
        return torch.stack([part(x) for part, x in zip(self.parts, z.unbind(1), strict=True)]).sum(0)


@dataclass(frozen=True)
class _Coordinate:
    """log q of one coordinate by quadrature, in the dtype of its argument.

    Pieces end where an integrand has a kink: at z' itself, and at the centre of the marginal.
    """

    marginal: Uniform | MarginalNormal
    conditional: ConditionalNormal

    def __call__(self, x: Tensor) -> Tensor:
        low, high = (float(bound) for bound in _interval(self.marginal.space))
        law = self.conditional
        scale = law.scale if law.std is None else 2**0.5 * law.std  # pyright: ignore[reportOperatorIssue]
        reach = scale * TAIL ** (1 / law.p)  # pyright: ignore[reportOptionalOperand, reportOperatorIssue]
        first, last = (x - reach).clamp(low, high), (x + reach).clamp(low, high)
        centre = 0.0 if isinstance(self.marginal, Uniform) else self.marginal.center[0]  # pyright: ignore
        middle = torch.minimum(torch.maximum(torch.full_like(x, centre), first), last)
        edges = torch.stack([first, torch.minimum(x, middle), torch.maximum(x, middle), last], dim=1)
        width = edges.diff(dim=1)[..., None]
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        points = edges[:, :-1, None] + width * x.new_tensor((nodes + 1) / 2)
        flat, seen = points.reshape(-1, 1), x[:, None, None].expand_as(points).reshape(-1, 1)
        density = self.marginal.log_prob(flat) + law.log_prob(seen, flat)
        log_weight = (width * x.new_tensor(weights / 2)).log()
        return torch.logsumexp((density.view_as(points) + log_weight).flatten(1), dim=1)


def _tabulated(one: _Coordinate) -> LogDensity:
    from scipy.interpolate import CubicSpline  # importing noumena leaves scipy alone

    low, high = _interval(one.marginal.space)
    knots = torch.linspace(low, high, KNOTS, dtype=torch.float64)
    spline = CubicSpline(knots.numpy(), one(knots).numpy())
    return lambda x: torch.as_tensor(spline(x.cpu().double().numpy())).to(x)


def _interval(space: AbstractSpace) -> tuple[float, float]:
    if not isinstance(space, Box):
        return -math.inf, math.inf
    low, high = space.bounds(torch.empty(0, dtype=torch.float64))
    return float(low[0]), float(high[0])


def _coordinate(law: Law, j: int, space: AbstractSpace | None = None) -> Law:
    """A law of one coordinate of a box or of all of R^d, as a law of its own."""
    whole = law.space if space is None else space
    own: AbstractSpace = Euclidean(1)
    if isinstance(whole, Box):
        low, high = whole.bounds(torch.empty(0, dtype=torch.float64))
        own = Box(1, float(low[j]), float(high[j]))
    if isinstance(law, Uniform):
        return replace(law, space=own)
    changes = {name: (value[j],) for name, value in vars(law).items() if isinstance(value, tuple)}
    for width in ("scale", "std"):
        changes |= {width: changes[width][0]} if width in changes else {}
    return replace(law, space=own, **changes)
