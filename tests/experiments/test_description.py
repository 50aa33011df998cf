from dataclasses import replace

import pytest

from noumena.experiments.description import Description, merge
from noumena.experiments.spec import parse_table
from tests.experiments.tables import content


@pytest.mark.parametrize(
    ("base", "changes", "merged"),
    [
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": 1, "b": 3, "c": 4}),
        ({"a": {"x": 1, "y": {"u": 1, "v": 2}}}, {"a": {"y": {"v": 3}}}, {"a": {"x": 1, "y": {"u": 1, "v": 3}}}),
        ({"a": {"kind": "k", "x": 1}}, {"a": {"x": 2}}, {"a": {"kind": "k", "x": 2}}),
        ({"a": {"kind": "k", "x": 1}}, {"a": {"kind": "l"}}, {"a": {"kind": "l"}}),
        ({"a": {"kind": "k", "x": 1}}, {"a": {"kind": "k", "y": 1}}, {"a": {"kind": "k", "y": 1}}),
        ({"a": {"x": 1}}, {"a": "text"}, {"a": "text"}),
        ({"a": "text"}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": [1, {"x": 1}]}, {"a": [2]}, {"a": [2]}),
    ],
)
def test_merging(base, changes, merged):
    before = repr(base)
    assert merge(base, changes) == merged
    assert repr(base) == before


def described(path: str = "", value=None, baseline=None) -> Description:
    return parse_table("t", content(path, value)).row("a").describe("fast", baseline)


def test_the_hash_is_this_one():
    # It names run folders: a change here orphans the runs that people have.
    assert described().digest == "a82dcb42807d325eb3f86c00224ff8e85665ff7d73e724c575d4debde6795c8d"


def test_the_hash_ignores_the_order_of_keys_and_how_a_number_is_written():
    given = described()
    backwards = replace(given, sections=_reversed(given.sections))
    assert list(backwards.sections) != list(given.sections) and backwards.digest == given.digest
    assert described("base.conditional.kappa", 5).digest == given.digest
    assert described("base.marginal", {"kind": "uniform.Uniform"}).digest == given.digest


def _reversed(value):
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(list(value))}
    return value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("title", "x"),
        ("seeds", [7]),
        ("row.0.name", "x"),
        ("row.0.notes", ["x"]),
        ("row.0.reported", []),
        ("base.recipes.fast.notes", ["x"]),
        ("base.recipes.fast.supervised.train", {"steps": 9}),
        ("row.1.conditional", {"kappa": 9.0}),
    ],
)
def test_the_hash_ignores_what_does_not_move_a_number(path, value):
    assert described(path, value).digest == described().digest


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("base.space.dim", 4),
        ("base.conditional.kappa", 5.000001),
        ("base.mixing.pool", 51),
        ("base.world_seed", 0),
        ("base.evaluation", 4095),
        ("base.metrics", ["correlation.MCC", "linear.LinearR2"]),
        ("base.recipes.fast.encoder.widths", [8, 8]),
        ("base.recipes.fast.encoder.odd", True),
        ("base.recipes.fast.loss.score.tau", 0.3),
        ("base.recipes.fast.train.steps", 3),
        ("row.0.conditional", {"kappa": 9.0}),
    ],
)
def test_the_hash_sees_what_does(path, value):
    assert described(path, value).digest != described().digest


def test_baselines_have_hashes_of_their_own():
    digests = {described(baseline=baseline).digest for baseline in (None, "identity", "supervised")}
    assert len(digests) == 3


def test_true_is_not_one():
    given = described("base.recipes.fast.encoder.odd", True)
    assert given.digest != described("base.recipes.fast.encoder.odd", 1).digest
    assert given.canonical()["encoder"]["odd"] is True
