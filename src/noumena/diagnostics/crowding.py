"""How large a batch the concentration of positives calls for.

InfoNCE asks which candidate is the positive. As long as the nearest one always is, the answer says nothing about
distances ("augmentation overlap" is missing; Rusak et al., 2024, Appendix H). With q_i the probability that a random
other row lies nearer to anchor i than its positive does, the nearest of B - 1 others and the positive is the positive
with probability (1 - q_i)^(B - 1), for every batch size B at once.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import betainc
from torch import Tensor

from .. import _checks
from .overlap import common_area
from .reading import CONFIDENCE, Reading, band, figures
from .sample import Sample

ANCHORS, CANDIDATES, BLOCK = 2000, 32_768, 250
NEIGHBOURS = 16  # fewer rows than this nearer than the positive: q is extrapolated from the distance of the 16th
EASY = 0.95  # share of anchors whose nearest candidate is their positive, from which on a batch is too small
SIZES = np.logspace(np.log10(2), 9, 400)
RESAMPLES = 200


class Nearer(NamedTuple):
    """For each anchor: q, and its distance to the positive; a share of the distances to others; the dimension that
    rows fill locally; anchors that occur more than once."""

    q: Float[Tensor, " a"]
    distance: Float[Tensor, " a"]
    others: Float[Tensor, " o"]
    dimension: float
    repeated: int


def nearer(sample: Sample) -> Nearer:
    """q_i: the share of candidates that are nearer; where fewer than 16 are, 16 of them over the volume of the ball
    that reaches the 16th, times the volume of the ball that reaches the positive."""
    candidates = torch.cat([sample.find.h, sample.measure.h])
    candidates = candidates[torch.randperm(len(candidates), generator=sample.generator)[:CANDIDATES]]
    anchors, positives = (view[:ANCHORS] for view in sample.measure)
    centre = candidates.mean(dim=0)
    candidates, anchors, positives = candidates - centre, anchors - centre, positives - centre
    scale = float(candidates.square().sum(dim=1).mean())
    distance = (positives - anchors).norm(dim=1)
    counts, near, others, repeated = [], [], [], 0
    for rows, own in zip(anchors.split(BLOCK), distance.split(BLOCK), strict=True):
        apart = _squared_distances(rows, candidates)
        same = apart < 1e-12 * scale  # an anchor itself, or its copy
        repeated += int((same.sum(dim=1) > 1).sum())
        apart.masked_fill_(same, float("inf"))
        counts.append((apart < own.square()[:, None]).sum(dim=1))
        near.append(apart.topk(NEIGHBOURS, dim=1, largest=False).values.sqrt())
        others.append(apart[:, ::101].flatten().sqrt())
    count, ball, total = torch.cat(counts), torch.cat(near), len(candidates) - 1
    dimension = _dimension(ball)
    far = ball[:, -1]
    if sample.support.kind == "sphere":
        half = (sample.dim - 1) / 2
        caps = [torch.from_numpy(betainc(half, half, (r.square() / 4).clamp(0, 1).numpy())) for r in (distance, far)]
        volume = caps[0] / caps[1]
    else:
        volume = (distance / far).pow(dimension)
    q = torch.where(count >= NEIGHBOURS, count / total, NEIGHBOURS / total * volume.clamp(max=1))
    apart = torch.cat(others)
    return Nearer(q.clamp(max=1), distance, apart[apart.isfinite()], dimension, repeated)


def accuracy(q: Float[Tensor, " a"], sizes: np.ndarray) -> Float[Tensor, "a b"]:
    """(1 - q)^(B - 1) for each anchor and batch size."""
    return ((torch.from_numpy(sizes) - 1) * torch.log1p(-q.clamp(max=1 - 1e-12))[:, None]).exp()


def size_at(shares: np.ndarray, share: float = EASY) -> float:
    """The batch size at which a falling curve over SIZES passes `share`; the ends of SIZES where it does not."""
    if shares[0] < share:
        return float(SIZES[0])
    if shares[-1] >= share:
        return float(SIZES[-1])
    after = int((shares < share).argmax())
    part = (shares[after - 1] - share) / (shares[after - 1] - shares[after])
    return float(np.exp(np.log(SIZES[after - 1]) + part * np.log(SIZES[after] / SIZES[after - 1])))


def read(sample: Sample, batch_size: int) -> Reading:
    _checks.count("batch_size", batch_size, low=2)
    found = nearer(sample)
    each = accuracy(found.q, SIZES)
    curve = each.mean(dim=0).numpy()
    resampled = torch.multinomial(
        torch.ones(RESAMPLES, len(each), dtype=torch.float64), len(each), True, generator=sample.generator
    )
    weights = torch.stack([row.bincount(minlength=len(each)) for row in resampled]).double() / len(each)
    curves = (weights @ each).numpy()
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(curves, [tail, 1 - tail], axis=0)
    sizes = [size_at(one) for one in curves]
    interval = float(np.quantile(sizes, tail)), float(np.quantile(sizes, 1 - tail))
    size, here = size_at(curve), float(accuracy(found.q, np.array([float(batch_size)])).mean())
    easy = here >= EASY
    labels = ("batch size", "positive is nearest (share)")
    step = slice(0, int((SIZES <= 2 * max(size, 1e6)).sum()), 6)
    shown = SIZES[step].tolist()
    lines = [line[step].tolist() for line in (curve, low, high)]
    pictured = band("nearest is the positive", shown, lines, labels)
    edges = np.linspace(0, float(max(found.others.max(), found.distance.max())), 61)
    overlap, densities = common_area(found.distance, found.others, edges, "distance")
    copies = f" {found.repeated} of {len(found.q)} anchors occur more than once." if found.repeated else ""
    beyond = "at least " if size >= SIZES[-1] else ""
    return Reading(
        name="overlap",
        number=f"batch size at which {EASY:.0%} of anchors still have their positive nearest",
        value=size,
        interval=interval,
        verdict="warning" if easy else "ok",
        sentence=(
            f"In batches of {batch_size} the nearest candidate is the positive for {here:.1%} of anchors; it takes "
            f"{beyond}{figures(round(size))} candidates to bring that to {EASY:.0%}.{copies}"
        ),
        advice=(
            f"Batches tell little about distances: use {beyond}{figures(round(size))} candidates, hard negatives "
            "(`weighting=HardNegatives(...)`), or augmentations that move farther."
            if easy
            else "Repeats make pairs dependent: draw one pair of each item, or read intervals as too short."
            if found.repeated
            else ""
        ),
        details={
            "batch_size": batch_size,
            "nearest_is_positive": here,
            "overlap": overlap,
            "intrinsic_dimension": found.dimension,
            "repeated_anchors": found.repeated,
        },
        curves={**pictured, **densities},
    )


def _squared_distances(rows: Tensor, others: Tensor) -> Tensor:
    """By one matrix product: in float64 and about the mean, exact to 1e-15 of the variance."""
    return torch.addmm(others.square().sum(dim=1), rows, others.mT, alpha=-2).add_(rows.square().sum(dim=1)[:, None])


def _dimension(ball: Float[Tensor, "a k"]) -> float:
    """Of the set that rows fill, from distances of nearest neighbours (Levina and Bickel, 2004)."""
    finite = ball[ball.isfinite().all(dim=1)]
    steps = (finite[:, -1:] / finite[:, :-1]).log().sum(dim=1)
    return float((NEIGHBOURS - 1) / steps.mean()) if len(finite) else float("nan")
