"""The generalized normal law, standard density exp(-|x|^p) / (2 Gamma(1 + 1/p)), shared by marginals and conditionals.

p = 1 is the Laplace law, p = 2 the normal law of variance 1/2, and p -> infinity the uniform law on [-1, 1]. Every
p >= 1 is log-concave, which is what the draws from an interval rely on (`_truncation`).
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from . import _checks, _rng
from ._truncation import Interval, log_half_mass

Scale = int | float | Sequence[float]


def sample(shape: tuple[int, ...], p: float, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Tensor:
    """Independent standard draws."""
    if p == 2:
        return _rng.normal(shape, generator, dtype) * math.sqrt(0.5)
    if p == 1:
        # The difference of two exponential draws. A uniform number stays further from 1 than from 0: no outliers.
        first, second = torch.log1p(-_rng.uniform((2, *shape), generator, dtype))
        return first - second
    # |x|^p is Gamma(1/p), which is Gamma(1 + 1/p) times U^p. Drawn as such, the root of U^p never underflows.
    signed = 2 * _rng.uniform(shape, generator, dtype) - 1
    return signed * _rng.gamma(torch.full_like(signed, 1 + 1 / p), generator) ** (1 / p)


def log_prob(x: Tensor, p: float) -> Tensor:
    """Standard log density, elementwise."""
    return -(x.abs() ** p) - log_half_mass(p) - math.log(2)


def sample_truncated(low: Tensor, high: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Exact standard draws restricted to [low, high], elementwise; the interval may lie anywhere."""
    nearest, interval = Interval.seen_from(torch.zeros_like(low), torch.ones_like(low), low, high)
    return torch.clamp(nearest + interval.sample(p, generator), low, high)


def log_mass(low: Tensor, high: Tensor, p: float) -> Tensor:
    """Log probability of [low, high] under the standard law, elementwise; finite far out in a tail."""
    _, interval = Interval.seen_from(torch.zeros_like(low), torch.ones_like(low), low, high)
    return log_prob(interval.edge, p) + interval.log_integral(p)


def sample_in_box(
    center: Tensor, scale: Tensor, low: Tensor, high: Tensor, p: float, generator: torch.Generator
) -> Tensor:
    """Exact draws about `center` (n, d) restricted to [low, high] (d,), coordinate by coordinate."""
    nearest, interval = Interval.seen_from(center, scale, low, high)
    return torch.clamp(nearest + scale * interval.sample(p, generator), low, high)


def log_prob_in_box(x: Tensor, center: Tensor, scale: Tensor, low: Tensor, high: Tensor, p: float) -> Tensor:
    """Normalised log density of the rows of `x` (n, d) under the law of `sample_in_box`; the support is not checked."""
    nearest, interval = Interval.seen_from(center, scale, low, high)
    return (interval.log_prob((x - nearest) / scale, p) - scale.log()).sum(-1)


def require_width(p: int | float, scale: Scale | None, std: Scale | None) -> tuple[float, Scale | None, Scale | None]:
    """The exponent, and exactly one of scale and standard deviation: checked, with sequences kept as tuples."""
    p = _checks.at_least("p", p, 1)
    if (scale is None) == (std is None):
        given = "neither" if scale is None else "both"
        raise ValueError(f"exactly one of `scale` and `std` must be given, got {given}.")
    if std is not None and p != 2:
        raise ValueError(f"`std` describes the normal law, p = 2, and p is {p:g}; give `scale`.")
    return p, _positives("scale", scale), _positives("std", std)


def _positives(name: str, value: Scale | None) -> Scale | None:
    if isinstance(value, Sequence):
        return tuple(_checks.positive(name, one) for one in value)
    return None if value is None else _checks.positive(name, value)


def scales(like: Tensor, d: int, scale: Scale | None, std: Scale | None) -> Tensor:
    """The scale of each of `d` coordinates, of the dtype and device of `like`; a normal scale is sqrt(2) std."""
    name, value = ("scale", scale) if std is None else ("std", std)
    values = tuple(value) if isinstance(value, Sequence) else (value,) * d
    if len(values) != d:
        raise ValueError(f"`{name}` must be one number or {d}, one for each coordinate; got {len(values)}.")
    return like.new_tensor(values) * (1.0 if std is None else math.sqrt(2))
