import numpy as np
import pytest
import torch

from noumena.data import InMemory
from noumena.pairs import Frames
from tests.contracts.pairs import PairSourceContract
from tests.statistics import ALARM, fits_counts

EPISODES = np.array([7] * 6 + [3] * 1 + [5] * 2 + [7] * 11)
LAST = np.array([5] * 6 + [6] + [8] * 2 + [19] * 11)


def table(**known) -> InMemory:
    n = len(EPISODES)
    known = {"factors": np.arange(n * 2.0).reshape(n, 2), "episodes": EPISODES} | known
    return InMemory(torch.arange(n, dtype=torch.uint8).reshape(n, 1, 1, 1).expand(n, 1, 2, 2), **known)


class TestFrames(PairSourceContract):
    def make(self):
        return Frames(table(), gap=3)


def rows(images: torch.Tensor) -> np.ndarray:
    return (images[:, 0, 0, 0].double() * 255).round().long().numpy()


def test_pairs_are_all_that_a_double_loop_finds(generator):
    """A sequence of one frame has none; a label that comes back is another sequence."""
    for gap in (1, 3):
        source = Frames(table(), gap)
        found = set()
        for _ in range(200):
            batch = source.draw(len(source), generator)
            found |= set(zip(rows(batch.x).tolist(), rows(batch.x_pos).tolist(), strict=True))
        expected = {(t, min(t + k, LAST[t])) for t in range(20) for k in range(1, gap + 1) if t < LAST[t]}
        assert found == expected and len(source) == 16


def test_every_anchor_is_drawn_once_in_a_batch(generator):
    batch = Frames(table(), gap=2).draw(16, generator)
    assert sorted(rows(batch.x)) == [t for t in range(20) if t < LAST[t]]


def test_gaps_are_uniform_but_for_the_end(generator):
    source = Frames(table(), gap=3)
    counts = np.zeros(4)
    at_end = np.zeros(2)
    for _ in range(1500):
        batch = source.draw(16, generator)
        t, u = rows(batch.x), rows(batch.x_pos)
        free = LAST[t] - t >= 3
        counts += np.bincount((u - t)[free], minlength=4)
        near = LAST[t] - t == 2
        at_end += np.bincount((u - t)[near] - 1, minlength=2)
    assert fits_counts(counts[1:], np.ones(3)) > ALARM
    assert fits_counts(at_end, [1, 2]) > ALARM, "two frames before the end, k = 2 and k = 3 are one"
    assert fits_counts(at_end, [1, 1]) < ALARM


def test_images_are_in_the_unit_interval_and_factors_are_theirs(generator):
    batch = Frames(table()).draw(5, generator, torch.float64)
    assert batch.x.dtype == torch.float64 and torch.equal(batch.x[:, 0, 0, 0], torch.tensor(rows(batch.x) / 255))
    assert torch.equal(batch.z[:, 0], 2.0 * torch.tensor(rows(batch.x)))
    assert torch.equal(batch.z_pos[:, 0], 2.0 * torch.tensor(rows(batch.x_pos)))


def test_without_factors_there_are_no_latents(generator):
    batch = Frames(table(factors=None)).draw(5, generator)
    assert batch.z is None and batch.z_pos is None


def test_wrong_calls_are_refused(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="`table` must have episodes, .*; `images` has none"):
        Frames(table(episodes=None))
    with pytest.raises(ValueError, match="`table` must have a sequence of two frames"):
        Frames(table(episodes=np.arange(20)))
    with pytest.raises(ValueError, match="`gap` must be at least 1"):
        Frames(table(), gap=0)
    with pytest.raises(ValueError, match="`n` must be at most the 16 anchors there are, got 17"):
        Frames(table()).draw(17, generator)
    with pytest.raises(TypeError, match="`table` must be a `AbstractImageTable`"):
        Frames(torch.zeros(3))
