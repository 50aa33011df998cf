"""Do the positives of one anchor come in several clusters?

Differences alone cannot tell: a mirror image lies at another distance for every anchor. So two affine maps of the
anchor are fitted to the even rows, each pair going to the nearer one; and on the odd rows positives are placed along
the line between the two predictions, from -1 to 1. If the law of a positive has one mode, then so has its place, and
the middle third of [-1.5, 1.5] cannot hold less than both others.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import bdtr, ndtr, ndtri
from torch import Tensor

from .. import _rng
from ..finding import Curve
from .fitted import Fitted
from .reading import CONFIDENCE, Reading
from .sample import Sample

TOLERANCE = 0.8  # of the middle's count over the smaller side's: less of a valley is none
STARTS, STEPS = 3, 25
SMALLEST = 0.03  # share of pairs that one map must keep
NEIGHBOURS = 4000  # anchors that are compared with their nearest neighbour
NUMBER = "pairs halfway between two modes, over those at the smaller mode"


class Maps(NamedTuple):
    """Two affine maps of standardised anchors with a column of ones, to standardised movement."""

    first: Float[Tensor, "k m"]
    second: Float[Tensor, "k m"]


class _Prepared(NamedTuple):
    """Both views, ready for least squares: anchors standardised, with a column of ones; positives with anchors' linear
    part taken out and standardised."""

    features: Float[Tensor, "n k"]
    rest: Float[Tensor, "n m"]


class _Preparation:
    """Learned from the even rows, applied to any."""

    def __init__(self, h: Tensor, v_pos: Tensor) -> None:
        self.mean, self.deviation = h.mean(dim=0), h.std(dim=0)
        features = self._features(h)
        self.linear = _least_squares(features, v_pos)
        self.spread = (v_pos - features @ self.linear).std(dim=0).clamp(min=1e-12)

    def __call__(self, h: Tensor, v_pos: Tensor) -> _Prepared:
        features = self._features(h)
        return _Prepared(features, (v_pos - features @ self.linear) / self.spread)

    def _features(self, h: Tensor) -> Tensor:
        return torch.cat([(h - self.mean) / self.deviation, torch.ones_like(h[:, :1])], dim=1)


def read(sample: Sample, law: Fitted | None) -> Reading:
    if law is None:
        return Reading("modes", NUMBER, None, None, "ok", "Too few directions move for positives to gather in places.")
    prepare = _Preparation(sample.find.h, law.coordinates(sample.find.h_pos))
    maps = two_maps(prepare(sample.find.h, law.coordinates(sample.find.h_pos)), sample.generator)
    if maps is None:
        return Reading("modes", NUMBER, 1.0, None, "ok", "Positives of one anchor gather in one place.")
    v, v_pos = (law.coordinates(view) for view in sample.measure)
    place, chosen = places(prepare(sample.measure.h, v_pos), maps)
    null, _ = places(prepare(sample.measure.h, law.draw(v, sample.generator)), maps)
    found, expected = _thirds(place), _thirds(null)
    p_value = max(_one_mode(found), _as_deep(found, expected))
    valley, error = found.valley
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    interval = valley * np.exp(-quantile * error), valley * np.exp(quantile * error)
    several = p_value < sample.level and valley < TOLERANCE
    bent = several and not _shared(sample.measure.h[chosen], place)
    share = found.right / (found.left + found.right) if found.left + found.right else 0.5
    return Reading(
        name="modes",
        number=NUMBER,
        value=valley,
        interval=(float(interval[0]), float(interval[1])),
        verdict="problem" if several and not bent else "ok",
        sentence=(
            "The mean of positives bends with their anchor, which is not several modes."
            if bent
            else f"Positives of one anchor gather in two places, with shares {1 - share:.0%} and {share:.0%}."
            if several
            else "Positives of one anchor gather in one place."
        ),
        advice=(
            "No score of the library has two modes. Split the augmentation that makes them (a flip, a permutation) "
            "into two processes with a loss each (`Ensemble`), or make it one of the factors that pairs share."
            if several and not bent
            else ""
        ),
        test=(
            "Null: along the line between two places that were predicted on other rows, positives of an anchor have "
            "one mode, or at most the valley that the fitted law has. Binomial tests of the middle third against both "
            f"others, and a z-test against the fitted law; the largest p. Valleys above {TOLERANCE:g} do not matter."
        ),
        p_value=p_value,
        details={"share": share, "fitted_law": expected.valley[0]},
        curves=_densities(place, null),
    )


def two_maps(prepared: _Prepared, generator: torch.Generator) -> Maps | None:
    """The best split of several starts; None if every split leaves one map next to nothing."""
    best, least = None, float("inf")
    for labels in _starts(prepared, generator):
        maps, cost = _alternate(prepared, labels)
        if maps is not None and cost < least:
            best, least = maps, cost
    return best


def places(prepared: _Prepared, maps: Maps) -> tuple[Float[Tensor, " k"], Tensor]:
    """Where positives lie between the predictions (-1 and 1), for the half of the anchors whose predictions are
    farther apart; and which anchors those are."""
    first, second = (prepared.features @ one for one in maps)
    between = second - first
    square = between.square().sum(dim=1)
    chosen = square >= square.median()
    along = ((prepared.rest - (first + second) / 2) * between).sum(dim=1) * 2 / square
    return along[chosen], chosen


def _starts(prepared: _Prepared, generator: torch.Generator):
    """Signs along the leading components of rest x features: whatever makes the product large is no chance."""
    features, rest = prepared
    k, m = features.shape[1], rest.shape[1]
    count = min(STARTS, k * m)
    ways = _rng.normal((m, k, count), generator, features.dtype)
    for _ in range(20):
        values = torch.stack([((rest @ ways[..., i]) * features).sum(dim=1) for i in range(count)], dim=1)
        grown = torch.stack([rest.mT @ (features * values[:, i : i + 1]) for i in range(count)], dim=-1)
        ways = torch.linalg.qr(grown.reshape(m * k, count)).Q.reshape(m, k, count)
    for i in range(count):
        value = ((rest @ ways[..., i]) * features).sum(dim=1)
        yield value > value.median()


def _alternate(prepared: _Prepared, labels: Tensor) -> tuple[Maps | None, float]:
    features, rest = prepared
    cost = float("inf")
    maps = None
    for _ in range(STEPS):
        share = float(labels.double().mean())
        if not SMALLEST < share < 1 - SMALLEST or min(share, 1 - share) * len(rest) < 3 * features.shape[1]:
            return None, float("inf")
        maps = Maps(_least_squares(features[~labels], rest[~labels]), _least_squares(features[labels], rest[labels]))
        far = torch.stack([(rest - features @ one).square().sum(dim=1) for one in maps])
        before, cost = cost, float(far.amin(dim=0).mean())
        labels = far[1] < far[0]
        if cost > (1 - 1e-4) * before:
            break
    return maps, cost


def _least_squares(features: Tensor, rest: Tensor) -> Tensor:
    gram = features.mT @ features
    ridge = 1e-8 * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
    return torch.linalg.solve(gram + ridge, features.mT @ rest)


class _Thirds(NamedTuple):
    left: int
    middle: int
    right: int

    @property
    def valley(self) -> tuple[float, float]:
        """Middle over the smaller side, and the standard error of the logarithm; half a count keeps both finite."""
        middle, side = self.middle + 0.5, min(self.left, self.right) + 0.5
        return middle / side, (1 / middle + 1 / side) ** 0.5


def _thirds(place: Tensor) -> _Thirds:
    ends = (-1.5, -0.5, 0.5, 1.5)
    return _Thirds(*(int(((place >= low) & (place < high)).sum()) for low, high in zip(ends, ends[1:], strict=False)))


def _one_mode(found: _Thirds) -> float:
    """Exact: with one mode the middle holds at least as much as one of the sides."""
    return max(float(bdtr(found.middle, found.middle + side, 0.5)) for side in (found.left, found.right))


def _as_deep(found: _Thirds, expected: _Thirds) -> float:
    """That the fitted law, which may have two modes on a circle, has as deep a valley."""
    (one, error), (other, other_error) = found.valley, expected.valley
    return float(ndtr(np.log(one / other) / np.hypot(error, other_error)))


def _shared(h: Tensor, place: Tensor) -> bool:
    """Whether near anchors have positives in both places, rather than each region in one of them."""
    decided = (place.abs() > 0.5) & (place.abs() < 1.5)
    h, side = h[decided][:NEIGHBOURS], place[decided][:NEIGHBOURS] > 0
    distance = torch.cdist(h, h).fill_diagonal_(float("inf"))
    differ = float((side[distance.argmin(dim=1)] != side).double().mean())
    share = float(side.double().mean())
    return differ > share * (1 - share)  # half of what independence gives


def _densities(place: Tensor, null: Tensor) -> dict[str, Curve]:
    edges = np.linspace(-3, 3, 61)
    middle = ((edges[1:] + edges[:-1]) / 2).tolist()
    labels = ("place between two predictions (-1 and 1)", "density")
    return {
        name: Curve(middle, (np.histogram(one.numpy(), edges)[0] / len(one) / (edges[1] - edges[0])).tolist(), *labels)
        for name, one in (("found", place), ("fitted law", null))
    }
