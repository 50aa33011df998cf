"""Runs end with the same numbers wherever they happen, and however often they are killed on the way."""

import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace

import pytest

from noumena.experiments.folder import CHECKPOINT, OUTCOME, RECORDS, SAMPLE, outcome, records
from noumena.experiments.place import each
from noumena.experiments.run import perform, tasks
from noumena.experiments.spec import load_table


def chosen(table_file, out, **options):
    return tasks(load_table(table_file), recipe="fast", seeds=[0, 1], out=str(out), **options)


def numbers(outcomes):
    """All that a run decides: not how long it took."""
    return {(one.row, one.baseline, one.seed): (one.loss, one.metrics, one.steps) for one in outcomes}


def test_a_run_leaves_a_whole_folder(table_file, tmp_path):
    (task, *_) = chosen(table_file, tmp_path / "runs")
    found = perform(task)
    assert found.metrics.keys() == {"linear_r2", "angle_error"} and found.steps == 60
    assert {path.name for path in task.folder.iterdir()} == {"description.json", RECORDS, CHECKPOINT, SAMPLE, OUTCOME}
    assert [record.step for record in records(task.folder)] == [20, 40, 60]
    description = json.loads((task.folder / "description.json").read_text())
    assert description["reported"][0]["mean"] == 0.9 and description["seed"] == 0
    assert found.digest == description["digest"] and task.folder.name.endswith(found.digest[:12])


def test_a_finished_run_is_skipped(table_file, tmp_path):
    (task, *_) = chosen(table_file, tmp_path / "runs")
    first = perform(task)
    (task.folder / RECORDS).write_text("not read again")
    assert perform(task) == first


def test_baselines_stand_beside_their_row(table_file, tmp_path):
    runs = chosen(table_file, tmp_path / "runs", rows=["far"])
    assert [(task.description.baseline, task.seed) for task in runs] == [
        (None, 0),
        ("identity", 0),
        (None, 1),
        ("identity", 1),
    ]
    identity = perform(runs[1])
    assert identity.loss is None and identity.steps == 0 and 0 < identity.metrics["linear_r2"] < 1
    assert not chosen(table_file, tmp_path, baselines=False)[0].description.baseline


def test_places_give_the_same_numbers(table_file, tmp_path):
    here = numbers(each("local", perform, chosen(table_file, tmp_path / "here")))
    there = numbers(each("workers", perform, chosen(table_file, tmp_path / "there"), workers=2))
    assert here == there


def test_another_setting_is_another_folder(table_file, tmp_path):
    before = chosen(table_file, tmp_path)[0].folder
    table_file.write_text(table_file.read_text().replace("kappa = 20.0", "kappa = 21.0"))
    assert chosen(table_file, tmp_path)[0].folder != before
    assert chosen(table_file, tmp_path)[2].folder.parent.parent.name == "far"


def test_a_record_that_was_being_written_is_left_out(table_file, tmp_path):
    (task, *_) = chosen(table_file, tmp_path / "runs")
    perform(task)
    whole = records(task.folder)
    with open(task.folder / RECORDS, "a") as file:
        file.write('{"step": 80, "seco')
    assert records(task.folder) == whole


def test_a_half_written_outcome_is_never_there(table_file, tmp_path, monkeypatch):
    (task, *_) = chosen(table_file, tmp_path / "runs")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        perform(task)
    assert outcome(task.folder) is None


@pytest.mark.slow
def test_killed_twenty_times_a_table_ends_as_if_undisturbed(table_file, tmp_path):
    # Long enough to be caught in the act: 600 steps a row.
    table_file.write_text(table_file.read_text().replace("steps = 60", "steps = 600"))
    undisturbed = chosen(table_file, tmp_path / "calm", baselines=False)[:3]
    expected = numbers(map(perform, undisturbed))
    disturbed = [replace(task, out=str(tmp_path / "killed")) for task in undisturbed]
    context = multiprocessing.get_context("spawn")
    kills = 0
    while kills < 20:
        process = context.Process(target=_perform_all, args=(disturbed,))
        process.start()
        # Moments spread over start-up, training and writing; fixed, so that a failure can be repeated.
        time.sleep(1.5 + 0.173 * (kills * 7 % 20))
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        kills += 1
    assert numbers(map(perform, disturbed)) == expected
    for calm, killed in zip(undisturbed, disturbed, strict=True):
        kept = [[(r.step, r.loss, r.metrics) for r in records(task.folder)] for task in (calm, killed)]
        assert kept[0] == kept[1]


def _perform_all(disturbed):
    for task in disturbed:
        perform(task)
