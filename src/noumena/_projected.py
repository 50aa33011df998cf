"""The law on the unit sphere of x / ||x|| where the coordinates of x are independent generalized normals.

This is a projected law, not the restriction of a density to the sphere. Its density in the direction w collects what
the ray through w meets,

    integral over r > 0 of  r^(d-1) prod_j f_j(r w_j - c_j) dr,

which has no closed form for general p. The integrand is log-concave in r, so its mode and the range that matters are
found by bisection; the rest is quadrature in log space, with relative error below 1e-10.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

# Panels end where the integrand has fallen to these powers of e below its maximum; the rest is left out.
_DROPS = (45.0, 12.0, 2.0, 0.1, 0.001)
_ENTRIES = 2_000_000  # of one chunk of the quadrature grid

# Gauss-Legendre on (0, 1) after u -> u^3 (10 - 15 u + 6 u^2), which crowds nodes to both ends of a panel: |x|^p is
# not smooth where x = 0, and panels end there.
_U, _W = np.polynomial.legendre.leggauss(24)
_U = (_U + 1) / 2
_NODES, _WEIGHTS = _U**3 * (10 - 15 * _U + 6 * _U**2), 15 * _W * _U**2 * (1 - _U) ** 2


def log_prob(
    direction: Float[Tensor, "n d"], center: Float[Tensor, "n d"], scale: Float[Tensor, " d"], p: float
) -> Float[Tensor, " n"]:
    """Log density of unit rows `direction` with respect to surface measure, one centre for each."""
    d = direction.shape[1]
    # In float64 whatever the input: at small scales the exponents are differences of large numbers.
    slope, shift = direction.double() / scale.double(), center.double() / scale.double()
    log_coordinate = math.log(2) + math.lgamma(1 + 1 / p)
    rows = max(1, _ENTRIES // (len(_NODES) * (d + 8) * d))
    parts = zip(slope.split(rows), shift.split(rows), strict=True)
    radial = torch.cat([_log_radial_integral(a, b, p) for a, b in parts])
    return (radial - d * log_coordinate - scale.double().log().sum()).to(direction.dtype)


def _log_radial_integral(slope: Tensor, shift: Tensor, p: float) -> Tensor:
    """Log of the integral of r^(d-1) exp(-sum_j |r slope_j - shift_j|^p), row by row."""
    d = slope.shape[1]

    def height(r: Tensor) -> Tensor:  # (n, m) radii -> log integrand
        distance = (r[..., None] * slope[:, None] - shift[:, None]).abs()
        return torch.xlogy(d - 1, r) - (distance**p).sum(-1)

    def rising(r: Tensor) -> Tensor:
        x = r[..., None] * slope[:, None] - shift[:, None]
        push = (x.abs() ** (p - 1) * x.sign() * slope[:, None]).sum(-1)
        return (d - 1) > r * p * push

    # Beyond `far` the potential exceeds its value at 0 by d, so by convexity the integrand falls.
    at_origin = (shift.abs() ** p).sum(1, keepdim=True)
    steepest = slope.abs().amax(1, keepdim=True)
    far = (shift.abs().amax(1, keepdim=True) + (at_origin + d) ** (1 / p)) / steepest
    mode = _bisect(rising, torch.zeros_like(far), far)
    mode = torch.where(mode > 0, mode, far * 2.0**-60)
    top = height(mode)
    levels = top - top.new_tensor(_DROPS)
    while bool((height(far) > levels[:, :1]).any()):
        far = 2 * far
    rise = _bisect(lambda r: height(r) < levels, torch.zeros_like(levels), mode.expand_as(levels))
    fall = _bisect(lambda r: height(r) > levels, mode.expand_as(levels), far.expand_as(levels))
    start, stop = rise[:, :1], fall[:, :1]

    ends = [rise, mode, fall]
    if p % 2 != 0:  # an even power is smooth everywhere; the others bend where a coordinate passes its centre
        kinks = torch.where(slope == 0, start, shift / slope)
        ends.append(torch.minimum(torch.maximum(kinks, start), stop))
    ends = torch.cat(ends, dim=1).sort(dim=1).values
    width = ends.diff(dim=1)[..., None]
    radii = (ends[:, :-1, None] + width * slope.new_tensor(_NODES)).flatten(1)
    weights = (width * slope.new_tensor(_WEIGHTS)).flatten(1)
    return torch.log((weights * (height(radii) - top).exp()).sum(1)) + top.squeeze(1)


def _bisect(below: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> Tensor:
    """Where a predicate turns from true to false between `low` and `high`."""
    for _ in range(60):
        middle = (low + high) / 2
        under = below(middle)
        low, high = torch.where(under, middle, low), torch.where(under, high, middle)
    return low
