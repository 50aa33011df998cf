"""Mass that must move to uniformity, against quadrature, draws and closed forms of their own."""

import math
import re

import numpy as np
import pytest
import torch
from scipy import integrate, special, stats

from noumena.marginals import GeneralizedNormal, Product, Uniform, VonMisesFisher
from noumena.spaces import Box, Euclidean, Sphere
from noumena.theory import transported_mass

# Concentrations 2^-6, 2^-4, ... 2^10 in ten dimensions: on the sphere by quadrature over the cosine, in the box by
# Monte Carlo with 4e5 draws, both derived apart from this code.
SPHERE = [0.0020, 0.0081, 0.0323, 0.1283, 0.4594, 0.9085, 0.9971, 1.0000, 1.0000]
BOX = [0.0007, 0.0030, 0.0118, 0.0469, 0.1829, 0.5980, 0.9743, 0.9998, 1.0000]


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize(("exponent", "sphere", "box"), [*zip(range(-6, 11, 2), SPHERE, BOX, strict=True)])
def test_the_figure_of_ten_dimensions(exponent, sphere, box):
    concentration = 2.0**exponent
    assert transported_mass(VonMisesFisher(Sphere(10), concentration)) == pytest.approx(sphere, abs=6e-5)
    found = transported_mass(GeneralizedNormal(Box(10), 2, std=concentration**-0.5))
    # Four standard errors of the draws, at most sqrt(.25 / 4e5) each, and the rounding.
    assert found == pytest.approx(box, abs=4 * math.sqrt(box * (1 - box) / 4e5) + 6e-5)


@pytest.mark.parametrize(("dim", "kappa"), [(2, 3.0), (3, 0.01), (3, 40.0), (7, 5.0)])
def test_on_spheres_against_quadrature_over_the_cosine(dim, kappa):
    # The ratio of the densities at the cosine t; Z is the mean of exp(kappa t).
    order = dim / 2 - 1
    z = math.gamma(dim / 2) * (2 / kappa) ** order * special.iv(order, kappa)

    def lacking(angle):
        area = math.gamma(dim / 2) / (math.gamma((dim - 1) / 2) * math.sqrt(math.pi))
        return area * math.sin(angle) ** (dim - 2) * max(0.0, 1 - math.exp(kappa * math.cos(angle)) / z)

    kink = math.acos(math.log(z) / kappa)
    expected = integrate.quad(lacking, kink, math.pi, epsabs=1e-12)[0]
    found = transported_mass(VonMisesFisher(Sphere(dim, radius=2.0), kappa, mean=[-1.0] * dim))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("std", [0.05, 0.3, 5.0])
def test_in_an_interval_against_the_normal_law(std):
    law = stats.truncnorm((2.0 - 2.5) / std, (5.0 - 2.5) / std, loc=2.5, scale=std)
    expected = integrate.quad(lambda z: abs(law.pdf(z) - 1 / 3) / 2, 2.0, 5.0, points=[2.5, 3.0], limit=400)[0]
    found = transported_mass(GeneralizedNormal(Box(1, 2.0, 5.0), 2, std=std, center=[2.5]))
    assert found == pytest.approx(expected, abs=1e-4)


def test_in_a_box_against_a_grid_of_its_points():
    """Unequal coordinates, whose laws are convolved; the reference sums over a grid of both."""
    marginal = GeneralizedNormal(Box(2, [-1.0, 0.0], [3.0, 1.0]), 1, scale=[0.5, 0.2], center=[0.0, 0.9])
    densities = []
    for low, high, scale, center in ((-1.0, 3.0, 0.5, 0.0), (0.0, 1.0, 0.2, 0.9)):
        z = low + (high - low) * (np.arange(3000) + 0.5) / 3000
        density = np.exp(-abs(z - center) / scale)
        densities.append(density / density.mean())
    expected = np.maximum(0, 1 - np.outer(*densities)).mean()
    assert transported_mass(marginal) == pytest.approx(expected, abs=2e-5)


def test_monte_carlo_where_nothing_else_reaches():
    factor = VonMisesFisher(Sphere(3), 4.0)
    # A uniform factor changes nothing.
    product = Product([Uniform(Box(2)), factor])
    assert transported_mass(product, generator=seeded()) == pytest.approx(transported_mass(factor), abs=3.5e-3)


def test_nothing_moves_of_what_is_uniform():
    assert transported_mass(Uniform(Sphere(4))) == transported_mass(VonMisesFisher(Sphere(4), 0.0)) == 0.0
    assert transported_mass(GeneralizedNormal(Box(3), 2, std=1e4)) < 1e-6


def test_wrong_calls(unchecked_shapes):
    with pytest.raises(ValueError, match=re.escape("`marginal` must have a normalised density on a bounded space")):
        transported_mass(GeneralizedNormal(Euclidean(2), 2, std=1.0))
    with pytest.raises(ValueError, match="`generator` must be given for"):
        transported_mass(GeneralizedNormal(Sphere(3), 2, std=1.0))
    with pytest.raises(TypeError, match="`marginal`"):
        transported_mass(Sphere(3))
