import numpy as np
import pytest
import torch

from noumena.pairs import Temporal
from tests.contracts.pairs import PairSourceContract


class TestTemporal(PairSourceContract):
    def make(self):
        frames = np.arange(60.0).reshape(30, 2)
        return Temporal(frames, lag=2, episodes=np.repeat([0, 1], 15), z=frames + 1000)


def test_pairs_are_all_that_a_double_loop_finds(generator):
    """Every frame and the one `lag` later, if no other label stands at or between them; labels may come back."""
    episodes = np.array(list("aaaabbaaabbbbbb"))
    for lag in (1, 2, 3):
        expected = {
            (i, j)
            for i in range(len(episodes))
            for j in range(len(episodes))
            if j - i == lag and len(set(episodes[i : j + 1])) == 1
        }
        source = Temporal(np.arange(15.0).reshape(15, 1), lag, episodes)
        batch = source.draw(len(source), generator)
        assert set(zip(batch.x[:, 0].int().tolist(), batch.x_pos[:, 0].int().tolist(), strict=True)) == expected
        assert len(source) == len(expected)


def test_factors_follow_their_frames(generator):
    frames = torch.arange(10.0).reshape(10, 1)
    batch = Temporal(frames, 3, z=-frames).draw(7, generator)
    assert torch.equal(batch.z, -batch.x) and torch.equal(batch.z_pos, -batch.x_pos)


def test_memory_mapped_files_are_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((50, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(Temporal(mapped).pairs.x_pos, mapped)


def test_only_the_named_anchors_are_drawn(generator):
    frames = np.arange(20.0).reshape(20, 1)
    batch = Temporal(frames, among=np.array([3, 7, 11])).draw(3, generator)
    assert sorted(batch.x[:, 0].tolist()) == [3, 7, 11]


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        ({"lag": 0}, "`lag` must be at least 1"),
        ({"lag": 6}, "`lag` must be less than the frames of some episode, got 6 for 6 frames;"),
        ({"lag": 2, "episodes": np.array([0, 0, 1, 1, 2, 2])}, "got 2 for 6 frames in 3 episodes;"),
        ({"episodes": np.zeros(5)}, r"`episodes` must have the shape \(6,\)"),
        ({"among": np.array([0, 5])}, "1 of 2 have none, the first is row 5"),
        ({"z": np.zeros((5, 1))}, "`z` must have 6 rows, one for each frame of `x`; got 5"),
    ],
)
def test_wrong_calls_are_refused(arguments, pattern, unchecked_shapes):
    with pytest.raises(ValueError, match=pattern):
        Temporal(np.zeros((6, 2)), **arguments)
