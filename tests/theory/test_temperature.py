"""Statement 2 of docs/theory.md: isometries at a temperature that does not match, by quadrature."""

import math

import pytest
import torch
from scipy import special

from noumena.conditionals import VonMisesFisher
from noumena.losses import Dot
from noumena.marginals import Uniform
from noumena.pairs import Synthetic
from noumena.spaces import Sphere
from noumena.theory import Fold, Shrink, Tilt, asymptotic_loss, temperature_slack


def loss(h, dim: int, kappa: float, beta: float) -> float:
    return asymptotic_loss(
        h, Synthetic(Uniform(Sphere(dim)), VonMisesFisher(kappa)), Dot(1 / beta), resolution=10
    ).total


def latents(z):
    return z


def slack(d: int, kappa: float, beta: float) -> float:
    """With scipy's Bessel functions, and the loss of isometries on the circle and in three dimensions."""

    def ratio(k, order):
        return special.ive(d / 2 - 1 + order, k) / special.ive(d / 2 - 1, k)

    first, second, score = ratio(kappa, 1), ratio(kappa, 2), ratio(beta, 1)
    curvature = d * (score - score**2 / 2) - beta * (1 - first - (first - second) / (d - 1))
    partition = math.log(special.i0(beta)) if d == 2 else math.log(math.sinh(beta) / beta)
    return min(curvature, beta * first - partition)


@pytest.mark.parametrize(("dim", "kappa", "beta"), [(3, 1.0, 10.0), (3, 2.0, 5.0), (2, 1.0, 4.0), (3, 10.0, 1.0)])
def test_the_slack_is_a_curvature_or_the_lead_on_a_constant_map(dim, kappa, beta):
    found = temperature_slack(dim, kappa, beta)
    assert found == pytest.approx(slack(dim, kappa, beta), abs=1e-9)
    shift, mean = 1e-2, 1e-2 * (dim - 1) / dim
    isometries = loss(latents, dim, kappa, beta)
    curvature = (loss(Tilt(shift), dim, kappa, beta) - isometries) / mean**2
    assert found == pytest.approx(min(curvature, -isometries), abs=2e-3)


@pytest.mark.parametrize("dim", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.1, 1.0, 10.0, 100.0])
def test_at_the_matched_temperature_and_above_it_there_is_slack(dim, kappa):
    assert temperature_slack(dim, kappa, kappa) > 0
    assert temperature_slack(dim, kappa, kappa / 4) > 0
    assert temperature_slack(dim, kappa, 40 * kappa + 10) < 0


@pytest.mark.parametrize(("kappa", "beta"), [(1.0, 10.0), (2.0, 6.0)])
def test_without_slack_a_map_beats_the_isometries(kappa, beta):
    assert temperature_slack(3, kappa, beta) < 0
    assert min(loss(Tilt(shift), 3, kappa, beta) for shift in (1.0, 2.0, 4.0)) < loss(latents, 3, kappa, beta) - 0.1


@pytest.mark.parametrize("beta", [0.5, 4.0, 12.0])
def test_maps_of_mean_zero_never_beat_isometries(beta):
    isometries = loss(latents, 3, 4.0, beta)
    for factor in (0.3, 0.8, 1.5):
        assert loss(Shrink(factor=factor), 3, 4.0, beta) > isometries
    turned = asymptotic_loss(
        lambda z: Shrink(factor=0.7)(z.roll(1, dims=1)),
        Synthetic(Uniform(Sphere(3)), VonMisesFisher(4.0)),
        Dot(1 / beta),
    )
    assert turned.total > isometries


def test_a_fold_has_a_mean_and_may_win():
    # Far too cold a score prefers half of a sphere, with every pair nearer, to all of it.
    assert loss(Fold(), 3, 1.0, 10.0) < loss(latents, 3, 1.0, 10.0)


def test_a_tilt_keeps_the_norm_and_ends_in_a_point():
    z = 2 * Sphere(4).sample_uniform(50, torch.Generator().manual_seed(0), torch.float64)
    assert torch.allclose(Tilt(3.0)(z).norm(dim=1), z.norm(dim=1)) and torch.allclose(Tilt(0.0)(z), z)
    assert torch.allclose(Tilt(1e9)(z), 2 * torch.eye(4, dtype=z.dtype)[:1], atol=1e-8)


def test_wrong_calls_of_temperature(unchecked_shapes):
    with pytest.raises(ValueError, match="`dim` must be at least 2, got 1"):
        temperature_slack(1, 1.0, 1.0)
    with pytest.raises(ValueError, match="`shift` must be at least 0"):
        Tilt(-1.0)
