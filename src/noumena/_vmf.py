"""The von Mises-Fisher law, shared by everything that is drawn on a sphere: density proportional to exp(kappa x.mean).

With t = 1 - x.mean in [0, 2] the law of a draw is exp(-kappa t) (t (2 - t))^((d-3)/2) dt times a uniform direction
orthogonal to the mean. Working with t rather than with the cosine keeps small angles: at kappa = 1e5 the cosine of
a float32 draw would be known to two digits only.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float
from numpy.polynomial import Polynomial
from torch import Tensor

from . import _rng


def sample(mean: Float[Tensor, "n d"], kappa: Float[Tensor, " n"], generator: torch.Generator) -> Float[Tensor, "n d"]:
    """One unit vector for each unit row of `mean`, with a concentration for each row; kappa = 0 is uniform."""
    d = mean.shape[1]
    if d == 1:
        kept = _rng.uniform((len(mean),), generator, mean.dtype) < torch.sigmoid(2 * kappa)
        return torch.where(kept[:, None], mean, -mean)
    t = _versine_on_the_ball(kappa, generator) if d == 3 else _versine(kappa, d, generator)
    t = t[:, None]
    return (1 - t) * mean + (t * (2 - t)).sqrt() * _tangent(mean, generator)


def log_density(
    x: Float[Tensor, "n d"], mean: Float[Tensor, "rows d"], kappa: Float[Tensor, "..."]
) -> Float[Tensor, " n"]:
    """Log density of unit rows with respect to the area of the unit sphere.

    A kappa without axes may be float64 whatever the rows are: the normaliser is then exact, the result theirs.
    """
    versine = (x - mean).square().sum(1) / 2
    return -kappa * versine - log_scaled_normaliser(kappa, x.shape[1])


def _versine_on_the_ball(kappa: Tensor, generator: torch.Generator) -> Tensor:
    """t for d = 3, where its density is exp(-kappa t) alone and its distribution function can be inverted."""
    u = _rng.uniform((len(kappa),), generator, kappa.dtype)
    t = -torch.log1p(u * torch.expm1(-2 * kappa)) / kappa
    return torch.where(kappa > 0, t, 2 * u).clamp(max=2)


def _versine(kappa: Tensor, d: int, generator: torch.Generator) -> Tensor:
    """t for d = 2 and d > 3 by rejection from a transformed Beta law (Ulrich 1984, Wood 1994).

    Their proposal W = (1 - (1 + b) Z) / (1 - (1 - b) Z), Z = g / (g + h) with g, h Gamma draws, gives
    t = 1 - W = 2 b g / (b g + h) without any subtraction. About two thirds of the proposals are accepted at worst.
    """
    m = d - 1
    t, todo = torch.empty_like(kappa), torch.arange(len(kappa), device=kappa.device)
    while len(todo):
        k = kappa[todo]
        b = m / (torch.hypot(2 * k, torch.full_like(k, m)) + 2 * k)
        mode, pull = 2 * b / (1 + b), (1 - b) / (1 + b)
        g, h = _rng.gamma(k.new_full((2, len(k)), m / 2), generator)
        draw = 2 * b * g / (b * g + h)
        log_ratio = m * torch.log1p(pull * (draw - mode) / (mode * (1 + pull))) - k * (draw - mode)
        accepted = _rng.uniform((len(k),), generator, k.dtype).log() <= log_ratio
        t[todo[accepted]] = draw[accepted]
        todo = todo[~accepted]
    return t


def _tangent(mean: Tensor, generator: torch.Generator) -> Tensor:
    """A uniform unit vector orthogonal to each row.

    A uniform direction of the last d - 1 axes, taken by the reflection that sends the first axis to -+mean. It is
    orthogonal up to rounding wherever the mean points; subtracting a projection from a Gaussian is not, in low d.
    """
    n, d = mean.shape
    if d == 2:  # a single normal draw can be exactly zero, and has then no sign
        side = 2 * (_rng.uniform((n, 1), generator, mean.dtype) < 0.5).to(mean.dtype) - 1
    else:
        side = _rng.normal((n, d - 1), generator, mean.dtype)
        side /= side.norm(dim=1, keepdim=True)
    first, rest = mean[:, :1], mean[:, 1:]
    along = (rest * side).sum(1, keepdim=True)
    sign = torch.where(first < 0, -1.0, 1.0).to(mean.dtype)
    return torch.cat([-sign * along, side - rest * (along / (1 + first.abs()))], dim=1)


# ------------------------------------------------------------------------------------------------ the normaliser
#
# G_v(kappa) = Gamma(v + 1) (2 / kappa)^v I_v(kappa), v = d/2 - 1, is the normaliser over the sphere's area. With
# q_v = I_{v+1}(kappa) / (kappa I_v(kappa)) the recurrence of Bessel functions reads, all terms positive,
#     q_v = 1 / (2 (v + 1) + kappa^2 q_{v+1}),     G_v = G_{v+1} (1 + kappa^2 q_{v+1} / (2 (v + 1))),
# so both are carried down without loss from an order at which the uniform (Debye) expansion is exact to rounding.

_HIGH_ORDER = 24.0
_TERMS = 12


class _Bessel(NamedTuple):
    """log G_v - kappa, and q_v."""

    log_scaled: Tensor
    quotient: Tensor


def log_normaliser(kappa: Float[Tensor, "..."], d: int) -> Float[Tensor, "..."]:
    """Log of the integral of exp(kappa x.mean) over the unit sphere of R^d, for any kappa from 0."""
    return log_scaled_normaliser(kappa, d) + kappa


def log_scaled_normaliser(kappa: Float[Tensor, "..."], d: int) -> Float[Tensor, "..."]:
    """Log of the integral of exp(kappa (x.mean - 1)): what is left of `log_normaliser` when kappa is large."""
    log_area = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
    return _bessel(kappa, d).log_scaled + log_area


def mean_resultant(kappa: Float[Tensor, "..."], d: int) -> Float[Tensor, "..."]:
    """Mean cosine of the angle to the mean, A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa)."""
    return kappa * _bessel(kappa, d).quotient


def _bessel(kappa: Tensor, d: int) -> _Bessel:
    order = d / 2 - 1
    steps = max(0, math.ceil(_HIGH_ORDER - order))
    log_scaled, quotient = _debye(kappa, order + steps)
    for v in (order + j for j in reversed(range(steps))):
        lift = kappa.square() * quotient
        log_scaled = log_scaled + torch.log1p(lift / (2 * (v + 1)))
        quotient = 1 / (2 * (v + 1) + lift)
    return _Bessel(log_scaled, quotient)


def _debye(kappa: Tensor, v: float) -> _Bessel:
    """The uniform expansion for a high order v (DLMF 10.41.3 and 10.41.5), written so that kappa = 0 is exact.

    With s = sqrt(1 + (kappa/v)^2), p = 1/s:  G_v = exp(v (s - 1 - log((1 + s)/2))) s^(-1/2) U(p) / U(1), where
    U(p) = sum_k u_k(p) v^-k, and q_v is its derivative in kappa over kappa.
    """
    s = torch.hypot(kappa / v, torch.ones_like(kappa))
    p = 1 / s
    series, slope = _debye_polynomials(v)
    excess = (kappa / v).square() / (1 + s)  # s - 1
    left = v * (v / (v * s + kappa) - 1)  # v (s - 1) - kappa
    correction = _evaluate(series, p)
    log_scaled = left - v * torch.log1p(excess / 2) - s.log() / 2 + (correction / sum(series)).log()
    quotient = (1 / (1 + s) - p.square() * _evaluate(slope, p) / correction / v) / v
    return _Bessel(log_scaled, quotient)


@lru_cache
def _debye_polynomials(v: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients in p of sum_k u_k v^-k and of sum_k (u_k / 2 + p u_k') v^-k (DLMF 10.41.9)."""
    p, u = Polynomial([0.0, 1.0]), Polynomial([1.0])
    series, slope = Polynomial([0.0]), Polynomial([0.0])
    for k in range(_TERMS):
        series, slope = series + u * v**-k, slope + (u / 2 + p * u.deriv()) * v**-k
        u = p**2 * (1 - p**2) * u.deriv() / 2 + ((1 - 5 * p**2) * u).integ() / 8
    return tuple(map(float, series.coef)), tuple(map(float, slope.coef))


def _evaluate(coefficients: tuple[float, ...], p: Tensor) -> Tensor:
    value = torch.zeros_like(p)
    for c in reversed(coefficients):
        value = value * p + c
    return value
