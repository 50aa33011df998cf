"""What a row may ask beyond training and metrics: a stage before, another world to be measured in, diagnostics,
milestones, and numbers that need no training."""

import json
import re
from pathlib import Path

import pytest

from noumena.experiments.build import build, check, milestones
from noumena.experiments.folder import BEFORE, CHECKPOINT, OUTCOME, RECORDS, records
from noumena.experiments.run import perform, tasks
from noumena.experiments.spec import parse_table
from tests.experiments.tables import content


def runs(given, out: Path, seed: int = 3):
    return tasks(parse_table("t", given), recipe="fast", seeds=[seed], out=str(out), rows=["a"], baselines=False)


def with_stage(**stage):
    return content("base.recipes.fast.pretrain", {"train": {"steps": 5}, **stage})


def test_a_stage_before_trains_the_same_encoder(tmp_path):
    (task,) = runs(with_stage(), tmp_path)
    found = perform(task)
    assert found.steps == 2
    assert [record.step for record in records(task.folder, BEFORE)] == [5]
    assert (task.folder / f"{BEFORE}{CHECKPOINT}").is_file()
    (alone,) = runs(content(), tmp_path)
    assert perform(alone).loss != found.loss
    described = task.description.sections["pretrain"]
    assert described["loss"] == task.description.sections["loss"] and described["train"]["batch_size"] == 8


@pytest.mark.parametrize("lost", [(OUTCOME,), (OUTCOME, CHECKPOINT), (OUTCOME, CHECKPOINT, RECORDS)])
def test_a_run_of_two_stages_goes_on_where_it_was_left(tmp_path, lost):
    (task,) = runs(with_stage(), tmp_path)
    first = perform(task)
    for name in lost:
        (task.folder / name).unlink()
    again = perform(task)
    assert (again.loss, again.metrics, again.fresh_loss) == (first.loss, first.metrics, first.fresh_loss)


def test_scores_can_be_measured_in_another_world(tmp_path):
    given = content("base.test", {"conditional": {"kind": "vmf.VonMisesFisher", "kappa": 500.0}})
    given["base"]["diagnostics"] = ["tests.experiments.components.PairDistance"]
    found = perform(runs(given, tmp_path)[0])
    assert found.metrics["distance"] < 0.1 * found.metrics["trained_distance"]
    assert found.curves["apart"]["y"] == [found.metrics["distance"], found.metrics["trained_distance"]]


def test_milestones_are_the_first_records_that_reach_a_level(tmp_path):
    given = content("base.milestones", {"metric": "linear_r2", "at": [0.5, 0.9]})
    description = parse_table("t", given).row("a").describe("fast")
    measured = [{"linear_r2": value} for value in (0.1, 0.6, 0.4, 0.8)]
    assert milestones(description, measured) == {"steps_to_0.5": 1, "steps_to_0.9": None}
    given["base"]["milestones"]["at"] = [-10.0, 2.0]
    found = perform(runs(given, tmp_path)[0])
    assert found.metrics["steps_to_-10"] == 2 and "steps_to_2" not in found.metrics


def test_a_computation_needs_no_learner(tmp_path):
    given = content("base.recipes.fast", {"compute": {"kind": "tests.experiments.components.Dimension", "power": 2}})
    del given["row"][0]["baselines"], given["base"]["metrics"]
    given["row"][0]["reported"] = [{"metric": "dimension", "mean": 9, "source": ""}]
    check(parse_table("t", given))
    (task,) = runs(given, tmp_path)
    found = perform(task)
    assert found.metrics["dimension"] == 9 and found.loss is None and found.steps == 0
    assert perform(runs(given, tmp_path / "again")[0]).metrics == found.metrics
    assert perform(runs(given, tmp_path / "other", seed=4)[0]).metrics["draw"] != found.metrics["draw"]
    assert not parse_table("t", given).row("a").baselines_of("fast")


def test_the_fit_of_the_loss_stands_beside_its_floor(tmp_path):
    (task,) = runs(content(), tmp_path)
    outcome = json.loads((perform(task), task.folder / OUTCOME)[1].read_text())
    assert outcome["fresh_loss"]["value"] > outcome["floor"]["value"] > 0
    given = content("base.recipes.fast.loss", "cca.CovarianceContrast")
    assert perform(runs(given, tmp_path)[0]).floor is None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("base.recipes.fast.pretrain", {"trian": {}}, "did you mean `train`?"),
        (
            "base.recipes.fast.pretrain",
            {"train": {"annealing": {"start": 1.0, "end": 0.1, "what": "x"}}},
            "`pretrain`:",
        ),
        ("base.milestones", {"metric": "linear_r2", "at": []}, "at least one level"),
        ("base.milestones", {"metric": "linear_r3", "at": [0.5]}, "did you mean `linear_r2`?"),
        ("base.test", {"mixing": "identity.Identity"}, "t, base, test: unknown key `mixing`"),
        ("base.diagnostics", ["linear.LinearR2"], "no class `linear.LinearR2`"),
        ("base.sweep", {"name": "kappa"}, "`value` must be given"),
        ("base.recipes.fast.compute", {"kind": "floor.Flor"}, "no class `floor.Flor`"),
    ],
)
def test_what_does_not_fit_is_refused(unchecked_shapes, path, value, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check(parse_table("t", content(path, value)))


def test_building_a_computation_is_refused_as_an_experiment():
    given = content("base.recipes.fast", {"compute": "tests.experiments.components.Dimension"})
    del given["row"][0]["baselines"]
    with pytest.raises(ValueError, match="computed and not trained"):
        build(parse_table("t", given).row("a").describe("fast"), 0)
