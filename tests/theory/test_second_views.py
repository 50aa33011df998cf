"""The law of positives by themselves, against integrals by scipy."""

import math

import pytest
import torch
from scipy import integrate, stats

from noumena.conditionals import Anisotropic, GeneralizedNormal, VonMisesFisher
from noumena.marginals import GeneralizedNormal as MarginalNormal
from noumena.marginals import Uniform
from noumena.spaces import Box, Euclidean, Sphere
from noumena.theory.second_views import second_view_law


def in_interval(x, centre, scale, p, low, high):
    """Density of the generalised normal law restricted to an interval."""
    law = stats.gennorm(p, centre, scale)
    return law.pdf(x) / (law.cdf(high) - law.cdf(low))


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("scale", [0.05, 0.7])
def test_box_against_scipy(p, scale):
    law = second_view_law(Uniform(Box(2, [0.0, -1.0], [1.0, 2.0])), GeneralizedNormal(p, scale=scale))
    points = torch.tensor([[0.0, -1.0], [0.03, 1.99], [0.5, 0.5], [1.0, 2.0]], dtype=torch.float64)
    for point, value in zip(points.tolist(), law(points).tolist(), strict=True):
        expected = 0.0
        for x, low, high in zip(point, (0.0, -1.0), (1.0, 2.0), strict=True):

            def integrand(z, x=x, low=low, high=high):
                return in_interval(x, z, scale, p, low, high) / (high - low)

            breaks = sorted({min(max(x + shift, low), high) for shift in (-3 * scale, 0, 3 * scale)})
            expected += math.log(integrate.quad(integrand, low, high, points=breaks, limit=200)[0])
        assert value == pytest.approx(expected, abs=1e-7)


def test_marginal_that_is_not_uniform():
    # Normal about normal is normal: variances add up.
    law = second_view_law(MarginalNormal(Euclidean(3), 2, std=1.5), GeneralizedNormal(2, std=[0.5, 1.0, 2.0]))
    z = torch.tensor([[0.3, -2.0, 4.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    widths = [(1.5**2 + own**2) ** 0.5 for own in (0.5, 1.0, 2.0)]
    expected = [sum(stats.norm.logpdf(x, 0, s) for x, s in zip(row, widths, strict=True)) for row in z.tolist()]
    assert law(z).tolist() == pytest.approx(expected, abs=1e-9)


def test_kink_of_the_marginal():
    law = second_view_law(MarginalNormal(Euclidean(1), 1, scale=1.0), GeneralizedNormal(2, std=0.2))
    points = [-0.1, 0.0, 1.3]
    expected = [
        integrate.quad(lambda z, x=x: stats.laplace.pdf(z) * stats.norm.pdf(x, z, 0.2), -3, 4, points=[0.0, x])[0]
        for x in points
    ]
    found = law(torch.tensor(points, dtype=torch.float64)[:, None]).exp()
    assert found.tolist() == pytest.approx(expected, abs=1e-8)


def test_symmetric_views_share_the_marginal():
    marginal = Uniform(Sphere(4))
    z = marginal.sample(5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.equal(second_view_law(marginal, VonMisesFisher(5.0, Sphere(4)))(z), marginal.log_prob(z))


@pytest.mark.parametrize(
    "conditional",
    [Anisotropic([1.0, 2.0, 3.0, 4.0]), GeneralizedNormal(1, scale=0.3), GeneralizedNormal(2, std=[0.3] * 4)],
)
def test_what_is_not_known_is_refused(conditional):
    with pytest.raises(ValueError, match="law of second views is not known"):
        second_view_law(Uniform(Sphere(4)), conditional.on(Sphere(4)))
