import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noumena.marginals import GeneralizedNormal
from noumena.spaces import Box, Euclidean, Product, Sphere
from tests.contracts.marginals import MarginalContract
from tests.references.generalized_normal import (
    angle_cdf,
    cdf,
    projected_log_prob,
    truncated_cdf,
    truncated_log_prob,
    width_p_value,
)
from tests.statistics import ALARM, fits_cdf, uniform_p_value


class TestCubicOnEuclidean(MarginalContract):
    scale, center = np.array([0.2, 1.0, 3.0]), np.array([-1.0, 0.0, 5.0])

    def make(self):
        return GeneralizedNormal(Euclidean(3), p=3, scale=tuple(self.scale), center=tuple(self.center))

    def reference_log_prob(self, z):
        return stats.gennorm.logpdf(z, 3, self.center, self.scale).sum(1)

    def fit_p_value(self, z):
        x = (z - self.center) / self.scale
        return 2 * min(width_p_value(x, 3), uniform_p_value(cdf(x, 3)))

    def mutant(self):
        return GeneralizedNormal(Euclidean(3), p=3, scale=tuple(1.02 * self.scale), center=tuple(self.center))


class TestLaplaceOnEuclidean(MarginalContract):
    def make(self):
        return GeneralizedNormal(Euclidean(4), p=1, scale=0.05)

    def reference_log_prob(self, z):
        return stats.laplace.logpdf(z, scale=0.05).sum(1)

    def fit_p_value(self, z):
        return 2 * min(width_p_value(z / 0.05, 1), fits_cdf(z, stats.laplace(scale=0.05).cdf))

    def mutant(self):
        return GeneralizedNormal(Euclidean(4), p=1, scale=0.051)


class TestNormalByStandardDeviation(MarginalContract):
    def make(self):
        return GeneralizedNormal(Euclidean(4), p=2, std=0.7)

    def reference_log_prob(self, z):
        return stats.norm.logpdf(z, scale=0.7).sum(1)

    def fit_p_value(self, z):
        return 2 * min(width_p_value(z / (0.7 * math.sqrt(2)), 2), fits_cdf(z, stats.norm(scale=0.7).cdf))

    def mutant(self):
        return GeneralizedNormal(Euclidean(4), p=2, scale=0.7)


class TestNormalOnBox(MarginalContract):
    """Centred in the middle, which the default is."""

    def make(self):
        return GeneralizedNormal(Box(4, low=-1.0, high=3.0), p=2, std=1.5)

    def reference_log_prob(self, z):
        return stats.truncnorm.logpdf(z, -2 / 1.5, 2 / 1.5, loc=1, scale=1.5).sum(1)

    def fit_p_value(self, z):
        return fits_cdf(z, stats.truncnorm(-2 / 1.5, 2 / 1.5, loc=1, scale=1.5).cdf)

    def mutant(self):
        return GeneralizedNormal(Box(4, low=-1.0, high=3.0), p=2, std=1.6)


class TestCubicOnBoxOffCentre(MarginalContract):
    def make(self):
        return GeneralizedNormal(Box(2), p=3, scale=0.4, center=(0.0, 0.9))

    def reference_log_prob(self, z):
        return truncated_log_prob(z, np.array([0.0, 0.9]), 0.4, 3.0, 0.0, 1.0).sum(1)

    def fit_p_value(self, z):
        return uniform_p_value(truncated_cdf(z, np.array([0.0, 0.9]), 0.4, 3.0, 0.0, 1.0))

    def mutant(self):
        return GeneralizedNormal(Box(2), p=3, scale=0.42, center=(0.0, 0.9))


class TestFarFromTheBox(MarginalContract):
    """Twenty to a hundred scales outside: the mass of the box is below anything that a float can hold."""

    low, center = np.array([0.0, -1.0]), np.array([-2.0, 10.0])

    def make(self):
        return GeneralizedNormal(Box(2, low=tuple(self.low), high=1.0), p=1.5, scale=0.1, center=tuple(self.center))

    def reference_log_prob(self, z):
        return truncated_log_prob(z, self.center, 0.1, 1.5, self.low, 1.0).sum(1)

    def fit_p_value(self, z):
        grid = np.linspace(0, 1, 200_001)
        uniforms = []
        for j, edge in enumerate((0.0, 1.0)):
            distance = np.abs(edge - self.center[j]) + grid
            density = np.exp((distance[0] / 0.1) ** 1.5 - (distance / 0.1) ** 1.5)
            cumulative = np.cumsum((density[1:] + density[:-1]) / 2)
            uniforms.append(np.interp(np.abs(z[:, j] - edge), grid[1:], cumulative / cumulative[-1]))
        return uniform_p_value(np.stack(uniforms))

    def mutant(self):
        return GeneralizedNormal(Box(2, low=tuple(self.low), high=1.0), p=1.5, scale=0.104, center=tuple(self.center))

    def test_density_integrates_to_one(self, generator):
        """Everything lies within a hundredth of two edges, which uniform points would miss: by the midpoint rule."""
        marginal = GeneralizedNormal(Box(1), p=1.5, scale=0.1, center=(-2.0,))
        z = ((torch.arange(200_000, dtype=torch.float64) + 0.5) / 200_000)[:, None]
        assert float(marginal.log_prob(z).exp().mean()) == pytest.approx(1, abs=1e-6)


class ProjectedContract(MarginalContract):
    """On the circle, where the reference distribution of the angle takes one quadrature."""

    p, scale = 2.0, 1.0

    def make(self):
        return GeneralizedNormal(Sphere(2), p=self.p, scale=self.scale)

    def reference_log_prob(self, z):
        return projected_log_prob(z, np.tile([1.0, 0.0], (len(z), 1)), self.scale, self.p)

    def fit_p_value(self, z):
        return fits_cdf(np.arctan2(z[:, 1], z[:, 0]), lambda a: angle_cdf(a, (1.0, 0.0), self.scale, self.p))

    def mutant(self):
        return GeneralizedNormal(Sphere(2), p=self.p, scale=1.05 * self.scale)

    def test_density_integrates_to_one(self, generator):
        """By the trapezoid rule on the circle, which needs fewer of these costly densities than Monte Carlo."""
        angles = torch.arange(1000, dtype=torch.float64) * (2 * math.pi / 1000)
        density = self.make().log_prob(torch.stack([angles.cos(), angles.sin()], dim=1)).exp()
        assert float(density.mean()) * 2 * math.pi == pytest.approx(1, abs=1e-4)


class TestProjectedLaplace(ProjectedContract):
    p, scale = 1.0, 0.3


class TestProjectedNormal(ProjectedContract):
    p, scale = 2.0, 0.8


class TestProjectedCubic(ProjectedContract):
    p, scale = 3.0, 0.7


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_projected_density_in_any_dimension(generator, d, p):
    center = torch.linspace(-1, 2, d, dtype=torch.float64)
    marginal = GeneralizedNormal(Sphere(d, radius=2.5), p=p, scale=0.5, center=tuple(center.tolist()))
    z = torch.cat([marginal.sample(5, generator=generator, dtype=torch.float64), 2.5 * torch.eye(d).double()[:1]])
    reference = projected_log_prob(z.numpy() / 2.5, center.expand(6, d).numpy(), 0.5, p) - (d - 1) * math.log(2.5)
    np.testing.assert_allclose(marginal.log_prob(z), reference, rtol=1e-9, atol=1e-9)


def test_projected_normal_about_the_origin_is_uniform(generator):
    space = Sphere(5)
    marginal = GeneralizedNormal(space, p=2, std=3.0, center=(0.0,) * 5)
    z = space.sample_uniform(20, generator, torch.float64)
    np.testing.assert_allclose(marginal.log_prob(z), -space.log_volume, atol=1e-10)


def test_projected_laplace_on_two_points_is_a_sign():
    # On Sphere(1) the projection keeps the sign alone: P(x > 0) = 1 - exp(-1 / scale) / 2 about the centre 1.
    marginal = GeneralizedNormal(Sphere(1), p=1, scale=0.5)
    expected = [math.log(1 - math.exp(-2) / 2), math.log(math.exp(-2) / 2)]
    np.testing.assert_allclose(marginal.log_prob(torch.tensor([[1.0], [-1.0]]).double()), expected, rtol=1e-10)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    p=st.floats(1, 20), d=st.integers(1, 6), scale=st.floats(1e-3, 1e3), dtype=st.sampled_from(["float32", "float64"])
)
def test_draws_of_any_law_lie_where_its_density_is_finite(p, d, scale, dtype):
    dtype = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(1)
    for space in (Euclidean(d), Box(d, low=-2.0, high=1.0), Sphere(d, radius=0.5)):
        marginal = GeneralizedNormal(space, p=p, scale=scale)
        z = marginal.sample(20, generator=generator, dtype=dtype)
        assert z.dtype == dtype and space.contains(z).all()
        assert torch.isfinite(marginal.log_prob(z)).all()


def test_scale_and_standard_deviation_are_told_apart(generator):
    z = torch.randn(10, 3, generator=generator, dtype=torch.float64)
    by_scale, by_std = (
        GeneralizedNormal(Euclidean(3), 2, scale=math.sqrt(2)),
        GeneralizedNormal(Euclidean(3), 2, std=1.0),
    )
    torch.testing.assert_close(by_scale.log_prob(z), by_std.log_prob(z))
    draws = by_scale.sample(100_000, generator=generator, dtype=torch.float64)
    assert fits_cdf(draws, stats.norm.cdf) > ALARM


def test_defaults_of_the_centre():
    assert GeneralizedNormal(Euclidean(2), 2, std=1.0).center == (0.0, 0.0)
    assert GeneralizedNormal(Box(2, low=(-1.0, 0.0), high=2.0), 2, std=1.0).center == (0.5, 1.0)
    assert GeneralizedNormal(Sphere(3, radius=2.0), 2, std=1.0).center == (2.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(p=0.5, scale=1.0), "`p` must be at least 1, got 0.5"),
        (dict(p=2), "exactly one of `scale` and `std` must be given, got neither"),
        (dict(p=2, scale=1.0, std=1.0), "got both"),
        (dict(p=3, std=1.0), "`std` describes the normal law, p = 2, and p is 3; give `scale`"),
        (dict(p=3, scale=-1.0), "`scale` must be positive, got -1.0"),
        (dict(p=3, scale=(1.0, 1.0)), "`scale` must be one number or 3, one for each coordinate; got 2"),
        (dict(p=3, scale=1.0, center=(1.0,)), "`center` must have 3 numbers, one for each coordinate; got 1"),
    ],
)
def test_wrong_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GeneralizedNormal(Euclidean(3), **arguments)


def test_products_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="`marginals.Product`"):
        GeneralizedNormal(Product([Euclidean(1), Box(1)]), 2, std=1.0)
