"""The generalized normal law restricted to an interval: exact draws and log masses wherever the interval lies."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from . import _rng


def log_half_mass(p: float) -> float:
    """Log of the integral of exp(-x^p) over x > 0."""
    return math.lgamma(1 + 1 / p)


class Interval(NamedTuple):
    """An interval seen from its point nearest to the centre of the law, in units of the scale.

    Far from the centre a draw differs from that point by less than the rounding of the distance to the centre, so
    callers add offsets to the bound itself, and densities are taken relative to the one there.

    Attributes:
        edge: Distance of the nearest point from the centre; 0 where the interval contains the centre.
        left, right: How far the interval reaches below and above the nearest point; one is 0 where the edge is not.
    """

    edge: Tensor
    left: Tensor
    right: Tensor

    @classmethod
    def seen_from(cls, center: Tensor, scale: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, "Interval"]:
        """The point of [low, high] nearest to `center`, and the interval seen from there in units of `scale`."""
        nearest = torch.minimum(torch.maximum(center, low), high)
        return nearest, cls((nearest - center).abs() / scale, (nearest - low) / scale, (high - nearest) / scale)

    def sample(self, p: float, generator: torch.Generator) -> Tensor:
        """Exact draws of x - nearest, elementwise, for the standard law of x restricted to the interval.

        Rejection under an envelope in two pieces on each side: flat as far as the potential |x|^p is sure to stay
        above its value at the edge, then the exponential tangent to the density where it has fallen to 1/e. The
        potential is convex, so at least 1 - 1/e = 63% of proposals are accepted for any p, edge and length: a draw
        that needs 50 rounds is one in 10^21. For p = 1 the envelope is the density itself.
        """
        # In float64 throughout, so that the grid of uniform numbers shows neither near 0 nor in the tails.
        edge, left, right = (t.double() for t in torch.broadcast_tensors(*self))
        shape, dtype = edge.shape, self.edge.dtype
        edge, left, right = (t.reshape(-1) for t in (edge, left, right))
        if not bool((edge > 0).any()):
            edge = edge.new_zeros(())  # the usual case, all centres inside: one envelope serves all intervals
        flat, decay = _envelope(edge, p)
        below, above = _envelope_mass(left, flat, decay), _envelope_mass(right, flat, decay)
        columns = (edge, left, right, flat, decay, below, above)
        offset, pending = torch.empty_like(left), None  # the first round takes all rows and needs no indexing
        while pending is None or pending.numel():
            rows = columns if pending is None else tuple(t[pending] if t.ndim else t for t in columns)
            value, accepted = _propose(*rows, p, generator)
            if pending is None:
                offset, pending = value, (~accepted).nonzero().squeeze(1)
            else:
                offset[pending] = value
                pending = pending[~accepted]
        return offset.reshape(shape).to(dtype)

    def log_integral(self, p: float) -> Tensor:
        """Log of the integral of exp(edge^p - |x|^p) over the interval: its mass relative to the density at the edge.

        Computed in float64 whatever the input, since it rests on differences of probabilities.
        """
        edge, left, right = (t.double() for t in torch.broadcast_tensors(*self))
        both = (_probability(left, p) + _probability(right, p)).log() + log_half_mass(p)
        if bool((edge > 0).any()):
            both = torch.where(edge > 0, _log_one_sided(edge, left + right, p), both)
        return both.to(self.edge.dtype)

    def log_prob(self, offset: Tensor, p: float) -> Tensor:
        """Log density of x - nearest for the standard law restricted to the interval; its support is not checked."""
        return -_rise(self.edge, offset.abs(), p) - self.log_integral(p)


def _propose(
    edge: Tensor,
    left: Tensor,
    right: Tensor,
    flat: Tensor,
    decay: Tensor,
    below: Tensor,
    above: Tensor,
    p: float,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """One draw from each envelope, and whether it is accepted."""
    signed = torch.addcmul(-below, _rng.uniform(tuple(left.shape), generator, torch.float64), below + above)
    along = signed.abs()
    beyond = -torch.log1p(-((along - flat).clamp_(min=0) / decay).clamp_(max=1 - 1e-16))
    draw = torch.minimum(along, flat) + decay * beyond
    draw = torch.minimum(draw, torch.where(signed < 0, left, right))  # rounding may pass the end
    value = torch.copysign(draw, signed)
    if p == 1:
        return value, torch.ones_like(value, dtype=torch.bool)
    spare = -_rng.uniform(tuple(left.shape), generator, torch.float64).log_()
    # Written so that a NaN counts as accepted and cannot keep the loop going.
    return value, ~(spare < _rise(edge, draw, p) - beyond)


def _rise(edge: Tensor, offset: Tensor, p: float) -> Tensor:
    """(edge + offset)^p - edge^p for offset >= 0, without cancellation far from the centre."""
    if p == 1:
        return offset
    if not bool((edge > 0).any()):
        return offset**p
    if p == 2:
        return offset * (2 * edge + offset)
    power, growth = _power(edge, p), p * torch.log1p(offset / edge)
    return torch.where(growth < 1, power * torch.expm1(growth), (edge + offset) ** p - power)


def _power(edge: Tensor, p: float) -> Tensor:
    """edge^p, kept finite: where it would overflow, a draw equals the edge to rounding whatever it is."""
    return (edge**p).clamp(max=1e-6 * torch.finfo(edge.dtype).max)


def _envelope(edge: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """Length of the flat piece and decay length of the tail, seen from the edge.

    The density has fallen to 1/e where x^p = edge^p + 1; the tangent there decays by 1/(p x^(p-1)) and meets the
    flat piece one decay length before.
    """
    power = _power(edge, p)
    near = torch.exp(torch.log1p(power) / p) - edge
    far = edge * torch.expm1(torch.log1p(1 / power) / p)
    fallen = torch.where(power > 1, far, near)
    decay = (edge + fallen) / (p * (power + 1))
    return (fallen - decay).clamp(min=0), decay


def _envelope_mass(length: Tensor, flat: Tensor, decay: Tensor) -> Tensor:
    return torch.minimum(length, flat) - decay * torch.expm1(-(length - flat).clamp(min=0) / decay)


def _probability(x: Tensor, p: float) -> Tensor:
    """Twice the standard probability of [0, x], x >= 0."""
    if p == 1:
        return -torch.expm1(-x)
    if p == 2:
        return torch.erf(x)
    power = x**p
    # For large p the power underflows long before x does: there, the first terms of the integrated series.
    near = x * (1 - power / (p + 1) + power.square() / (4 * p + 2)) / math.gamma(1 + 1 / p)
    return torch.where(power < 1e-6, near, torch.special.gammainc(torch.full_like(x, 1 / p), power))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def _log_one_sided(edge: Tensor, length: Tensor, p: float) -> Tensor:
    """Log of the integral of exp(edge^p - x^p) over [edge, edge + length]; entries without an edge are meaningless."""
    if p == 1:
        return (-torch.expm1(-length)).log()
    rise = _rise(edge, length, p)

    # The potential rises by 1 or more: what lies beyond the interval is at most 1/e of what lies beyond its edge.
    tail, rest = _log_scaled_tail(edge, p), _log_scaled_tail(edge + length, p)
    wide = tail + torch.log(-torch.expm1(rest - tail - rise))

    # Hardly any rise: the density is smooth on the interval and Gauss-Legendre quadrature exact to rounding.
    nodes, weights = (length.new_tensor(array) for array in ((_NODES + 1) / 2, _WEIGHTS / 2))
    steps = length[..., None] * nodes
    narrow = (torch.exp(-_rise(edge[..., None].expand_as(steps), steps, p)) * weights).sum(-1).log() + length.log()

    # Little rise over a long way from the edge, which happens near the centre only: no cancellation to fear.
    inner = (_probability(edge + length, p) - _probability(edge, p)).log() + log_half_mass(p) + _power(edge, p)

    smooth = p * torch.log1p(length / edge) < 1
    return torch.where(rise >= 1, wide, torch.where(smooth, narrow, inner))


def _log_scaled_tail(x: Tensor, p: float) -> Tensor:
    """Log of the integral of exp(x^p - t^p) over t > x: Gamma(1/p, x^p) exp(x^p) / p."""
    power, cut = _power(x, p), 500.0
    near = power.clamp(max=cut)
    below = torch.log1p(-_probability(torch.where(power < 1e-6, x, 0.0), p))
    above = torch.special.gammaincc(torch.full_like(near, 1 / p), near).log()
    exact = torch.where(power < 1e-6, below, above) + near + log_half_mass(p)
    # The asymptotic series (DLMF 8.11.2); beyond the cut its ninth term is below 1e-17.
    series = torch.ones_like(power)
    for k in reversed(range(1, 10)):
        series = 1 + (1 / p - k) / power * series
    return torch.where(power < cut, exact, (1 / p - 1) * power.log() + series.log() - math.log(p))
