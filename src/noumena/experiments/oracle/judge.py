"""What a verdict says of a setting, beside what training found, under thresholds fixed beforehand."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from ...spaces import Sphere
from ...theory.verdicts import Expectation, Learner, Maps, Verdict, expectation, verdict
from ..explain import stand_in
from ..folder import Outcome
from ..spec import Row
from .settings import kind, seed_of

Level = Literal["high", "low"]


@dataclass(frozen=True)
class Threshold:
    """Where high begins.

    Attributes:
        metric: As `Expectation` calls it.
        name: As a run's metrics call it.
        at: The least value that is high.
        reason: Why there.
    """

    metric: str
    name: str
    at: float
    reason: str

    def level(self, value: float) -> Level:
        return "high" if value >= self.at else "low"


THRESHOLDS = (
    Threshold(
        "linear_r2",
        "linear_r2",
        0.95,
        "recoveries that the papers print are .98 and better; a latent lost of d = 6, the most drawn, leaves 5/6",
    ),
    Threshold(
        "mcc",
        "mcc",
        0.95,
        "the papers' recovered axes are .98 and better; a random rotation scores .83 in three dimensions, less in more",
    ),
    Threshold("block_r2", "block_r2_matched", 0.95, "that of R²: each block is read by one, from columns of its own"),
    Threshold(
        "angle_error",
        "angle_error_normalised",
        0.05,
        "recovered spheres show .01, independent ones .2 (d = 6) to .33 (d = 3); the geometric mean lies here",
    ),
)


@dataclass(frozen=True)
class Prediction:
    """What is said of a setting before it is trained.

    Attributes:
        seed, kind: Of the setting.
        maps: The class at the optimum.
        speaks: Whether a theorem does; if not, the levels are what the papers' experiments suggest.
        says: The verdict in one line.
        levels: Of each metric; None where nothing is said.
    """

    seed: int
    kind: str
    maps: Maps
    speaks: bool
    says: str
    levels: Expectation


@dataclass(frozen=True)
class Comparison:
    """One metric, predicted and measured; `predicted` is None where nothing was said."""

    metric: str
    predicted: Level | None
    measured: Level
    value: float

    @property
    def agrees(self) -> bool | None:
        return None if self.predicted is None else self.predicted == self.measured


@dataclass(frozen=True)
class Judged:
    """A setting after its run.

    Attributes:
        prediction: What was said before.
        comparisons: One for each metric that the run measured; none where training failed.
        gap: The loss above its Bayes floor, in nats, with the standard error of both: a gap far above it says that
            training was short, or that the model cannot match the pairs. None where no floor is known.
        failure: Why training failed, if it did: a disagreement wherever something was predicted.
    """

    prediction: Prediction
    comparisons: tuple[Comparison, ...] = ()
    gap: tuple[float, float] | None = None
    failure: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether every metric is where it was predicted; None where nothing was predicted."""
        levels = self.prediction.levels
        if self.failure and any(getattr(levels, one.metric) is not None for one in THRESHOLDS):
            return False
        said = [one.agrees for one in self.comparisons if one.agrees is not None]
        return all(said) if said else None

    def to_dict(self) -> dict[str, Any]:
        told = self.prediction
        metrics = {
            one.metric: {"predicted": one.predicted, "measured": one.measured, "value": one.value}
            for one in self.comparisons
        }
        return {
            "seed": told.seed,
            "kind": told.kind,
            "maps": told.maps,
            "theorem": told.speaks,
            "says": told.says,
            "metrics": metrics,
            "agrees": self.agrees,
            "gap": None if self.gap is None else {"value": self.gap[0], "error": self.gap[1]},
            "failure": self.failure,
        }


def predict(row: Row, oracle: Callable[..., Verdict] = verdict) -> Prediction:
    """What the verdict says of a row of `settings.table`.

    Args:
        row: The setting.
        oracle: What is asked; another one than ours shows whether the comparison can tell.
    """
    made = stand_in(row.describe("fast"))
    assert made.loss is not None
    learner = Learner.of(made.encoder, made.loss)
    found = oracle(made.source, learner)
    spheres = isinstance(made.space, Sphere) and isinstance(learner.ends.space, Sphere)
    seed, levels = seed_of(row), expectation(found, sphere=spheres)
    return Prediction(seed, kind(seed), found.maps, found.speaks, found.summary, levels)


def judge(prediction: Prediction, found: Outcome) -> Judged:
    """The prediction beside the outcome of its run."""
    comparisons = [
        Comparison(one.metric, getattr(prediction.levels, one.metric), one.level(value), value)
        for one in THRESHOLDS
        if (value := found.metrics.get(one.name)) is not None
    ]
    gap = None
    if found.floor is not None and found.fresh_loss is not None:
        value = found.fresh_loss["value"] - found.floor["value"]
        gap = (value, math.hypot(found.fresh_loss["error"], found.floor["error"]))
    return Judged(prediction, tuple(comparisons), gap)


Confusion = dict[tuple[str, Level | None, Level], int]


def confusion(judged: Iterable[Judged]) -> Confusion:
    """How often each metric was predicted so and measured so."""
    counts: Confusion = {}
    for one in judged:
        for seen in one.comparisons:
            key = (seen.metric, seen.predicted, seen.measured)
            counts[key] = counts.get(key, 0) + 1
    return counts


def agreement(judged: Iterable[Judged], *, speaks: bool | None = None) -> tuple[int, int]:
    """Settings in which every prediction came true, of those with any; of those where a theorem `speaks`, or none."""
    said = [one.agrees for one in judged if speaks is None or one.prediction.speaks == speaks]
    return sum(one is True for one in said), sum(one is not None for one in said)
