import math

import numpy as np
import pytest
from scipy import stats

from noumena.marginals import Uniform, VonMisesFisher
from noumena.spaces import Box, Euclidean, Product, Sphere
from tests.contracts.marginals import MarginalContract
from tests.statistics import fits_cdf, uniform_p_value


class TestOnSphere(MarginalContract):
    def make(self):
        return Uniform(Sphere(4, radius=2.0))

    def reference_log_prob(self, z):
        return np.full(len(z), -math.log(2 * math.pi**2 * 2**3))

    def fit_p_value(self, z):
        # (1 + z_j / r) / 2 is Beta((d-1)/2, (d-1)/2) in every coordinate.
        return min(4 * fits_cdf(z[:, j], lambda x: stats.beta(1.5, 1.5).cdf((1 + x / 2) / 2)) for j in range(4))

    def mutant(self):
        return VonMisesFisher(Sphere(4, radius=2.0), kappa=0.1)


class TestOnBox(MarginalContract):
    def make(self):
        return Uniform(Box(3, low=(-1.0, 0.0, 2.0), high=(1.0, 0.5, 6.0)))

    def reference_log_prob(self, z):
        return np.full(len(z), -math.log(2 * 0.5 * 4))

    def fit_p_value(self, z):
        return uniform_p_value((z - [-1, 0, 2]) / [2, 0.5, 4])

    def mutant(self):
        return Uniform(Box(3, low=(-1.0, 0.0, 2.0), high=(1.02, 0.51, 6.04)))


class TestOnProduct(MarginalContract):
    def make(self):
        return Uniform(Product([Sphere(2), Box(1, low=-1.0, high=2.0)]))

    def reference_log_prob(self, z):
        return np.full(len(z), -math.log(2 * math.pi * 3))

    def fit_p_value(self, z):
        angle = np.arctan2(z[:, 1], z[:, 0]) / (2 * math.pi) + 0.5
        return uniform_p_value(np.stack([angle, (z[:, 2] + 1) / 3]))

    def mutant(self):
        return Uniform(Product([Sphere(2), Box(1, low=-1.0, high=2.2)]))


def test_unbounded_spaces_are_refused_by_name():
    with pytest.raises(ValueError, match=r"`Uniform` needs a bounded space, got `Euclidean\(10\)`; use `Sphere`"):
        Uniform(Euclidean(10))
    with pytest.raises(ValueError, match="bounded"):
        Uniform(Product([Sphere(2), Euclidean(1)]))


def test_a_number_is_no_space(unchecked_shapes):
    with pytest.raises(TypeError, match="`space` must be a `AbstractSpace`"):
        Uniform(3)  # pyright: ignore
