import math

import pytest

from noumena.experiments.throughput import pairs_per_second
from noumena.training import Record


def test_pairs_between_the_last_two_records():
    train = {"steps": 30, "batch_size": 64}
    first, second = Record(10, 4.0, 4.0, 1.0), Record(20, 6.0, 6.0, 1.0)
    assert pairs_per_second([first], train) == pytest.approx(10 * 64 / 4)
    assert pairs_per_second([first, second], train) == pytest.approx(10 * 64 / 2)
    assert math.isnan(pairs_per_second([first, first], train))


def test_a_growing_batch_is_counted_step_by_step():
    train = {"steps": 3, "batch_size": {"start": 10, "end": 40}}
    assert pairs_per_second([Record(3, 2.0, 2.0, 1.0)], train) == pytest.approx((10 + 20 + 40) / 2)
