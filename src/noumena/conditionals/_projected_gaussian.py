"""Exact draws from exp(-(x - z)^T L (x - z)) on the unit sphere, L diagonal, by projecting a Gaussian.

On the sphere c (|x|^2 - 1) vanishes for any c, so the target also is f(x) = exp(-x^T A x + 2 x^T L z), A = L + c.
Read off the sphere, f is the Gaussian with precision 2 A and mean A^-1 L z; c is chosen for each anchor so that this
Gaussian has a mean square norm of 1. A draw y is projected to x = y / |y|. The ratio of target to proposal at x is

    R(x) = 1 / integral of r^(d-1) f(r x) / f(x) dr,

which is the density at r = 1 of the norm of y, given its direction x. It depends on x through a = x^T A x and
s = x^T L (x - z) + c alone, and log R is concave in them, being minus the log-partition function of an exponential
family. For fixed a it is largest where the norm has mean 1, and that maximum grows with a, by the variance of
the norm; so R is bounded by its maximum over s at the largest a, and accepting with R over that bound is exact.
The share of accepted draws is the density at 1 of |y| over the bound: about one in seven for precisions 1000 and 0.1.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .. import _rng
from ._rejection import first_accepted

_NODES = 40
_BLOCK = 2**20  # numbers held at once, by a block of anchors
_REACH = 8.0  # standard deviations about the mode of a log-concave law; beyond them lies exp(-32) of it


def sample(z: Tensor, precision: Tensor, generator: torch.Generator) -> Tensor:
    """One draw for each unit row of `z`; `precision` is the diagonal of L."""
    rows = max(1, _BLOCK // max(z.shape[1], _NODES))
    return torch.cat([_sample_block(block, precision, generator) for block in z.split(rows)])


def _sample_block(z: Tensor, precision: Tensor, generator: torch.Generator) -> Tensor:
    d = z.shape[1]
    gap, smallest = precision - precision.min(), precision.min()
    lowest = _lowest_tilted_precision(precision * z, gap)
    bound = _log_ratio_bound(float(gap.max() + lowest.max()), d)

    def propose(row: Tensor) -> tuple[Tensor, Tensor]:
        anchor, tilted = z[row], gap + lowest[row]
        y = precision * anchor / tilted + _rng.normal((len(row), d), generator, z.dtype) / (2 * tilted).sqrt()
        x = y / y.norm(dim=1, keepdim=True)
        a = (tilted * x.square()).sum(1)
        s = (precision * x * (x - anchor)).sum(1) + lowest[row, 0] - smallest
        log_uniform = _rng.uniform((len(row),), generator, z.dtype).log()
        return x, log_uniform <= -_log_radial_mass(a, s, d) - bound

    return first_accepted(z, propose)[0]


def _lowest_tilted_precision(pull: Tensor, gap: Tensor) -> Tensor:
    """The smallest entry of A for each anchor, (n, 1), such that E|y|^2 = 1; `pull` is L z, `gap` is L - min L.

    F = E|y|^2 falls with it, and F^(-1/2) is concave, so that Newton's steps approach F^(-1/2) = 1 from below and
    never pass it. At 1/2 the coordinate of the smallest precision alone has F >= 1. The draws are exact wherever
    this stops.
    """
    lowest = torch.full_like(pull[:, :1], 0.5)
    for _ in range(8):
        a = gap + lowest
        square = pull.square() / a.square()
        mean_square = (square + 0.5 / a).sum(1, keepdim=True)
        slope = ((2 * square + 0.5 / a) / a).sum(1, keepdim=True)
        lowest = lowest + 2 * mean_square * (mean_square.sqrt() - 1) / slope
    return lowest


def _log_ratio_bound(a: float, d: int) -> float:
    """The maximum of log R over s, where the mean of r - 1 is zero: Newton's method on a convex function."""
    largest, s = (torch.tensor(x, dtype=torch.float64, device="cpu") for x in (a, (d - 1) / 2))
    for _ in range(20):
        law = _radial_law(largest, s, d)
        weight = law.mass / law.mass.sum()
        mean = (weight * law.step).sum()
        s = s + mean / (2 * (weight * (law.step - mean).square()).sum())
    return -float(_log_radial_mass(largest, s, d))


def _log_radial_mass(a: Tensor, s: Tensor, d: int) -> Tensor:
    """-log R: log of the integral over r of r^(d-1) f(r x) / f(x)."""
    law = _radial_law(a, s, d)
    return law.top + law.mass.sum(0).log()


class _RadialLaw(NamedTuple):
    """Nodes r - 1 along a first axis, the integral's share at each over exp(top), and top."""

    step: Tensor
    mass: Tensor
    top: Tensor


def _radial_law(a: Tensor, s: Tensor, d: int) -> _RadialLaw:
    """Gauss-Legendre quadrature of exp((d-1) log(r) - a (r-1)^2 - 2 s (r-1)); about r = 1 nothing cancels.

    To the left of its mode the integrand is narrower than a Gaussian of its width there. To the right it is narrower
    than the Gaussian of precision 2 a, and than r^(d-1) makes it, by log(1 + u) - u <= -3 u^2 / (6 + 4 u).
    """
    b = a - s
    root = (b.square() + 2 * a * (d - 1)).sqrt()
    mode = torch.where(b > 0, (b + root) / (2 * a), (d - 1) / (root - b))
    width = (2 * a + (d - 1) / mode.square().clamp(min=torch.finfo(a.dtype).tiny)).rsqrt()
    low = (mode - 1 - _REACH * width).clamp(min=-1)
    right = _REACH / (2 * a).sqrt()
    if d > 1:
        fall = _REACH**2 / 2
        right = torch.minimum(right, mode * (2 * fall + math.sqrt(4 * fall**2 + 18 * (d - 1) * fall)) / (3 * (d - 1)))
    half = (mode - 1 + right - low) / 2

    def log_density(step: Tensor) -> Tensor:
        quadratic = -step * (a * step + 2 * s)
        return quadratic + (d - 1) * torch.log1p(step) if d > 1 else quadratic

    nodes, weights = (a.new_tensor(column).reshape((_NODES,) + (1,) * a.ndim) for column in _gauss_legendre())
    step, top = low + half * (1 + nodes), log_density(mode - 1)
    return _RadialLaw(step, half * weights * (log_density(step) - top).exp(), top)


@lru_cache
def _gauss_legendre() -> tuple[tuple[float, ...], tuple[float, ...]]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return tuple(map(float, nodes)), tuple(map(float, weights))
