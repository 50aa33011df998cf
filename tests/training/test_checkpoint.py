"""Killed runs end as undisturbed ones, bit for bit."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from noumena.training import Adam, Checkpoint, Record, Target
from tests.training.interrupted import CASES, STEPS, Killed, Run, go_on


def read(log):
    """Records without their times, which no two runs share."""
    return [replace(Record.from_json(line), seconds=0.0, core_seconds=0.0) for line in log.read_text().splitlines()]


def undisturbed(case, tmp_path):
    run = Run(case)
    go_on(run, tmp_path / "undisturbed.jsonl")
    return run.parameters(), read(tmp_path / "undisturbed.jsonl")


def assert_same(run, log, expected):
    parameters, records = expected
    assert all(torch.equal(one, other) for one, other in zip(run.parameters(), parameters, strict=True))
    assert read(log) == records


@pytest.mark.parametrize("case", CASES)
def test_a_killed_run_ends_as_if_undisturbed(case, tmp_path):
    """Killed again and again, before the first step, between records, and while it is measured."""
    path, log = tmp_path / "run.safetensors", tmp_path / "records.jsonl"
    for fatal in (1, 3, 2, 4):
        with pytest.raises(Killed):
            go_on(Run(case, path, fatal), log)
    run = Run(case, path)
    go_on(run, log)
    assert_same(run, log, undisturbed(case, tmp_path))


def test_a_change_of_one_bit_would_be_seen(tmp_path):
    """The mutant: a run whose stream starts elsewhere."""
    expected = undisturbed("adam", tmp_path)
    run = Run("adam", batch_size=15)
    go_on(run, tmp_path / "records.jsonl")
    with pytest.raises(AssertionError):
        assert_same(run, tmp_path / "records.jsonl", expected)


@pytest.mark.parametrize("kills", [[9], pytest.param([2, 4, 1, 3, 4, 2, 1, 3], marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", ["learned precision"])
def test_a_process_killed_by_the_system_goes_on(case, kills, tmp_path):
    log = tmp_path / "records.jsonl"
    root = Path(__file__).parents[2]
    for fatal in kills:
        command = [sys.executable, "-m", "tests.training.interrupted", case, str(tmp_path), str(fatal)]
        done = subprocess.run(command, cwd=root, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    run = Run(case, tmp_path / "run.safetensors")
    go_on(run, log)
    assert_same(run, log, undisturbed(case, tmp_path))


def test_a_kill_while_saving_leaves_the_file_before(tmp_path, monkeypatch):
    path, log = tmp_path / "run.safetensors", tmp_path / "records.jsonl"
    renamed, rename = [], os.replace

    def die_at_the_third(source, target):
        renamed.append(target)
        if len(renamed) == 3:  # step 3, whose record is out
            raise Killed
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", die_at_the_third)
        with pytest.raises(Killed):
            go_on(Run("muon", path), log)
    assert Checkpoint(path).step() == 2
    assert [record.step for record in read(log)] == [3]
    (tmp_path / ".run.safetensors.tmp").write_bytes(path.read_bytes()[:100])  # as a killed process leaves it
    run = Run("muon", path)
    go_on(run, log)
    assert_same(run, log, undisturbed("muon", tmp_path))
    assert {file.name for file in tmp_path.iterdir()} == {"run.safetensors", "records.jsonl", "undisturbed.jsonl"}


def test_a_finished_run_yields_nothing_more_and_is_whole(tmp_path):
    path = tmp_path / "run.safetensors"
    first = Run("average", path, seconds=1e9)
    assert [record.step for record in first.records] == [3, 6, 9, STEPS]
    again = Run("average", path)
    assert list(again.records) == []
    assert all(torch.equal(one, other) for one, other in zip(first.parameters(), again.parameters(), strict=True))


def test_a_run_that_reached_its_target_stays_finished(tmp_path):
    changes = {"until": Target("linear_r2", at_least=-1e9), "path": tmp_path / "run.safetensors"}
    assert [record.step for record in Run("adam", **changes).records] == [3]
    assert list(Run("adam", **changes).records) == []


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        ({"steps": 12}, "its `steps` is 11, not 12"),
        ({"optimizer": Adam(2e-2)}, "its `optimizer` is"),
        ({"norm": "batch"}, "`encoder/layers.* is missing there"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(changes, pattern, tmp_path):
    path = tmp_path / "run.safetensors"
    list(Run("adam", path).records)
    with pytest.raises(ValueError, match=pattern):
        Run("adam", path, **changes)


def damaged(data: bytes, kind: str) -> bytes:
    match kind:
        case "half":
            return data[: len(data) // 2]
        case "empty":
            return b""
        case "a bit":
            return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
        case "text":
            return b"a file that the user keeps here" * 9
    return safetensors.torch.save({"weight": torch.zeros(2)})


@pytest.mark.parametrize("kind", ["half", "empty", "a bit", "text", "another tool's"])
def test_a_broken_or_foreign_file_is_refused_in_one_line(kind, tmp_path):
    path = tmp_path / "run.safetensors"
    list(Run("adam", path).records)
    path.write_bytes(damaged(path.read_bytes(), kind))
    with pytest.raises(ValueError, match="`path` must be a (whole )?checkpoint") as caught:
        Run("adam", path)
    assert "\n" not in str(caught.value)


def test_a_changed_note_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    list(Run("adam", path).records)
    path.write_bytes(path.read_bytes().replace(b'\\"step\\": 11', b'\\"step\\": 12'))
    with pytest.raises(ValueError, match="digest"):
        Checkpoint(path).step()


def test_tensors_keep_every_bit_dtype_and_alias(tmp_path):
    checkpoint = Checkpoint(tmp_path / "file")
    shared = torch.tensor([[0.1, -0.0], [float("inf"), 1e-45]])
    tensors = {"a": shared, "b": shared.mT, "c": torch.tensor(3), "d": torch.zeros(0), "e": shared.bfloat16()}
    checkpoint.write(tensors, {"x": 0.1})
    read_tensors, notes = checkpoint.read()
    assert notes == {"x": 0.1}
    for name, tensor in tensors.items():
        assert read_tensors[name].dtype == tensor.dtype
        assert torch.equal(read_tensors[name], tensor)


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(ValueError, match="`path` must lie in a folder that exists"):
        Checkpoint(tmp_path / "missing" / "file")
    assert Checkpoint(tmp_path / "file").step() == 0
