"""Positives against negatives: on the sphere of three coordinates the two densities are known."""

import math

import numpy as np
import pytest
from scipy import integrate
from torch import nn

from noumena.conditionals import VonMisesFisher
from noumena.diagnostics import Overlap
from noumena.marginals import Uniform
from noumena.pairs import Given, Synthetic
from noumena.spaces import Sphere
from tests.diagnostics.subjects import subject


def source(kappa: float) -> Synthetic:
    return Synthetic(Uniform(Sphere(3)), VonMisesFisher(kappa))


def overlap_of_densities(kappa: float) -> float:
    """Cosines of negatives are uniform on [-1, 1], those of vMF positives have density kappa e^{kappa t} / (2 sinh)."""

    def lower(t: float) -> float:
        return min(0.5, kappa * math.exp(kappa * t) / (2 * math.sinh(kappa)))

    return integrate.quad(lower, -1, 1, limit=200)[0]


@pytest.mark.parametrize("kappa", [0.5, 2.0, 8.0])
def test_overlap_is_that_of_the_densities(kappa, generator):
    found = Overlap(n=3000, of="latents", bins=30)(subject(source(kappa)), generator)
    # 3000 positives in 30 bins: each bin is off by about 0.1 of its density, and the errors largely cancel.
    assert found.values["overlap"] == pytest.approx(overlap_of_densities(kappa), abs=0.03)
    widths = 2 / 30
    for curve in found.curves.values():
        assert sum(curve.y) * widths == pytest.approx(1.0)
    assert np.allclose(found.curves["negative pairs"].y, 0.5, atol=0.05)


def test_concentrated_positives_are_all_nearest(generator):
    near = Overlap(n=50, of="latents")(subject(source(1e6)), generator).values
    assert near["overlap"] < 0.15 and near["nearest_is_positive"] > 0.95
    # Positives that do not depend on their anchor are nearest as often as any of 50 candidates.
    far = Overlap(n=2000, of="latents")(subject(source(1e-4)), generator).values
    assert far["overlap"] > 0.9 and far["nearest_is_positive"] < 0.005


def test_embeddings_are_read_where_they_are_asked_for(generator):
    class Constant(nn.Module):
        def forward(self, x):
            return x * 0 + 1

    one = subject(source(1e6), encoder=Constant())
    assert Overlap(n=50)(one, generator).values["nearest_is_positive"] == 0
    assert Overlap(n=50, of="latents")(one, generator).values["nearest_is_positive"] > 0.95


def test_wrong_calls_of_overlap(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="did you mean 'latents'?"):
        Overlap(of="latent")
    batch = source(3.0).draw(60, generator)
    without = Given(batch.x, batch.x_pos)
    with pytest.raises(ValueError, match="needs a source that knows its latents"):
        Overlap(n=50, of="latents")(subject(without), generator)
