import cmath
import math

import numpy as np
import pytest
import torch

from noumena.mixings import Spiral
from tests.contracts.mixings import MixingContract


class TestSpiral(MixingContract):
    random = False
    period, dim = 2.0, 3

    def make(self, seed=0):
        return Spiral(self.period, dim=self.dim)

    def reference(self, z):
        x = z.copy()
        for row in x:
            turned = complex(row[0], row[1]) * cmath.exp(1j * self.period * math.pi * row[2])
            row[0], row[1] = turned.real, turned.imag
        return np.asarray(x)


class TestOtherPeriodAndDimension(TestSpiral):
    period, dim = -0.7, 5


def test_it_keeps_the_sphere_and_the_height(generator):
    z = torch.randn(100, 3, generator=generator, dtype=torch.float64)
    x = Spiral()(z)
    torch.testing.assert_close(x.norm(dim=1), z.norm(dim=1))
    assert torch.equal(x[:, 2], z[:, 2])


def test_a_quarter_of_the_height_is_half_a_right_angle_times_two():
    # 2 pi z_3 at z_3 = 1/4 is a right angle, counter-clockwise.
    x = Spiral()(torch.tensor([[1.0, 0.0, 0.25]], dtype=torch.float64))
    torch.testing.assert_close(x, torch.tensor([[0.0, 1.0, 0.25]], dtype=torch.float64), atol=1e-15, rtol=0)


def test_refusals():
    with pytest.raises(ValueError, match="`dim` must be at least 3"):
        Spiral(dim=2)
    with pytest.raises(ValueError, match="`period` must be finite"):
        Spiral(float("inf"))
