"""Do positives leave some direction fixed?"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from scipy.special import ndtr, ndtri
from torch import Tensor

from ..finding import Curve
from .moments import FIND
from .reading import CONFIDENCE, Reading, band
from .sample import Sample

TOLERANCE = 1e-3  # of the movement of the direction that moves most: less than this counts as none
EXACT = 1e-12  # of the variance: where no direction moves more, pairs are copies
LEAST = 1e-16  # ratios are drawn no smaller
DEAD = 1e-8  # of the mean variance: a direction of less has none but rounding


class Spectrum(NamedTuple):
    """Movement within pairs as a share of the variance, for each direction, the least first.

    Attributes:
        directions: (d, k), columns scaled so that h @ w has variance 1.
        ratio: E(w.(h_pos - h))^2 / 2 over Var(w.h): 0 if nothing moves, 1 if positives ignore their anchors.
        log_error: Standard error of its logarithm; 0 where nothing moves at all.
        limit: What counts as fixed below.
        p_value: That the ratio is at least the limit, for each direction by itself.
    """

    directions: Float[Tensor, "d k"]
    ratio: Float[Tensor, " k"]
    log_error: Float[Tensor, " k"]
    limit: float
    p_value: Float[Tensor, " k"]


def canonical(covariance: Float[Tensor, "d d"], difference: Float[Tensor, "d d"]) -> Float[Tensor, "d k"]:
    """Generalised eigenvectors of (difference, covariance), least movement first; directions without variance are
    left out."""
    variance, axes = torch.linalg.eigh(covariance)
    live = variance > DEAD * variance.mean()
    whiten = axes[:, live] / variance[live].sqrt()
    moved = whiten.mT @ difference @ whiten
    return whiten @ torch.linalg.eigh((moved + moved.mT) / 2).eigenvectors


def spectrum(sample: Sample) -> Spectrum:
    """Directions from the even rows, ratios from the odd ones: choosing the least does not make it look smaller."""
    moments = sample.moments
    directions = canonical(moments.covariance(FIND), moments.difference(FIND))
    mean = moments.mean(FIND)
    y, y_pos = ((view - mean) @ directions for view in sample.measure)
    moved = (y_pos - y).square() / 2
    variance = (y.square() + y_pos.square()) / 2
    ratio = moved.mean(dim=0) / variance.mean(dim=0)
    # Delta method: relative deviations of numerator and denominator, which go together.
    shift = moved / moved.mean(dim=0).clamp(min=1e-300) - variance / variance.mean(dim=0)
    error = torch.where(ratio > 0, shift.std(dim=0) / len(shift) ** 0.5, 0.0)
    if float(ratio[-1]) <= EXACT:
        return Spectrum(directions, ratio, error, EXACT, torch.where(ratio <= EXACT, 0.0, 1.0))
    limit = TOLERANCE * float(ratio[-1])
    distance = (ratio.clamp(min=1e-300) / limit).log() / torch.hypot(error, error[-1]).clamp(min=1e-12)
    return Spectrum(directions, ratio, error, limit, torch.from_numpy(ndtr(distance.numpy())))


def fixed(found: Spectrum, level: float) -> int:
    """How many directions move less than the tolerance: Holm's procedure over all of them."""
    ordered = found.p_value.sort().values
    steps = torch.arange(len(ordered), 0, -1, dtype=ordered.dtype)
    passed = ordered * steps < level
    return int(passed.to(torch.int64).cumprod(dim=0).sum())


def read(sample: Sample, found: Spectrum) -> Reading:
    count = fixed(found, sample.level)
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    low, high = (found.ratio * (sign * quantile * found.log_error).exp() for sign in (-1, 1))
    maybe = int((low < found.limit).sum())
    places = [j + 1.0 for j in range(len(found.ratio))]
    labels = ("direction, least movement first", "movement over variance")
    curves = band("movement", places, [line.clamp(min=LEAST).tolist() for line in (found.ratio, low, high)], labels)
    curves["counts as fixed below"] = Curve(places, [found.limit] * len(places), *labels)
    named = [_named(found.directions[:, j]) for j in range(count)]
    some = "; ".join(named[:3]) + ("; ..." if count > 3 else "")
    return Reading(
        name="diversity",
        number="directions that never move within pairs",
        value=float(count),
        interval=(float(count), float(max(count, maybe))),
        verdict="problem" if count else "ok",
        sentence=(
            f"{count} of {sample.dim} directions never move within pairs ({some})."
            if count
            else f"Positives move in every direction; the least moves by {float(found.ratio[0]):.2g} of its variance."
        ),
        advice=(
            "Pairs that always share a direction cannot teach its geometry: vary it between the views, or contrast "
            "with negatives that share it too (`GroupedSupport` with `InfoNCE(score, GroupMates())`)."
            if count
            else ""
        ),
        test=(
            f"Null, for each direction: its movement, as a share of its variance, is at least {TOLERANCE:g} of that of "
            "the direction that moves most. One-sided z-test of the logarithm of the ratio, on rows that did not "
            "choose the directions; Holm over directions."
        ),
        p_value=min(1.0, float(found.p_value.min()) * len(found.p_value)),
        details={
            "ratio": found.ratio.tolist(),
            "fixed_directions": [_unit(found.directions[:, j]).tolist() for j in range(count)],
        },
        curves=curves,
    )


def _unit(direction: Tensor) -> Tensor:
    return direction / direction.norm()


def _named(direction: Tensor) -> str:
    """By its largest weights."""
    weights = _unit(direction)
    weights = weights * weights[weights.abs().argmax()].sign()
    if float(weights.abs().max()) > 0.99:
        return f"column {int(weights.abs().argmax())}"
    largest = weights.abs().argsort(descending=True)[:3].tolist()
    return " ".join(f"{float(weights[j]):+.2f} column {j}" for j in largest) + (" ..." if len(weights) > 3 else "")
