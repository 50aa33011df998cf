"""Several processes train as one that is given all their draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from noumena import streams
from noumena.training import Adam, Alone, Devices, train
from noumena.training.together import shares
from tests.training import processes
from tests.training.test_engine import parameters, setup

WORLDS = [2, pytest.param(4, marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=WORLDS)
def found(request, tmp_path_factory):
    """How many processes, and what each found."""
    pytest.importorskip("lightning_fabric")
    world, folder = request.param, tmp_path_factory.mktemp("processes")
    assert Devices("cpu", world).launch(processes.work, str(folder)) == 0
    return world, [torch.load(folder / f"{world}-{rank}.pt") for rank in range(world)]


def distance(one, other):
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.parametrize("case", processes.CASES)
def test_processes_together_are_one_on_the_same_pairs(found, case):
    world, each = found
    expected, records = processes.alone(case, world)
    ended, handed_out = each[0]["exact"][case]
    # Rounding of float64 over eight steps: 2e-15 is seen.
    assert distance(ended, expected) < 1e-12
    assert [step for step, _, _ in handed_out] == [3, 6, 8]
    for (_, loss, parts), (_, expected_loss, expected_parts) in zip(handed_out, records, strict=True):
        assert loss == pytest.approx(expected_loss, abs=1e-12) and parts == pytest.approx(expected_parts, abs=1e-12)
    for other in each[1:]:
        assert distance(other["exact"][case][0], ended) == 0 and other["exact"][case][1] == []


@pytest.mark.parametrize("mutant", ["not gathered", "summed"])
def test_wrong_ways_to_train_together_are_caught(found, mutant):
    world, each = found
    expected, _ = processes.alone("gradient descent", world)
    assert distance(each[0]["mutants"][mutant][0], expected) > 1e-2


def test_bfloat16_means_what_it_means_alone(found):
    world, each = found
    half, records = processes.alone("gradient descent", world, dtype=torch.float32, precision="bf16")
    full, _ = processes.alone("gradient descent", world, dtype=torch.float32)
    ended, handed_out = each[0]["bf16"]
    # Each share's gradients are rounded to bfloat16 before they are summed: within what half precision moves a run by,
    # and far beyond the rounding of float32.
    assert distance(ended, half) < distance(full, half)
    assert distance(ended, full) > 1e-3
    assert handed_out[-1][1] == pytest.approx(records[-1][1], rel=2**-8)  # the spacing of bfloat16


def test_a_killed_run_of_several_ends_as_if_undisturbed(found):
    _, each = found
    for one in each:
        (calm, steps), (killed, killed_steps) = one["killed"]["calm"], one["killed"]["killed"]
        assert distance(calm, killed) == 0 and steps == killed_steps
        assert distance(calm, each[0]["killed"]["calm"][0]) == 0  # statistics of the batch among them
    assert each[0]["killed"]["calm"][1] == [3, 6, 8]


def test_the_first_process_alone_measures_and_decides(found):
    _, each = found
    assert each[0]["ends"] == {"left": [3], "measured by": [0], "reached": [3]}
    assert all(one["ends"] == {"left": [], "measured by": [], "reached": []} for one in each[1:])


def test_what_no_process_uses_is_not_moved(found):
    """AdamW would shrink a weight whose gradient is zero, and leaves one that has none."""
    for one in found[1]:
        assert torch.equal(one["unused"]["0/weight"], torch.ones(2, 2, dtype=torch.float64))


def test_what_cannot_be_meant_is_refused(found):
    world, each = found
    for one in each:
        assert f"`batch_size` must give each of {world} processes at least 1 " in one["refusals"]["share"]
        assert "build it with `gather=True`" in one["refusals"]["gather"]
        assert f"its `processes` is 1, not {world}" in one["refusals"]["checkpoint of one"]
        assert torch.isfinite(one["disbanded"])


def test_a_process_that_fails_says_why():
    pytest.importorskip("lightning_fabric")
    with pytest.raises(LookupError, match="a reason of its own") as caught:
        Devices("cpu", 2).launch(processes.fail)
    assert "in fail" in caught.value.__notes__[0]


@pytest.mark.slow
def test_a_process_that_is_killed_stops_all():
    pytest.importorskip("lightning_fabric")
    with pytest.raises(RuntimeError, match="process 1 of 2 was ended by SIGKILL.* run again"):
        Devices("cpu", 2).launch(processes.die)


def numbers(fabric=None, precision="full"):
    source, encoder, loss, options = setup()
    records = list(train(source, encoder, loss, fabric=fabric, precision=precision, **options))
    return parameters(encoder), [(record.step, record.loss, record.parts) for record in records]


def test_one_process_is_what_it_is_without_any():
    values, records = numbers()
    alone, same_records = Devices("cpu").launch(numbers)
    assert torch.equal(values, alone) and records == same_records


@pytest.mark.parametrize("precision", ["full", "bf16"])
def test_one_process_of_fabric_is_what_it_is_without_any(precision):
    fabric = pytest.importorskip("lightning_fabric").Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    values, records = numbers(fabric, precision)
    expected, expected_records = numbers(precision=precision)
    assert torch.equal(values, expected) and records == expected_records


@pytest.mark.parametrize(
    ("n", "world", "multiple", "expected"), [(18, 4, 1, [5, 5, 4, 4]), (27, 2, 3, [15, 12]), (4, 4, 1, [1, 1, 1, 1])]
)
def test_shares(n, world, multiple, expected):
    assert shares(n, world, multiple) == expected


def test_the_encoder_is_on_the_device_of_the_process():
    source, encoder, loss, options = setup()
    options |= {"optimizer": Adam(), "generator": streams(0).pairs}
    with pytest.raises(ValueError, match="`encoder` must be on the device of `fabric`, meta; got cpu"):
        train(source, encoder, loss, fabric=Alone(torch.device("meta")), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "bf16-mixed"}, 'pass `precision="bf16"` to `train`'),
        ({"devices": 2, "strategy": "ddp"}, "call `fabric.launch"),
        ({"devices": 2, "strategy": "fsdp", "accelerator": "auto"}, "whole encoder in every process"),
    ],
)
def test_a_fabric_that_cannot_be_meant_is_refused(options, message):
    lightning = pytest.importorskip("lightning_fabric")
    if options.get("strategy") == "fsdp":
        from lightning_fabric.strategies import FSDPStrategy

        fabric = lightning.Fabric(accelerator="cpu", devices=1)
        fabric._strategy = FSDPStrategy()
    else:
        fabric = lightning.Fabric(**{"accelerator": "cpu", "devices": 1, **options})
    source, encoder, loss, given = setup()
    with pytest.raises(ValueError, match=message):
        train(source, encoder, loss, fabric=fabric, **given)


def test_anything_else_is_no_fabric():
    pytest.importorskip("lightning_fabric")
    source, encoder, loss, options = setup()
    with pytest.raises(TypeError, match="`fabric` must be a `Fabric`, got `str`"):
        train(source, encoder, loss, fabric="cuda", **options)


@pytest.mark.parametrize("world", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_program_of_the_documentation_runs(world, tmp_path):
    if world > 1:
        pytest.importorskip("lightning_fabric")
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    (code,) = re.findall(r"```python\n(# train_together.py\n.*?)```", text, re.DOTALL)
    assert "processes=2" in code
    program = tmp_path / "train_together.py"
    program.write_text(code.replace("processes=2", f"processes={world}"))
    done = subprocess.run([sys.executable, "-W", "error", str(program)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    printed = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert [int(step) for step, _, _ in printed] == [100, 200, 300]
    assert float(printed[-1][1]) < float(printed[0][1])
