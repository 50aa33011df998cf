"""Runs that can be stopped and continued, and what is printed of them."""

import json
from dataclasses import replace

import pytest

from noumena.cli.bench import run_bench
from noumena.experiments.description import merge
from noumena.experiments.folder import OUTCOME
from noumena.experiments.oracle import study
from noumena.experiments.oracle.study import Study
from noumena.training import Diverged


@pytest.fixture
def short(monkeypatch):
    """Runs of three steps."""
    whole = study.runs

    def shortened(drawn, out):
        changes = {"train": {"steps": 3, "batch_size": 64}, "evaluation": 200}
        for task in whole(drawn, out):
            sections = merge(task.description.sections, changes)
            yield replace(task, description=replace(task.description, sections=sections))

    monkeypatch.setattr(study, "runs", lambda drawn, out: list(shortened(drawn, out)))


def test_a_stopped_study_goes_on(short, tmp_path):
    seeds, out = range(3), str(tmp_path)
    first = next(Study(seeds, out).run())
    (written,) = tmp_path.rglob(OUTCOME)
    before = written.stat().st_mtime_ns
    again = Study(seeds, out)
    judged = list(again.run())
    assert [one.prediction.seed for one in judged] == [0, 1, 2] and judged[0] == first
    assert written.stat().st_mtime_ns == before and len(list(tmp_path.rglob(OUTCOME))) == 3
    assert [one.to_dict() for one in Study(seeds, out).run()] == [one.to_dict() for one in judged]


def test_a_run_that_diverges_ends_no_other(short, tmp_path, monkeypatch):
    perform = study.perform

    def diverging(task):
        if task.seed == 0:
            raise Diverged(1, "the loss is NaN", "Lower the rate.")
        return perform(task)

    monkeypatch.setattr(study, "perform", diverging)
    first, second = Study(range(2), str(tmp_path)).run()
    assert first.agrees is False and "NaN" in first.failure and not second.failure


def test_what_is_printed(short, tmp_path, capsys):
    run_bench(["oracle"], None, 2, 1003, str(tmp_path), "local", True)
    found = json.loads(capsys.readouterr().out)["oracle"]
    assert [one["seed"] for one in found["settings"]] == [1003, 1004]
    assert found["thresholds"] == {"linear_r2": 0.95, "mcc": 0.95, "block_r2": 0.95, "angle_error": 0.05}
    everything, *parts = found["agreement"]
    assert everything["of"] == sum(part["of"] for part in parts) > 0 and len(everything["interval"]) == 2
    assert sum(one["count"] for one in found["confusion"]) == sum(len(one["metrics"]) for one in found["settings"])
    run_bench(["oracle"], None, 2, 1003, str(tmp_path), "local", False)
    printed = capsys.readouterr().out
    wrong = [one for one in found["settings"] if one["agrees"] is False]
    assert "Agreement" in printed and printed.count("noumena bench oracle --settings 1") == len(wrong) > 0


def test_wrong_calls(tmp_path):
    with pytest.raises(ValueError, match="`--place` must be"):
        run_bench(["oracle"], None, 1, 0, str(tmp_path), "cluster", True)
    with pytest.raises(ValueError, match="no benchmark `oracel`.*oracle"):
        run_bench(["oracel"], None, 1, 0, str(tmp_path), "local", True)
