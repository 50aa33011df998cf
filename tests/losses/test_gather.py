"""Every loss with `gather` equals one process on the whole batch, in groups of one, two and four processes."""

import json

import pytest
import torch

from noumena.losses.gather import Gather
from tests.losses import processes


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """World -> for each process the errors of each case."""
    folder = tmp_path_factory.mktemp("processes")
    torch.multiprocessing.spawn(processes.worker, args=(str(folder),), nprocs=4)
    processes.run(1, 0, str(folder))
    return {
        world: [json.loads((folder / f"{world}-{rank}.json").read_text()) for rank in range(world)]
        for world in (1, 2, 4)
    }


@pytest.mark.parametrize("world", [1, 2, 4])
@pytest.mark.parametrize("case", [*processes.CASES, "in batch: both, both, wrapped", "ensemble, wrapped"])
def test_the_mean_over_processes_is_the_whole_batch(found, case, world):
    """Loss, anchors' losses, parts, and gradients of encoder, precision, importance and temperature."""
    for errors in found[world]:
        assert len(errors[case]) >= 5
        assert max(errors[case].values()) < 1e-12, errors[case]


@pytest.mark.parametrize("mutant", ["local_slice", "divided"])
@pytest.mark.parametrize("world", [2, 4])
@pytest.mark.parametrize("case", ["in batch: both, both", "ensemble"])
def test_other_ways_to_hand_gradients_back_are_caught(found, case, world, mutant):
    errors = found[world][0][f"{case}, {mutant}"]
    assert errors["loss"] < 1e-12  # the value alone would not tell
    assert errors["encoder.weight"] > 1e-3


def test_processes_wait_twice(found):
    assert [found[world][0]["exchanges"] for world in (1, 2, 4)] == [0, 2, 2]


def test_without_a_group_nothing_is_gathered(generator):
    h = torch.randn(5, 3, generator=generator)
    gather = Gather(True)
    assert gather(h) is h and gather.offset(h) == 0 and gather.mean_scale(h) == pytest.approx(0.2)
