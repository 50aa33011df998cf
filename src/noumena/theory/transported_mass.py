"""How far a marginal is from uniform: the mass that must move to make it so."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from .. import _checks, _vmf
from ..marginals import AbstractMarginal, GeneralizedNormal, Uniform, VonMisesFisher
from ..spaces import Box, Sphere

NODES = 512  # of the quadrature over the angle
CELLS = 2**15  # of a coordinate's interval, and of the log density ratio
DEEP = 40.0  # ratios below e^-40 count as none
DRAWS, BATCH = 2**19, 2**15  # of the Monte Carlo


def transported_mass(marginal: AbstractMarginal, *, generator: torch.Generator | None = None) -> float:
    """The total variation distance of a marginal from the uniform law of its space, (1/2) ∫ |p - p_uniform| dz.

    Between 0, uniform, and 1. The theorems of Zimmermann et al. (2021) assume a uniform marginal, and their Figure 2
    measures by this how badly the assumption fails. With the ratio r = p / p_uniform it is the mean of max(0, 1 - r)
    over the uniform law, so that the law of r is all there is to know:

    - von Mises-Fisher on a sphere: r depends on the angle to the mean alone, and quadrature gives ten digits;
    - generalized normal in a box: log r is a sum over independent coordinates, whose laws are convolved on a grid
      (to 1e-5);
    - else Monte Carlo over half a million uniform draws, with a standard error of at most .0007.

    Args:
        marginal: On a bounded space, with a normalised density.
        generator: Draws the Monte Carlo; must be given where the others do not reach.
    """
    space = _checks.kind("marginal", marginal, AbstractMarginal, "Pass one such as `Uniform(Sphere(3))`.").space
    if not space.bounded or not marginal.normalised:
        raise ValueError(
            f"`marginal` must have a normalised density on a bounded space, which has a uniform law; got {marginal}."
        )
    if isinstance(marginal, Uniform):
        return 0.0
    if isinstance(marginal, VonMisesFisher) and space.dim > 1:
        return _about_a_mean(marginal.kappa, space.dim)
    if isinstance(marginal, GeneralizedNormal) and isinstance(space, Box):
        return _in_a_box(_coordinates(marginal, space))
    if generator is None:
        raise ValueError(
            f"`generator` must be given for {marginal}, whose mass is measured by Monte Carlo. "
            "Pass torch.Generator().manual_seed(0)."
        )
    return _monte_carlo(marginal, _checks.generator(generator))


def _about_a_mean(kappa: float, dim: int) -> float:
    """The integral of max(0, 1 - r) over the angle to the mean: from where r has fallen to 1 to the opposite pole."""
    if kappa == 0:
        return 0.0
    # r = exp(-2 kappa sin²(angle / 2) + peak): half angles keep what cosines near 1 lose.
    scaled = _vmf.log_scaled_normaliser(torch.tensor(kappa, dtype=torch.float64), dim)
    peak = Sphere(dim).log_volume - float(scaled)
    first = 2 * math.asin(min(1.0, math.sqrt(peak / (2 * kappa))))
    nodes, weights = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(NODES))
    angle = first + (math.pi - first) * (nodes + 1) / 2
    lacking = -torch.expm1(peak - 2 * kappa * (angle / 2).sin().square())
    ring = angle.sin() ** (dim - 2) * math.exp(Sphere(dim - 1).log_volume - Sphere(dim).log_volume)
    return float(weights @ (ring * lacking)) * (math.pi - first) / 2


def _coordinates(marginal: GeneralizedNormal, space: Box) -> list[GeneralizedNormal]:
    """The law of each coordinate; in a box they are independent."""

    def entry(value: float | Sequence[float] | None, j: int) -> float | None:
        return value[j] if isinstance(value, Sequence) else value

    assert marginal.center is not None
    return [
        GeneralizedNormal(
            Box(1, entry(space.low, j), entry(space.high, j)),  # pyright: ignore[reportArgumentType]
            marginal.p,
            scale=entry(marginal.scale, j),
            std=entry(marginal.std, j),
            center=[marginal.center[j]],
        )
        for j in range(space.dim)
    ]


def _in_a_box(coordinates: Sequence[GeneralizedNormal]) -> float:
    """The same mean, from the law of log r under the uniform law: masses on a grid, counted down from the peak."""
    log_ratios = [_log_ratio(one) for one in coordinates]
    peak = sum(float(one.max()) for one in log_ratios)
    lowest = sum(float(one.min()) for one in log_ratios)
    width = (peak - max(lowest, -DEEP)) / (CELLS - 1)
    masses = torch.zeros(CELLS, dtype=torch.float64)
    masses[0] = 1.0
    for one in log_ratios:
        # Twice as many cells as are kept, so that what leaves the grid does not come back at the other end.
        both = torch.fft.rfft(masses, n=2 * CELLS) * torch.fft.rfft(_masses(one, width), n=2 * CELLS)
        masses = torch.fft.irfft(both)[:CELLS]
    lacking = (-torch.expm1(peak - width * torch.arange(CELLS, dtype=torch.float64))).clamp(min=0)
    return float(masses @ lacking + 1 - masses.sum())  # what has left the grid lacks everything


def _log_ratio(coordinate: GeneralizedNormal) -> Tensor:
    """log r of one coordinate in equally many equal parts of its interval."""
    low, high = coordinate.space.bounds(torch.empty(0, dtype=torch.float64))  # pyright: ignore
    z = low + (high - low) * (torch.arange(CELLS, dtype=torch.float64)[:, None] + 0.5) / CELLS
    return coordinate.log_prob(z) + coordinate.space.log_volume


def _masses(log_ratio: Tensor, width: float) -> Tensor:
    """The law of how far log r lies below its peak, on a grid: each value shared by the two cells about it, so that
    its mean is kept; what lies beyond the grid is left out."""
    depth = (log_ratio.max() - log_ratio) / width
    depth = depth[depth <= CELLS - 2]
    cell = depth.floor().long()
    masses = torch.zeros(CELLS, dtype=torch.float64)
    masses.index_add_(0, cell, 1 - (depth - cell))
    masses.index_add_(0, cell + 1, depth - cell)
    return masses / CELLS


def _monte_carlo(marginal: AbstractMarginal, generator: torch.Generator) -> float:
    total = 0.0
    for _ in range(DRAWS // BATCH):
        z = marginal.space.sample_uniform(BATCH, generator, torch.float64)
        log_ratio = marginal.log_prob(z) + marginal.space.log_volume
        total += float((-torch.expm1(log_ratio)).clamp(min=0).sum())
    return total / DRAWS
