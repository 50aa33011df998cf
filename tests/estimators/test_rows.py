"""Which pairs train and which are held out."""

import numpy as np
import pytest

from noumena.estimators.rows import FEWEST, Rows


def frames_of(rows, among):
    return set(among) | set(among + rows.lag)


@pytest.mark.parametrize("lag", [1, 3, 40])
@pytest.mark.parametrize("episodes", [None, np.repeat(np.arange(4), 250)])
def test_held_out_frames_are_never_trained_on(lag, episodes):
    rows = Rows(np.zeros((1000, 2)), None, lag, episodes)
    train, held = rows.split(0.1, np.random.default_rng(0))
    assert not frames_of(rows, train) & frames_of(rows, held)
    assert 0.08 * len(rows.anchors) < len(held) < 0.12 * len(rows.anchors)
    assert set(train) | set(held) <= set(rows.anchors)
    # In stretches: what is dropped for their sake is at most two lags beside each.
    stretches = np.count_nonzero(np.diff(np.sort(held)) > 1) + 1
    assert len(rows.anchors) - len(train) - len(held) <= 2 * lag * stretches
    # The mutant: pairs held out one by one share their frames with training pairs.
    scattered = np.random.default_rng(0).permutation(rows.anchors)
    assert frames_of(rows, scattered[:100]) & frames_of(rows, scattered[100:])


def test_given_pairs_are_held_out_at_random():
    rows = Rows(np.zeros((1000, 2)), np.zeros((1000, 2)))
    train, held = rows.split(0.25, np.random.default_rng(0))
    assert len(held) == 250 and sorted([*train, *held]) == list(range(1000))
    again, _ = rows.split(0.25, np.random.default_rng(0))
    other, _ = rows.split(0.25, np.random.default_rng(1))
    assert np.array_equal(train, again) and not np.array_equal(train, other)


def test_few_pairs_hold_none_out():
    for n, fraction in ((100, 0.0), (FEWEST * 10 - 1, 0.1)):
        for rows in (Rows(np.zeros((n, 1)), np.zeros((n, 1))), Rows(np.zeros((n, 1)), None)):
            train, held = rows.split(fraction, np.random.default_rng(0))
            assert np.array_equal(train, rows.anchors) and len(held) == 0


def test_pairs_are_rows_that_belong_together():
    x = np.arange(20.0).reshape(20, 1)
    first, second = Rows(x, None, lag=3).pairs(np.array([2, 5]))
    assert first[:, 0].tolist() == [2, 5] and second[:, 0].tolist() == [5, 8]
    first, second = Rows(x, -x).pairs(np.array([2, 5]))
    assert np.array_equal(second, -first)
