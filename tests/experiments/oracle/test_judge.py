"""Predictions beside measurements: thresholds as stated, and a wrong verdict is noticed."""

import math

import pytest

from noumena.experiments.folder import Outcome
from noumena.experiments.oracle import judge as judging
from noumena.experiments.oracle.judge import THRESHOLDS, Judged, Prediction, agreement, confusion, judge, predict
from noumena.experiments.oracle.settings import KINDS, table
from noumena.theory.verdicts import Expectation, Maps
from noumena.theory.verdicts.base import decide
from noumena.theory.verdicts.theorems import THEOREM_2

NAMES = {one.metric: one.name for one in THRESHOLDS}


def outcome(metrics, **more):
    known = {"table": "oracle", "row": "0", "recipe": "fast", "baseline": None, "seed": 0, "steps": 1, "seconds": 1.0}
    return Outcome(**known, core_seconds=1.0, loss=0.0, metrics=metrics, digest="", code="", machine={}, **more)


def said(**levels):
    return Prediction(0, "rotations", Maps.ORTHOGONAL, True, "", Expectation(**levels))


@pytest.mark.parametrize("metric, at", [("linear_r2", 0.95), ("mcc", 0.95), ("block_r2", 0.95), ("angle_error", 0.05)])
def test_thresholds(metric, at):
    for value, level in ((at, "high"), (math.nextafter(at, 0), "low")):
        (seen,) = judge(said(**{metric: "high"}), outcome({NAMES[metric]: value})).comparisons
        assert (seen.metric, seen.measured, seen.agrees) == (metric, level, level == "high")


def test_a_setting_agrees_if_all_that_was_said_came_true():
    metrics = {"linear_r2": 0.99, "mcc": 0.5, "angle_error_normalised": 0.01, "block_r2_matched/0": 0.2}
    assert judge(said(linear_r2="high", angle_error="low"), outcome(metrics)).agrees is True
    assert judge(said(linear_r2="high", angle_error="high"), outcome(metrics)).agrees is False
    nothing = judge(said(), outcome(metrics))
    assert nothing.agrees is None and len(nothing.comparisons) == 3
    assert Judged(said(mcc="high"), failure="diverged").agrees is False
    assert Judged(said(), failure="diverged").agrees is None


def test_confusion_and_agreement_count():
    found = [
        judge(said(linear_r2=predicted), outcome({"linear_r2": value}))
        for predicted, value in (("high", 0.99), ("high", 0.5), ("low", 0.5), (None, 0.5))
    ]
    assert confusion(found) == {
        ("linear_r2", "high", "high"): 1,
        ("linear_r2", "high", "low"): 1,
        ("linear_r2", "low", "low"): 1,
        ("linear_r2", None, "low"): 1,
    }
    assert agreement(found) == (2, 3) == agreement(found, speaks=True) and agreement(found, speaks=False) == (0, 0)


def test_the_gap_to_the_floor():
    found = outcome({}, fresh_loss={"value": 2.5, "error": 0.3}, floor={"value": 2.0, "error": 0.4})
    assert judge(said(), found).gap == (0.5, 0.5) and judge(said(), outcome({})).gap is None


@pytest.fixture(scope="module")
def true_world():
    """Settings, and outcomes that are as the verdict predicts."""
    rows = table(range(2 * len(KINDS))).rows
    ideal = {"high": 0.99, "low": 0.01, None: 0.5}
    predictions = [predict(row) for row in rows]
    metrics = [{NAMES[one]: ideal[getattr(told.levels, one)] for one in NAMES} for told in predictions]
    return rows, predictions, [outcome(one) for one in metrics]


def test_a_right_verdict_agrees(true_world):
    _, predictions, outcomes = true_world
    hits, of = agreement(map(judge, predictions, outcomes))
    assert hits == of > len(KINDS)


def _always_orthogonal(world, learner):
    return decide(THEOREM_2, Maps.ORTHOGONAL, [])


def _always_axes(world, learner):
    return decide(THEOREM_2, Maps.PERMUTATION, [])


def _sees_no_fixed_part(world, learner):
    found = judging.verdict(world, learner)
    return decide(THEOREM_2, Maps.ORTHOGONAL, []) if found.maps is Maps.NOTHING else found


@pytest.mark.parametrize("mutant", [_always_orthogonal, _always_axes, _sees_no_fixed_part])
def test_a_wrong_verdict_is_noticed(true_world, mutant):
    rows, _, outcomes = true_world
    hits, of = agreement(judge(predict(row, mutant), found) for row, found in zip(rows, outcomes, strict=True))
    assert hits < 0.95 * of
