import numpy as np
import pytest
import torch
from scipy import ndimage, stats

from noumena.data import KITTIMasks, Walkers
from noumena.data.kitti_masks import write_masks
from noumena.data.walkers import move
from tests.contracts.data import ImageTableContract
from tests.statistics import ALARM, fits_counts, uniform_p_value

SMALL = Walkers(sequences=6, seed=1)


class TestWalkers(ImageTableContract):
    def make(self):
        return SMALL

    def reference(self):
        """Drawn anew: the seed decides everything."""
        again = Walkers(sequences=6, seed=1)
        return again.images(torch.arange(len(again)))


def test_factors_are_measured_on_the_masks():
    for mask, factors in zip(SMALL.images(torch.arange(60))[:, 0].numpy(), SMALL.factors[:60], strict=True):
        assert set(np.unique(mask)) == {0, 255}
        expected = [*ndimage.center_of_mass(mask), (mask > 0).sum()]
        assert np.allclose(factors, expected, rtol=1e-6)


def test_a_walker_is_one_whole_body_in_the_picture():
    masks = SMALL.images(torch.arange(len(SMALL)))[:, 0].numpy() > 0
    for mask in masks:
        pieces = ndimage.label(mask, np.ones((3, 3)))[1]
        assert pieces == 1 and mask.sum() > 30
    border = np.concatenate([masks[:, [0, -1]].reshape(-1), masks[:, :, [0, -1]].reshape(-1)])
    assert not border.any()


def test_limbs_move_though_place_and_size_do_not_tell():
    """Brought to one place and one size, a walker is still not the same from frame to frame."""
    rows = torch.from_numpy(np.flatnonzero(SMALL.episodes == SMALL.episodes[0]))
    masks = SMALL.images(rows)[:, 0].numpy() > 0
    normed = []
    for mask in masks:
        y, x = np.nonzero(mask)
        normed.append(np.asarray(ndimage.zoom(mask[y.min() : y.max() + 1].astype(float), (30 / np.ptp(y), 1), order=1)))
    widths = [np.flatnonzero(one.sum(0) > 0.5).size for one in normed]
    assert np.ptp(widths) >= 4


def test_the_seed_and_the_split_decide():
    other, test = Walkers(sequences=6, seed=2), Walkers(sequences=6, seed=1, split="test")
    for different in (other, test):
        assert len(different) != len(SMALL) or not torch.equal(different.factors, SMALL.factors)


def moved(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Places of 400 sequences of 50, and the steps that no wall can have changed."""
    generator = torch.Generator().manual_seed(11)
    walked = move(torch.full((400,), 50), scale, generator).reshape(400, 50, 3).numpy()
    steps = np.diff(walked, axis=1)
    return walked, steps[np.abs(walked[:, :-1]) < 1 - 12 * scale]


def laplace_p_value(steps: np.ndarray, scale: float) -> float:
    # Nearer to a wall than 12 scales a step may be cut short, further away once in 300 000.
    return uniform_p_value(stats.laplace.cdf(steps, scale=scale))


def test_steps_are_laplace_and_the_marginal_is_uniform():
    walked, steps = moved(0.02)
    assert laplace_p_value(steps, 0.02) > ALARM
    assert laplace_p_value(steps, 0.022) < ALARM, "a scale that is 10 % off must be seen"
    assert np.abs(walked).max() <= 1
    for frame in (0, 1, 49):
        counts, _ = np.histogram(walked[:, frame], bins=8, range=(-1, 1))
        assert fits_counts(counts, np.ones(8)) > ALARM


def test_a_walk_is_the_free_one_folded_at_the_ends():
    """Which has the law of a walk that is reflected there, as its steps are as likely to either side."""
    lengths, begins = (5, 1, 40), (0, 5, 6)
    folded = move(torch.tensor(lengths), 0.7, torch.Generator().manual_seed(3)).numpy()
    # With a tiny scale nothing is folded: the same draws, and so the same steps, in small.
    small = move(torch.tensor(lengths), 0.7e-7, torch.Generator().manual_seed(3)).numpy()
    for begin, length in zip(begins, lengths, strict=True):
        for frame in range(begin, begin + length):
            place = small[begin] + 1e7 * (small[frame] - small[begin])
            while (np.abs(place) > 1).any():
                place = np.where(place > 1, 2 - place, place)
                place = np.where(place < -1, -2 - place, place)
            assert np.allclose(folded[frame], place, atol=1e-5)


def test_sequences_vary_in_length():
    lengths = np.bincount(Walkers(sequences=60, seed=4).episodes)
    assert lengths.min() >= 2 and lengths.max() > 60 and 25 < lengths.mean() < 60


def test_it_is_read_from_the_released_layout(tmp_path):
    write_masks(SMALL, tmp_path / "walkers.pickle")
    again = KITTIMasks(tmp_path / "walkers.pickle")
    rows = torch.arange(len(SMALL))
    assert torch.equal(again.images(rows), SMALL.images(rows)) and torch.equal(again.factors, SMALL.factors)
    assert np.array_equal(again.episodes, SMALL.episodes)


def test_wrong_calls():
    with pytest.raises(ValueError, match="`sequences` must be at least 1"):
        Walkers(0)
    with pytest.raises(ValueError, match="`scale` must be positive"):
        Walkers(scale=0.0)
    with pytest.raises(ValueError, match="`split` cannot be 'val'"):
        Walkers(split="val")
