import math

import numpy as np
import pytest
import torch
from scipy import stats

from noumena import spaces
from noumena.conditionals import FixedContent, GeneralizedNormal, Product, VonMisesFisher
from noumena.spaces import Box, Euclidean, Sphere
from tests.contracts.conditionals import ConditionalContract
from tests.references.generalized_normal import truncated_cdf
from tests.statistics import uniform_p_value

SPACE = spaces.Product([Sphere(3), Box(2)])


class TestProduct(ConditionalContract):
    def make(self):
        return Product([VonMisesFisher(4.0, Sphere(3)), GeneralizedNormal(p=1, scale=0.3, space=Box(2))]), SPACE

    def reference_log_prob(self, z_pos, z):
        sphere = 4 * (z_pos[:, :3] * z[:, :3]).sum(1) - math.log(4 * math.pi * math.sinh(4) / 4)
        law = stats.laplace(z[:, 3:], 0.3)
        return sphere + (law.logpdf(z_pos[:, 3:]) - np.log(law.cdf(1) - law.cdf(0))).sum(1)

    def goodness_of_fit(self, z_pos, z):
        cosine = (z_pos[:, :3] * z[:, :3]).sum(1)
        sphere = np.expm1(4 * (cosine + 1)) / np.expm1(8)  # on the sphere of R^3 the cosine has density exp(4 t)
        box = truncated_cdf(z_pos[:, 3:], z[:, 3:], 0.3, 1, 0, 1)
        both = (sphere + box[:, 0]) % 1  # shows a dependence between the factors
        return 3 * min(uniform_p_value(np.clip(u, 0, 1)) for u in (sphere, box, both))

    def mutant(self):
        return Product([VonMisesFisher(4.0), GeneralizedNormal(p=1, scale=0.32)], SPACE)


def test_a_space_is_handed_on_to_the_factors():
    placed = Product([VonMisesFisher(4.0), GeneralizedNormal(p=1, scale=0.3)]).on(SPACE)
    assert [factor.space for factor in placed.factors] == [Sphere(3), Box(2)]


def test_support_is_drawn_by_factor(generator):
    product = Product([FixedContent(4.0, 1), GeneralizedNormal(p=1, scale=0.3)], SPACE)
    z = SPACE.sample_uniform(5, generator)
    support = product.sample_support(z, 7, generator=generator)
    assert support.shape == (5, 7, 5)
    assert torch.equal(support[:, :, :1], z[:, None, :1].expand(-1, 7, -1))
    assert SPACE.contains(support.reshape(35, 5)).all()


def test_a_product_without_spaces_cannot_cut(generator):
    product = Product([VonMisesFisher(4.0), GeneralizedNormal(p=1, scale=0.3)])
    with pytest.raises(ValueError, match="give each factor a space"):
        product.sample(torch.zeros(3, 5), generator=generator)


@pytest.mark.parametrize("space", [Box(5), spaces.Product([Sphere(5)])])
def test_wrong_spaces_are_refused(space):
    with pytest.raises(ValueError, match="`space` must be a product of 2 spaces"):
        Product([VonMisesFisher(4.0), GeneralizedNormal(p=1, scale=0.3)], space)


def test_a_factor_refuses_its_own_space():
    with pytest.raises(ValueError, match="lives on a sphere"):
        Product([VonMisesFisher(4.0)], spaces.Product([Euclidean(2)]))


def test_no_factors_and_no_conditionals_are_refused(unchecked_shapes):
    with pytest.raises(ValueError, match="at least one"):
        Product([])
    with pytest.raises(TypeError, match="`factors`"):
        Product([Sphere(3)])  # pyright: ignore
