import re
import sys

import pytest
import torch

from noumena import streams
from noumena.metrics import MCC, AngleError, LinearR2
from noumena.pairs.base import AbstractPairSource
from noumena.training import SGD, Alone, Devices, Evaluation, Muon, train
from tests.training import processes


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("gpu",), ValueError, "`device` must be 'cpu', 'cuda', one such as 'cuda:1', 'mps' or 'auto'; got 'gpu'."),
        (("cuda:x",), ValueError, "got 'cuda:x'"),
        (("meta",), ValueError, "got 'meta'"),
        (("cpu:0", 2), ValueError, "`device` must be 'cpu' or 'cuda' for 2 processes"),
        (("auto", 0), ValueError, "`processes` must be at least 1, got 0."),
        (("auto", 1.5), TypeError, "`processes` must be a whole number"),
    ],
)
def test_wrong_devices_are_refused(unchecked_shapes, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Devices(*arguments)


@pytest.mark.parametrize(
    ("gpus", "arguments", "message"),
    [
        (0, ("cuda",), "`device` cannot be 'cuda' here: that takes 1 of kind cuda, and torch finds 0"),
        (1, ("cuda:1",), "that takes 2 of kind cuda, and torch finds 1"),
        (2, ("cuda", 3), "cannot be 'cuda' for 3 processes here: that takes 3 of kind cuda, and torch finds 2"),
        (2, ("cuda:1", 2), "each of which takes one GPU of its own; got 'cuda:1'"),
    ],
)
def test_what_the_machine_lacks_is_refused(monkeypatch, gpus, arguments, message):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    with pytest.raises(ValueError, match=re.escape(message)):
        Devices(*arguments)


@pytest.mark.parametrize(("gpu", "expected"), [(True, "cuda"), (False, "cpu")])
def test_auto_prefers_a_gpu_and_says_what_it_took(monkeypatch, gpu, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: int(gpu))
    assert Devices().device == expected


def test_several_processes_name_the_extra_that_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    assert Devices("cpu").launch(lambda fabric, x: (fabric, x), 7) == (Alone(torch.device("cpu")), 7)
    with pytest.raises(ModuleNotFoundError, match=re.escape("`pip install noumena[fabric]`")):
        Devices("cpu", 2)


def test_work_that_cannot_be_sent_is_refused():
    pytest.importorskip("lightning_fabric")
    with pytest.raises(TypeError, match="`work` must be a function of a module"):
        Devices("cpu", 2).launch(lambda fabric: None)


class Careless(AbstractPairSource):
    """Makes a tensor without saying where."""

    def __init__(self, source):
        self.source = source

    def _draw(self, n, generator, dtype):
        batch = self.source.draw(n, generator, dtype)
        return type(batch)(batch.x + torch.zeros(n, 1), batch.x_pos)


def trained(case, source=None):
    """Training and measurement, on the CPU, while tensors made without a device land where nothing can be computed."""
    own, encoder, loss, options = processes.parts(case, gather=False, seed=3)
    rng, source = streams(3), source or own
    # Adam keeps its count of steps on torch's default device, so it stays out of this.
    options |= {"optimizer": Muon(0.05, rest=SGD(0.1)), "generator": rng.pairs, "precision": "bf16"}
    measure = Evaluation(own, [LinearR2(), MCC(), AngleError()], 63, rng.eval)
    with torch.device("meta"):
        return list(train(source, encoder, loss, measure=measure, **options))


@pytest.mark.parametrize("case", processes.CASES)
def test_nothing_is_made_on_the_default_device(case):
    assert len(trained(case)) == 3


def test_what_is_made_on_the_default_device_is_caught():
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        trained("gradient descent", Careless(processes.WORLD))
