import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noumena.conditionals import GeneralizedNormal
from noumena.conditionals.base import AbstractConditional
from noumena.spaces import Box, Euclidean, Product, Sphere
from tests.contracts.conditionals import ConditionalContract
from tests.references.generalized_normal import angle_cdf, cdf, projected_log_prob, truncated_cdf, width_p_value
from tests.statistics import ALARM, fits_cdf, uniform_p_value


@dataclass(frozen=True)
class Clamped(AbstractConditional):
    """The mistake that a truncated law invites: draws of the whole law, moved to the nearest point of the box."""

    law: GeneralizedNormal
    space: Box

    def natural_space(self, dim):
        return self.space

    def _sample(self, z, generator):
        return self.space.project(self.law._sample(z, generator))

    def _log_prob(self, z_pos, z):
        return self.law._log_prob(z_pos, z)


class EuclideanContract(ConditionalContract):
    p, scale = 2.0, 1.0

    def make(self):
        return GeneralizedNormal(p=self.p, scale=self.scale), Euclidean(2)

    def reference_log_prob(self, z_pos, z):
        return stats.gennorm.logpdf(z_pos - z, self.p, scale=self.scale).sum(1)

    def goodness_of_fit(self, z_pos, z):
        x = (z_pos - z) / self.scale
        return 2 * min(width_p_value(x, self.p), uniform_p_value(cdf(x, self.p)))

    def mutant(self):
        return GeneralizedNormal(p=self.p, scale=1.025 * self.scale)


class TestLaplace(EuclideanContract):
    p, scale = 1.0, 0.7


class TestCubic(EuclideanContract):
    p, scale = 3.0, 0.9

    def mutant(self):
        return GeneralizedNormal(p=2.8, scale=0.9)


class TestNormalByStandardDeviation(EuclideanContract):
    p, scale = 2.0, 0.8 * math.sqrt(2)

    def make(self):
        return GeneralizedNormal(p=2, std=0.8), Euclidean(2)

    def mutant(self):
        return GeneralizedNormal(p=2, scale=0.8)


class TestOneScaleForEachCoordinate(EuclideanContract):
    p, scale = 1.5, np.array([0.5, 2.0])

    def make(self):
        return GeneralizedNormal(p=1.5, scale=(0.5, 2.0)), Euclidean(2)

    def mutant(self):
        return GeneralizedNormal(p=1.5, scale=(0.515, 2.06))


class BoxContract(ConditionalContract):
    """A third of the anchors lie within a scale of some face, so that the truncation matters."""

    p, scale, low, high = 2.0, 0.2, np.array([0.0, -1.0, 2.0]), np.array([1.0, 0.0, 4.0])

    def make(self):
        return GeneralizedNormal(p=self.p, scale=self.scale, space=self.box()), self.box()

    def box(self):
        return Box(3, low=tuple(self.low), high=tuple(self.high))

    def reference_log_prob(self, z_pos, z):
        law = stats.gennorm(self.p, z, self.scale)
        inside = ((z_pos >= self.low) & (z_pos <= self.high)).all(1)
        log_prob = (law.logpdf(z_pos) - np.log(law.cdf(self.high) - law.cdf(self.low))).sum(1)
        return np.where(inside, log_prob, -np.inf)

    def goodness_of_fit(self, z_pos, z):
        return uniform_p_value(truncated_cdf(z_pos, z, self.scale, self.p, self.low, self.high))

    def mutant(self):
        return Clamped(GeneralizedNormal(p=self.p, scale=self.scale), self.box())


class TestLaplaceInBox(BoxContract):
    p = 1.0


class TestNormalInBox(BoxContract):
    p, scale = 2.0, 0.3

    def mutant(self):
        return GeneralizedNormal(p=2, std=0.3, space=self.box())


class TestCubicInBox(BoxContract):
    p = 3.0


class ProjectedContract(ConditionalContract):
    p, scale = 2.0, 0.5
    integration_draws = 4_000  # each density is a quadrature

    def make(self):
        return GeneralizedNormal(p=self.p, scale=self.scale, space=Sphere(2)), Sphere(2)

    def reference_log_prob(self, z_pos, z):
        return projected_log_prob(z_pos, z, self.scale, self.p)

    def fit_anchors(self, n, generator, dtype):
        return torch.tensor([[0.6, 0.8]], dtype=dtype).expand(n, 2)

    def goodness_of_fit(self, z_pos, z):
        return fits_cdf(np.arctan2(z_pos[:, 1], z_pos[:, 0]), lambda a: angle_cdf(a, (0.6, 0.8), self.scale, self.p))

    def mutant(self):
        return GeneralizedNormal(p=self.p, scale=1.03 * self.scale, space=Sphere(2))


class TestProjectedLaplace(ProjectedContract):
    p = 1.0

    def mutant(self):
        return GeneralizedNormal(p=1.1, scale=self.scale, space=Sphere(2))


class TestProjectedNormal(ProjectedContract):
    pass


class TestProjectedCubic(ProjectedContract):
    p = 3.0


@pytest.mark.parametrize("p", [1.0, 1.7, 3.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_anchors_in_a_corner(generator, p, scale):
    """The worst place to be thrown back from: a rejection that retries until inside takes 2^d tries."""
    box = Box(4)
    conditional = GeneralizedNormal(p=p, scale=scale, space=box)
    z = torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=torch.float64).expand(25_000, 4)
    z_pos = conditional.sample(z, generator=generator)
    assert box.contains(z_pos).all()
    steps = (z_pos - z).abs()
    assert fits_cdf(steps, lambda x: truncated_cdf(x, 0, scale, p, 0, 1)) > ALARM
    if scale < 1e3:  # a scale far above the width leaves uniform draws
        assert fits_cdf(steps, lambda x: truncated_cdf(x, 0, 1.2 * scale, p, 0, 1)) < ALARM
    reference = stats.gennorm.logpdf(steps[:50], p, scale=scale) - math.log(stats.gennorm.cdf(1, p, scale=scale) - 0.5)
    np.testing.assert_allclose(conditional.log_prob(z_pos[:50], z[:50]), reference.sum(1), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("p", [1.0, 3.0])
@pytest.mark.parametrize("change", ["scale", "power", "clamped"])
def test_mutants_in_a_box_are_caught(generator, p, change):
    box, scale = Box(3), 0.1
    right = GeneralizedNormal(p=p, scale=scale, space=box)
    wrong = {
        "scale": GeneralizedNormal(p=p, scale=1.03 * scale, space=box),
        "power": GeneralizedNormal(p=1.2 * p, scale=scale, space=box),
        "clamped": Clamped(GeneralizedNormal(p=p, scale=scale), box),
    }[change]
    z = box.sample_uniform(100_000, generator, torch.float64)

    def p_value(law):
        z_pos = law.sample(z, generator=generator)
        return uniform_p_value(truncated_cdf(z_pos.numpy(), z.numpy(), scale, p, 0.0, 1.0))

    assert p_value(right) > ALARM
    assert p_value(wrong) < ALARM


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    p=st.floats(1, 30),
    d=st.integers(1, 5),
    scale=st.floats(1e-3, 1e3),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 1000),
)
def test_any_law_in_any_space(p, d, scale, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    for space in (Euclidean(d), Box(d, low=-3.0, high=-1.0), Sphere(d, radius=2.0)):
        z = space.project(torch.randn(10, d, generator=generator, dtype=dtype))
        conditional = GeneralizedNormal(p=p, scale=scale, space=space)
        z_pos = conditional.sample(z, generator=generator)
        assert z_pos.dtype == dtype and space.contains(z_pos).all()
        assert torch.isfinite(conditional.log_prob(z_pos, z)).all()


@pytest.mark.parametrize("radius", [0.5, 3.0])
def test_a_radius_scales_the_projected_law(generator, radius):
    z = Sphere(3).sample_uniform(20, generator, torch.float64)
    unit = GeneralizedNormal(p=3, scale=0.2, space=Sphere(3))
    large = GeneralizedNormal(p=3, scale=0.2 * radius, space=Sphere(3, radius=radius))
    z_pos = unit.sample(z, generator=generator)
    expected = unit.log_prob(z_pos, z) - 2 * math.log(radius)
    torch.testing.assert_close(large.log_prob(radius * z_pos, radius * z), expected, rtol=1e-9, atol=1e-9)


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="exactly one of `scale` and `std`"):
        GeneralizedNormal(p=2)
    with pytest.raises(ValueError, match="`std` describes the normal law"):
        GeneralizedNormal(p=1, std=1.0)
    with pytest.raises(ValueError, match="`scale` must be one number or 3"):
        GeneralizedNormal(p=1, scale=(1.0, 2.0), space=Box(3))
    with pytest.raises(ValueError, match="`conditionals.Product`"):
        GeneralizedNormal(p=1, scale=1.0).on(Product([Box(1), Sphere(2)]))


def test_scales_are_counted_when_the_space_is_left_open(generator):
    with pytest.raises(ValueError, match="`scale` must be one number or 3, one for each coordinate; got 2"):
        GeneralizedNormal(p=1, scale=(1.0, 2.0)).sample(torch.zeros(4, 3), generator=generator)
