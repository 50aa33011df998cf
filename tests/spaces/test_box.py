import math

import pytest
import torch

from noumena.spaces import Box
from tests.contracts.spaces import SpaceContract


class TestBox(SpaceContract):
    def make(self):
        return Box(3, low=(-1.0, 0.0, 2.0), high=(1.0, 0.5, 3.0))

    def monte_carlo_log_volume(self, generator):
        points = torch.rand(1_000_000, 3, generator=generator) * 4 - 1
        return math.log(self.make().contains(points).float().mean() * 4**3)


def test_bounds_are_kept_per_coordinate():
    assert Box(3) == Box(3, low=(0.0, 0.0, 0.0), high=1.0)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (0.0, (1.0, -1.0))])
def test_empty_intervals_are_refused(low, high):
    with pytest.raises(ValueError, match="below `high`"):
        Box(2, low, high)


def test_wrong_number_of_bounds_is_refused():
    with pytest.raises(ValueError, match="got 2"):
        Box(3, low=(0.0, 0.0))
