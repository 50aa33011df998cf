import math

import pytest
import torch

from noumena.spaces import Sphere
from tests.contracts.spaces import SpaceContract


class TestSphere(SpaceContract):
    def make(self):
        return Sphere(4, radius=1.5)

    def monte_carlo_log_volume(self, generator):
        # The share of a cube that falls between two radii, divided by the gap, is the surface in between.
        gap, points = 0.2, 2 * torch.rand(2_000_000, 4, generator=generator, dtype=torch.float64) - 1
        radii = 2 * points.norm(dim=1)
        share = ((radii - 1.5).abs() < gap / 2).double().mean()
        return math.log(share * 4**4 / gap)


@pytest.mark.parametrize(("dim", "area"), [(1, 2.0), (2, 2 * math.pi), (3, 4 * math.pi)])
def test_known_areas(dim, area):
    assert math.exp(Sphere(dim).log_volume) == pytest.approx(area)


def test_uniform_mean_of_squares(generator):
    z = Sphere(5).sample_uniform(100_000, generator, torch.float64)
    # z_j^2 has mean 1/d and variance 2(d-1)/(d^2(d+2)); five standard errors.
    error = (2 * 4 / (25 * 7) / 100_000) ** 0.5
    assert ((z.square().mean(0) - 0.2).abs() < 5 * error).all()


def test_the_origin_has_no_projection():
    with pytest.raises(ValueError, match="origin"):
        Sphere(3).project(torch.zeros(1, 3))
