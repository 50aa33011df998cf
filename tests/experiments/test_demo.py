"""The story: which act recovers the latents, which collapses, and that every act can be built."""

import pytest

from noumena.experiments.build import check
from noumena.experiments.demo import ANGLE, R2, acts, sentence, table
from noumena.experiments.run import perform


def run(act: str, seed: int, out, steps: int | None = None):
    (task,) = [
        task for task in acts(seed, str(out), steps) if (task.description.row, task.description.baseline) == (act, None)
    ]
    return perform(task)


def test_the_acts_can_be_built():
    check(table())
    assert [row.id for row in table().rows] == ["holds", "collapse", "corrected", "bias", "both"]
    first, *others = table().rows
    assert all(row.world["conditional"]["fixed"] == 1 for row in others) and first.world["conditional"]["kappa"] > 3
    learners = [row.recipes["fast"] for row in table().rows[:2]]
    assert learners[0] == learners[1], "the collapse is the world's, not the learner's"
    assert table().rows[2].recipes["fast"]["encoder"] == learners[0]["encoder"]


def test_steps_are_those_of_every_stage(tmp_path):
    for row in table(7).rows:
        recipe = row.recipes["fast"]
        assert recipe["train"]["steps"] == 7 and recipe.get("pretrain", recipe)["train"]["steps"] == 7
    with pytest.raises(ValueError, match="`steps` must be"):
        table(0)
    with pytest.raises(ValueError, match="`seed` must be"):
        acts(-1, str(tmp_path))


def test_a_linear_encoder_lands_on_the_shrink_map(tmp_path):
    # The best map of its family has R² .9821 and angle error .0864 (quadrature).
    found = run("bias", 1, tmp_path, 600)
    assert found.metrics[R2] == pytest.approx(0.9821, abs=0.004)
    assert found.metrics[ANGLE] == pytest.approx(0.0864, abs=0.01)
    assert "shrink map" in sentence("bias", found.metrics)


def test_the_same_encoder_with_the_corrected_loss_recovers_the_latents(tmp_path):
    found = run("both", 1, tmp_path, 600)
    assert found.metrics[R2] > 0.999 and found.metrics[ANGLE] < 0.01
    assert "in their order" in sentence("both", found.metrics)


@pytest.mark.slow
def test_recovery_collapse_and_restoration(tmp_path):
    holds, collapse, corrected = (run(act, 1, tmp_path) for act in ("holds", "collapse", "corrected"))
    assert holds.metrics[R2] > 0.998 and collapse.metrics[R2] < 0.3 and corrected.metrics[R2] > 0.98
    assert holds.fresh_loss and holds.floor and holds.fresh_loss["value"] > holds.floor["value"] - 0.02


@pytest.mark.parametrize(
    ("act", "r2", "angle", "words"),
    [
        ("holds", 0.9996, 0.007, "in their order"),
        ("holds", 0.67, 0.13, "not recovered"),
        ("collapse", 0.02, 0.33, "fixed latent alone"),
        ("collapse", 0.93, 0.1, "has not collapsed"),
        ("corrected", 0.667, 0.13, "a fold"),
        ("corrected", 0.99, 0.03, "in their order"),
        ("bias", 0.98, 0.086, "shrink map"),
    ],
)
def test_sentences_say_what_was_measured(act, r2, angle, words):
    told = sentence(act, {R2: r2, ANGLE: angle})
    assert words in told and f"{r2:.4f}" in told and f"{angle:.4f}" in told
