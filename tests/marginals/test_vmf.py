import math

import numpy as np
import pytest
import torch

from noumena.marginals import VonMisesFisher
from noumena.spaces import Box, Sphere
from tests.contracts.marginals import MarginalContract
from tests.references import vmf as reference


class TestVonMisesFisher(MarginalContract):
    space, kappa, direction = Sphere(5), 6.0, np.eye(5)[0]

    def make(self):
        return VonMisesFisher(self.space, self.kappa)

    def reference_log_prob(self, z):
        r, mean = self.space.radius, np.broadcast_to(self.direction, z.shape)
        return reference.log_density(z / r, mean, self.kappa) - (self.space.dim - 1) * math.log(r)

    def fit_p_value(self, z):
        r, rows = self.space.radius, np.broadcast_to(self.direction, z.shape)
        if self.direction[0] < 1:
            return reference.fit(z / r, rows, self.kappa)
        # The reference looks at the share of the first axis in the way from the mean; here that axis is the mean.
        turn = np.roll(np.arange(self.space.dim), 1)
        return reference.fit(z[:, turn] / r, rows[:, turn], self.kappa)

    def mutant(self):
        return VonMisesFisher(self.space, 1.03 * self.kappa, self.make().mean)


class TestAboutAnotherDirectionOfALargerSphere(TestVonMisesFisher):
    space, kappa, direction = Sphere(3, radius=2.0), 40.0, np.array([0.48, -0.6, 0.64])

    def make(self):
        return VonMisesFisher(self.space, self.kappa, mean=[4.8, -6.0, 6.4])  # only the direction counts


def test_another_direction_is_caught(generator):
    case = TestVonMisesFisher()
    turned = VonMisesFisher(case.space, case.kappa, mean=[1.0, 0.03, 0.0, 0.0, 0.0])
    z = turned.sample(200_000, generator=generator, dtype=torch.float64).numpy()
    # The mean of a coordinate orthogonal to the direction is 0; five standard errors.
    assert abs(z[:, 1].mean()) > 5 * z[:, 1].std() / len(z) ** 0.5
    assert abs(z[:, 2].mean()) < 5 * z[:, 2].std() / len(z) ** 0.5


def test_zero_kappa_is_uniform(generator):
    marginal = VonMisesFisher(Sphere(4), 0.0)
    z = marginal.sample(20, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(marginal.log_prob(z), z.new_full((20,), -Sphere(4).log_volume))


def test_what_cannot_be_meant_is_refused(unchecked_shapes):
    with pytest.raises(TypeError, match="`space` must be a `Sphere`"):
        VonMisesFisher(Box(3), 1.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="`kappa` must be at least 0"):
        VonMisesFisher(Sphere(3), -1.0)
    with pytest.raises(ValueError, match="`mean` must have 3 numbers"):
        VonMisesFisher(Sphere(3), 1.0, mean=[1.0, 0.0])
    with pytest.raises(ValueError, match="`mean` must not be zero"):
        VonMisesFisher(Sphere(3), 1.0, mean=[0.0, 0.0, 0.0])
