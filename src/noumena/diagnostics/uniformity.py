"""Are anchors spread evenly over their space?

On a sphere: Rayleigh's and Bingham's statistics, the spherical harmonics of degrees 1 and 2. In a box: the analogue,
Neyman's smooth test with Legendre polynomials of each coordinate up to degree 2 and products of two coordinates. Both
come from first and second moments, hence from all rows. A Kolmogorov-Smirnov test of projections may see what they
miss.
"""

import numpy as np
import torch
from scipy.special import betainc, chdtrc, chndtr, chndtrinc, kolmogorov
from torch import Tensor

from .. import _rng
from ..finding import Curve
from .reading import CONFIDENCE, Reading
from .sample import Sample

PROJECTIONS = 32
VARIATION, LARGE = 0.1, 0.5  # of the density about its mean: below it does not matter, above it does much
DISTANCE = 0.03  # of distribution functions, likewise
NUMBER = "variation of the density about its mean (root mean square, as first and second moments show it)"


def read(sample: Sample) -> Reading:
    if sample.support.kind == "free":
        return _free(sample)
    mean, second = sample.moments.of_anchors()
    degrees = _sphere(mean, second) if sample.support.kind == "sphere" else _box(mean, second)
    energy, freedom = sum(e for e, _ in degrees), sum(f for _, f in degrees)
    excess = energy - freedom / sample.n
    variation = max(excess, 0.0) ** 0.5
    gap, curves, name = _projected(sample)
    p_smooth = [float(chdtrc(f, e * sample.n)) for e, f in degrees]
    projections = PROJECTIONS if sample.support.kind == "sphere" else sample.dim
    p_projected = min(1.0, projections * float(kolmogorov(gap * len(sample.measure.h) ** 0.5)))
    p_value = min(1.0, 3 * min(*p_smooth, p_projected))
    matters = variation >= VARIATION or gap >= DISTANCE
    found = p_value < sample.level and matters
    return Reading(
        name="uniformity",
        number=NUMBER,
        value=variation,
        interval=_interval(energy * sample.n, freedom, sample.n),
        verdict="ok" if not found else "problem" if variation >= LARGE else "warning",
        sentence=(
            f"Anchors are not spread evenly: their density varies by {variation:.0%} about its mean; the distribution "
            f"function of {name} is off by {gap:.3f}."
            if found
            else f"Anchors are spread evenly, as far as it matters: their density varies by {variation:.1%}."
        ),
        advice=(
            "Identifiability is proved for a uniform marginal. Weigh or resample anchors; or, where embeddings are an "
            "encoder's, train it longer or in larger batches, since InfoNCE itself spreads them."
            if found
            else ""
        ),
        test=(
            "Null: anchors are uniform. Chi-square statistics of degrees 1 and 2 (Rayleigh and Bingham on a sphere, "
            "Neyman's smooth test in a box) and the largest Kolmogorov-Smirnov distance of projections; Bonferroni. "
            f"Variation below {VARIATION:.0%} with distances below {DISTANCE:g} does not matter."
        ),
        p_value=p_value,
        details={"mean": mean.tolist(), "distance": gap, "p_values": [*p_smooth, p_projected]},
        curves=curves,
    )


def _sphere(mean: Tensor, second: Tensor) -> list[tuple[float, int]]:
    """Energy of each degree, its mean square coefficient in orthonormal functions, and how many there are."""
    d = len(mean)
    first = d * float(mean.square().sum())
    traceless = second - torch.eye(d, dtype=mean.dtype) * second.trace() / d
    return [(first, d), (d * (d + 2) / 2 * float(traceless.square().sum()), (d - 1) * (d + 2) // 2)]


def _box(mean: Tensor, second: Tensor) -> list[tuple[float, int]]:
    """u = 2z - 1 in [-1, 1]: sqrt(3) u, sqrt(5) (3 u^2 - 1) / 2, and 3 u_j u_k are orthonormal there."""
    d = len(mean)
    u = 2 * mean - 1
    product = 4 * second - 2 * mean[:, None] - 2 * mean[None] + 1
    first = 3 * float(u.square().sum())
    bent = 5 * float((1.5 * product.diagonal() - 0.5).square().sum())
    crossed = 9 * float(product.triu(diagonal=1).square().sum())
    return [(first, d), (bent + crossed, d * (d + 1) // 2)]


def _interval(statistic: float, freedom: int, n: int) -> tuple[float, float]:
    """Of the variation: the noncentral chi-square laws under which the statistic is not extreme."""

    # Beyond this SciPy's noncentral law loses its digits; the normal approximation has all of them by then.
    if statistic > 1e4:
        centre, spread = statistic - freedom, 1.96 * (2 * (freedom + 2 * (statistic - freedom))) ** 0.5
        ends = max(centre - spread, 0.0), centre + spread
    else:
        # Where even the central law is not extreme enough, there is no such shift, and the bound is 0.
        tails = (1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2
        central = float(chndtr(statistic, freedom, 0.0))
        ends = tuple(0.0 if central <= tail else float(chndtrinc(statistic, freedom, tail)) for tail in tails)
    return (ends[0] / n) ** 0.5, (ends[1] / n) ** 0.5


def _projected(sample: Sample) -> tuple[float, dict[str, Curve], str]:
    """The largest distance from the distribution function of a projection, and that projection's curve."""
    h, d = sample.measure.h, sample.dim
    if sample.support.kind == "box":
        projections = h
        expected = h.clamp(0, 1)
    else:
        ways = _rng.normal((d, PROJECTIONS), sample.generator, h.dtype)
        projections = h @ (ways / ways.norm(dim=0))
        # A coordinate t of a uniform point has (1 + t) / 2 ~ Beta((d - 1) / 2, (d - 1) / 2).
        half = (d - 1) / 2
        expected = torch.from_numpy(betainc(half, half, ((1 + projections) / 2).clamp(0, 1).numpy()))
    gaps = distances(expected)
    worst = int(gaps.argmax())
    name = f"column {worst}" if sample.support.kind == "box" else "a random projection"
    ranks, steps = expected[:, worst].sort().values, np.linspace(0, 1, 101)
    empirical = np.searchsorted(ranks.numpy(), steps) / len(ranks)
    labels = ("share expected of uniform anchors", "share found")
    curves = {
        name: Curve(steps.tolist(), empirical.tolist(), *labels),
        "uniform": Curve([0.0, 1.0], [0.0, 1.0], *labels),
    }
    return float(gaps[worst]), curves, name


def distances(probabilities: Tensor) -> Tensor:
    """Kolmogorov-Smirnov distance of each column from the uniform law on [0, 1]."""
    ordered, n = probabilities.sort(dim=0).values, len(probabilities)
    steps = torch.arange(n + 1, dtype=ordered.dtype)[:, None] / n
    return torch.maximum((steps[1:] - ordered).amax(dim=0), (ordered - steps[:-1]).amax(dim=0))


def _free(sample: Sample) -> Reading:
    h = sample.measure.h
    z = (h - h.mean(dim=0)) / h.std(dim=0)
    gaps = distances(torch.special.ndtr(z))
    worst = int(gaps.argmax())
    edges = torch.linspace(-4, 4, 61, dtype=h.dtype)
    density = torch.histogram(z[:, worst].contiguous(), bins=edges, density=True).hist
    middle = (edges[1:] + edges[:-1]) / 2
    labels = ("standardised coordinate", "density")
    normal = (-middle.square() / 2).exp() / (2 * torch.pi) ** 0.5
    # Two independent halves of the rows bound the distance by the triangle inequality with the DKW inequality.
    margin = (np.log(2 * sample.dim / (1 - CONFIDENCE)) / (2 * len(h))) ** 0.5
    return Reading(
        name="uniformity",
        number="largest distance of a coordinate's distribution function from the normal one",
        value=float(gaps[worst]),
        interval=(max(0.0, float(gaps[worst]) - margin), min(1.0, float(gaps[worst]) + margin)),
        verdict="ok",
        sentence=(
            f"Free embeddings claim no marginal, so that none is violated. Column {worst} is farthest from normal, by "
            f"{float(gaps[worst]):.3f}."
        ),
        curves={
            f"column {worst}": Curve(middle.tolist(), density.tolist(), *labels),
            "normal": Curve(middle.tolist(), normal.tolist(), *labels),
        },
    )
