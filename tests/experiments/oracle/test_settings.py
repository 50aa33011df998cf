"""What is drawn: valid settings of every kind, decided by their seed alone."""

import pytest

from noumena.experiments.build import build, check
from noumena.experiments.oracle.judge import predict
from noumena.experiments.oracle.settings import FIRST_SEED, KINDS, kind, runs, seed_of, table
from noumena.theory.verdicts import Maps
from noumena.training import train


@pytest.fixture(scope="module")
def drawn():
    return table(range(FIRST_SEED, FIRST_SEED + 200))


@pytest.fixture(scope="module")
def predicted(drawn):
    return [predict(row) for row in drawn.rows]


def test_every_kind_of_setting_and_of_verdict_is_drawn(predicted):
    kinds = [one.kind for one in predicted]
    assert set(kinds) == set(KINDS) and min(map(kinds.count, KINDS)) >= 10
    classes = {one.maps for one in predicted}
    assert classes == set(Maps) - {Maps.IDENTITY}  # the identity is what regression finds, which is shown the latents
    assert {one.speaks for one in predicted} == {True, False}
    for metric in ("linear_r2", "mcc", "angle_error"):
        assert {getattr(one.levels, metric) for one in predicted} == {"high", "low", None}
    assert {one.levels.block_r2 for one in predicted} == {"high", None}


def test_the_stated_ranges_are_covered(drawn):
    worlds = [row.world for row in drawn.rows]
    assert {world["space"]["kind"] for world in worlds} == {"sphere.Sphere", "box.Box", "euclidean.Euclidean"}
    assert {world["space"]["dim"] for world in worlds} == {3, 4, 5, 6}
    assert {world["mixing"]["kind"] for world in worlds} == {
        "identity.Identity",
        "linear.InjectiveLinear",
        "spiral.Spiral",
        "mlp.InvertibleMLP",
    }
    assert {world["conditional"].get("p") for world in worlds} >= {1, 2, 3}
    assert {world["conditional"].get("fixed") for world in worlds} >= {0, 1, 2, 3, 4, 5}
    assert {world["conditional"].get("concentration") for world in worlds} >= {"exact", "published"}
    kept = [world for world in worlds if world["conditional"].get("fixed")]
    assert all(world["conditional"]["fixed"] < world["space"]["dim"] for world in kept)


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_every_kind_takes_a_step(seed):
    small = table([seed])
    (task,) = runs(small, "nowhere")
    assert task.seed == seed == seed_of(small.rows[0]) and kind(seed) in small.rows[0].name
    made = build(task.description, seed)
    assert made.loss is not None and made.training is not None
    options = {**made.training, "steps": 1, "generator": made.streams.pairs, "measure": made.measure}
    (record,) = train(made.source, made.encoder, made.loss, **options)
    assert abs(record.loss) < 100 and {"linear_r2", "mcc"} <= record.metrics.keys()


def test_the_tables_own_checks_pass():
    check(table(range(3)))


def test_a_seed_decides_its_setting_whatever_is_drawn_beside_it():
    alone, among = table([7]).rows[0], table(range(5, 9)).rows[2]
    assert alone.describe("fast").digest == among.describe("fast").digest
    assert len({row.describe("fast").digest for row in table(range(0, 20 * len(KINDS), len(KINDS))).rows}) == 20
