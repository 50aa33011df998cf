"""Rows trained in several processes: a run of its own, refused where it cannot be meant, and safe to kill."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch

from noumena import streams
from noumena.experiments import build as building
from noumena.experiments.build import build
from noumena.experiments.divided import check_divided, divided, stages
from noumena.experiments.folder import DESCRIPTION, OUTCOME, records
from noumena.experiments.run import check_tasks, perform, tasks
from noumena.experiments.spec import load_table, parse_table
from noumena.training import train
from tests.experiments.tables import content
from tests.training.processes import Joined

ENSEMBLE = {"kind": "ensemble.Ensemble", "losses": [{"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dot"}}]}
FIXED = {"kind": "fixed_content.FixedContent", "kappa": 5.0, "fixed": 1}
GROUPS = {"kind": "grouped.GroupedSupport", "group_size": 4}


def described(path: str = "", value=None, baseline=None, processes=2):
    return divided(parse_table("t", content(path, value)).row("a").describe("fast", baseline), processes)


def runs(table_file, out, processes=1, **options):
    """The first row without its baselines."""
    table = load_table(table_file)
    options = {"rows": ["near"], "baselines": False, **options}
    return tasks(table, recipe="fast", seeds=[0], out=str(out), processes=processes, **options)


@pytest.fixture
def extra():
    pytest.importorskip("lightning_fabric")


def test_the_number_of_processes_is_part_of_what_decides_the_numbers(table_file, tmp_path, extra):
    one, two, three = (runs(table_file, tmp_path, processes)[0] for processes in (1, 2, 3))
    assert len({task.description.digest for task in (one, two, three)}) == 3
    assert len({task.folder for task in (one, two, three)}) == 3
    assert (one.processes, two.processes, three.processes) == (1, 2, 3)
    assert "processes" not in one.description.sections  # finished runs of one process keep their folders


def test_what_is_not_trained_is_not_divided(table_file, tmp_path, extra):
    identities = [runs(table_file, tmp_path, processes, baselines=True)[1] for processes in (1, 2)]
    assert identities[0] == identities[1] and identities[0].description.baseline == "identity"


@pytest.mark.parametrize("processes", [1, 2])
def test_losses_gather_where_they_must(processes):
    assert build(described(processes=processes), 3).loss.gather == (processes > 1)
    inner = build(described("base.recipes.fast.loss", ENSEMBLE, processes=processes), 3).loss
    assert inner.gather == (processes > 1) and inner.losses[0].gather == (processes > 1)


def test_stages_come_in_their_order():
    made = build(described("base.recipes.fast.pretrain", {"train": {"steps": 5}}), 3)
    assert list(stages(made)) == ["pretrain", "train"] and all(one.loss.gather for one in stages(made).values())
    assert list(stages(build(described(), 3))) == ["train"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("base.recipes.fast.loss.gather", False, "build it with `gather=True`"),
        ("base.recipes.fast.loss", {"kind": "tests.experiments.components.Nearness"}, "`Nearness` does not"),
        ("base.recipes.fast.train.batch_size", 1, "`batch_size` must give each of 2 processes at least 1"),
    ],
)
def test_rows_that_processes_cannot_share_are_refused(path, value, message):
    with pytest.raises(ValueError, match=rf"t, row `a`.*, `train`, in 2 processes: .*{re.escape(message)}"):
        check_divided(described(path, value), 3)
    check_divided(described(path, value, processes=1), 3)


def test_groups_are_not_torn_apart():
    given = content("base.conditional", FIXED)
    given["base"]["recipes"]["fast"]["pairs"] = GROUPS
    description = parse_table("t", given).row("a").describe("fast")
    check_divided(divided(description, 2), 3)
    with pytest.raises(ValueError, match="`n` must be a multiple of the group size 4, got 2"):
        check_divided(divided(description, 3), 3)


def test_a_run_goes_on_where_it_was_begun(table_file, tmp_path):
    (task,) = runs(table_file, tmp_path)
    perform(task)
    finished = json.loads((task.folder / DESCRIPTION).read_text())
    assert finished["machine"] | {"threads": 1, "device": "cpu", "processes": 1} == finished["machine"]
    elsewhere = replace(task, device="cuda")
    assert perform(elsewhere) == perform(task)  # what is finished is not run again
    (task.folder / OUTCOME).unlink()
    for refused in (perform, lambda task: check_tasks([task])):
        with pytest.raises(ValueError, match="`device` must be 'cpu' for the run .* got 'cuda'"):
            refused(elsewhere)


def test_everything_is_built_on_the_device(monkeypatch):
    """No generator lives on the meta device, so its streams stay on the CPU here; what is moved is seen to move."""
    monkeypatch.setattr(building, "streams", lambda seed, device: streams(seed))
    loss = {"kind": "infonce.InfoNCE", "score": {"kind": "anisotropic.AnisotropicScore"}}
    made = build(described("base.recipes.fast.loss", loss), 3, "meta")
    tensors = [t for module in (made.encoder, made.loss) for t in (*module.parameters(), *module.buffers())]
    assert tensors and {tensor.device for tensor in tensors} == {torch.device("meta")}


@pytest.mark.slow
def test_two_processes_train_as_one_on_what_both_draw(table_file, tmp_path, extra):
    (task,) = runs(table_file, tmp_path, processes=2)
    found = perform(task)
    alone = build(divided(task.description, 1), 0)
    alone.loss.gather = False
    source = Joined(alone.source, 2, 1)
    measured = list(
        train(source, alone.encoder, alone.loss, **alone.training, generator=alone.streams.pairs, measure=alone.measure)
    )
    # float32, over sixty steps.
    assert found.loss == pytest.approx(measured[-1].loss, rel=1e-4)
    assert found.metrics == pytest.approx(measured[-1].metrics, rel=1e-3)
    assert [record.step for record in records(task.folder)] == [20, 40, 60]
    assert found.machine["processes"] == 2 and found.fresh_loss["negatives"] == pytest.approx(63.0)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_stopped_from_outside_nothing_is_lost_and_nothing_is_left(table_file, tmp_path, extra, kill):
    table_file.write_text(table_file.read_text().replace("steps = 60", "steps = 600"))
    expected = perform(runs(table_file, tmp_path / "calm", processes=2)[0])
    (task,) = runs(table_file, tmp_path / "killed", processes=2)
    arguments = ["run", str(table_file), "--row", "near", "--no-baselines", "--seeds", "1", "--processes", "2"]
    command = [sys.executable, "-m", "noumena", *arguments, "--out", task.out]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    while not records(task.folder) and started.poll() is None:
        time.sleep(0.05)
    os.kill(started.pid, kill)
    started.communicate()
    assert started.returncode == {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130}[kill]
    assert not (task.folder / OUTCOME).exists()
    found = perform(task)
    assert (found.loss, found.metrics, found.fresh_loss) == (expected.loss, expected.metrics, expected.fresh_loss)
    calm = runs(table_file, tmp_path / "calm", processes=2)[0]
    kept = [[(r.step, r.loss, r.metrics) for r in records(one.folder)] for one in (calm, task)]
    assert kept[0] == kept[1]
