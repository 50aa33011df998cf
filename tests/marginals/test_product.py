import math

import numpy as np
import pytest
from scipy import stats

from noumena.marginals import GeneralizedNormal, Product, Uniform
from noumena.spaces import Box, Euclidean, Sphere
from noumena.spaces import Product as ProductSpace
from tests.contracts.marginals import MarginalContract
from tests.statistics import fits_cdf, uniform_p_value


class TestProduct(MarginalContract):
    def make(self):
        return Product([Uniform(Sphere(2)), GeneralizedNormal(Box(2), p=1, scale=0.5)])

    def laplace_cdf(self, x):
        law = stats.laplace(0.5, 0.5)
        return (law.cdf(x) - law.cdf(0)) / (law.cdf(1) - law.cdf(0))

    def reference_log_prob(self, z):
        box = stats.laplace.logpdf(z[:, 2:], 0.5, 0.5) - math.log(1 - math.exp(-1))
        return box.sum(1) - math.log(2 * math.pi)

    def fit_p_value(self, z):
        angle = np.arctan2(z[:, 1], z[:, 0]) / (2 * math.pi) + 0.5
        # The sum of coordinates of different factors would show a dependence between them.
        both = (angle + self.laplace_cdf(z[:, 2])) % 1
        return 3 * min(uniform_p_value(angle), fits_cdf(z[:, 2:], self.laplace_cdf), uniform_p_value(both))

    def mutant(self):
        return Product([Uniform(Sphere(2)), GeneralizedNormal(Box(2), p=1, scale=0.6)])


def test_the_space_is_the_product_of_theirs():
    product = Product([Uniform(Sphere(2)), GeneralizedNormal(Euclidean(3), p=2, std=1.0)])
    assert product.space == ProductSpace([Sphere(2), Euclidean(3)])


def test_no_factors_and_no_marginals_are_refused(unchecked_shapes):
    with pytest.raises(ValueError, match="at least one"):
        Product([])
    with pytest.raises(TypeError, match="`factors`"):
        Product([Sphere(2)])  # pyright: ignore
