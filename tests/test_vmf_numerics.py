"""The shared von Mises-Fisher law: draws over the whole range of kappa and d, and the normaliser against mpmath."""

import mpmath
import numpy as np
import pytest
import torch
from scipy import special, stats

from noumena import _vmf
from noumena.spaces import Sphere
from tests.references import vmf as reference
from tests.statistics import ALARM, uniform_p_value

KAPPAS = [1e-3, 0.3, 10.0, 1e3, 1e5]


def draw(n, d, kappa, dtype, seed=5):
    generator = torch.Generator().manual_seed(seed)
    mean = Sphere(d).sample_uniform(n, generator, dtype)
    return _vmf.sample(mean, torch.full((n,), kappa, dtype=dtype), generator), mean


# float32 at the extremes, where a sampler that goes through the cosine fails; float64 in between.
@pytest.mark.parametrize(("kappa", "dtype"), list(zip(KAPPAS, [torch.float32, torch.float64] * 3, strict=False)))
@pytest.mark.parametrize("d", [2, 3, 10])
def test_angles_fit(d, kappa, dtype):
    x, mean = draw(100_000, d, kappa, dtype)
    assert x.dtype == dtype and Sphere(d).contains(x).all()
    angles = reference.versine(x.double().numpy(), mean.double().numpy())
    assert uniform_p_value(reference.versine_cdf(kappa, d)(angles)) > ALARM
    if kappa > 1:  # the mutant; at small kappa three per cent are too little to see
        assert uniform_p_value(reference.versine_cdf(1.05 * kappa, d)(angles)) < ALARM


@pytest.mark.parametrize("kappa", [1e-3, 100.0, 1e5])
@pytest.mark.parametrize("d", [512, 1024])
def test_angles_fit_in_high_dimension(d, kappa):
    x, mean = draw(2_000, d, kappa, torch.float32)
    assert Sphere(d).contains(x).all()
    angles = reference.versine(x.double().numpy(), mean.double().numpy())
    assert uniform_p_value(reference.versine_cdf(kappa, d)(angles)) > ALARM
    if kappa > 1:
        assert uniform_p_value(reference.versine_cdf(1.2 * kappa, d)(angles)) < ALARM


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [1e-3, 1.0, 1e3, 1e5])
def test_angles_fit_in_high_dimension_with_many_draws(kappa):
    x, mean = draw(100_000, 512, kappa, torch.float32)
    angles = reference.versine(x.double().numpy(), mean.double().numpy())
    assert uniform_p_value(reference.versine_cdf(kappa, 512)(angles)) > ALARM


def test_each_row_has_its_own_kappa():
    n, d = 100_000, 4
    generator = torch.Generator().manual_seed(6)
    mean = Sphere(d).sample_uniform(n, generator, torch.float64)
    kappa = torch.tensor(KAPPAS, dtype=torch.float64).repeat(n // len(KAPPAS))
    x = _vmf.sample(mean, kappa, generator)
    angles = reference.versine(x.numpy(), mean.numpy())

    def p_value(order):
        places = np.empty(n)
        for j, k in enumerate(order):
            places[j :: len(KAPPAS)] = reference.versine_cdf(k, d)(angles[j :: len(KAPPAS)])
        return uniform_p_value(places)

    assert p_value(KAPPAS) > ALARM
    assert p_value(KAPPAS[::-1]) < ALARM


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("d", [3, 10])
def test_directions_are_uniform_and_kappa_zero_is_the_uniform_law(d, dtype):
    x, mean = draw(100_000, d, 0.0, dtype)
    assert reference.fit(x.double().numpy(), mean.double().numpy(), 0.0) > ALARM
    # A coordinate of a uniform point, whatever the mean was.
    assert stats.kstest((1 + x[:, 0].double().numpy()) / 2, stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > ALARM


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_tangents_are_orthogonal_wherever_the_mean_points(d, sign, generator):
    axes = sign * torch.eye(d)
    mean = torch.cat([axes, Sphere(d).sample_uniform(10_000, generator)])
    tangent = _vmf._tangent(mean, generator)
    eps = torch.finfo(torch.float32).eps
    assert ((tangent * mean).sum(1).abs() < 8 * eps).all()
    assert ((tangent.norm(dim=1) - 1).abs() < 8 * eps).all()


def test_in_one_dimension_the_sign_is_kept_with_the_logistic_probability():
    x, mean = draw(100_000, 1, 0.6, torch.float64)
    kept = int((x == mean).sum())
    assert torch.equal(x.abs(), mean.abs())
    assert stats.binomtest(kept, 100_000, special.expit(1.2)).pvalue > ALARM
    assert stats.binomtest(kept, 100_000, special.expit(0.6)).pvalue < ALARM


# ------------------------------------------------------------------------------------------------ the normaliser

DIMS = [1, 2, 3, 4, 10, 49, 50, 51, 512, 2048]
GRID = [1e-12, 1e-3, 0.5, 1.0, 10.0, 50.0, 300.0, 1e4, 1e5, 1e7]


def exact(kappa: float, d: int) -> tuple[float, float]:
    with mpmath.workdps(50):
        v, k = mpmath.mpf(d) / 2 - 1, mpmath.mpf(kappa)
        bessel, above = mpmath.besseli(v, k), mpmath.besseli(v + 1, k)
        log_normaliser = mpmath.mpf(d) / 2 * mpmath.log(2 * mpmath.pi) + mpmath.log(bessel) - v * mpmath.log(k)
        return float(log_normaliser), float(above / bessel)


@pytest.mark.parametrize("d", DIMS)
def test_normaliser_and_mean_resultant(d):
    kappa = torch.tensor(GRID, dtype=torch.float64)
    log_normaliser, resultant = zip(*(exact(k, d) for k in GRID), strict=True)
    torch.testing.assert_close(_vmf.log_normaliser(kappa, d), kappa.new_tensor(log_normaliser), rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(_vmf.mean_resultant(kappa, d), kappa.new_tensor(resultant), rtol=1e-13, atol=0)


@pytest.mark.parametrize("d", DIMS)
def test_normaliser_at_zero_is_the_area(d):
    zero = torch.zeros((), dtype=torch.float64)
    assert float(_vmf.log_normaliser(zero, d)) == pytest.approx(Sphere(d).log_volume, rel=1e-14)
    assert float(_vmf.mean_resultant(zero, d)) == 0.0


@pytest.mark.parametrize("d", [1, 2, 3, 10, 512])
def test_scaled_normaliser_keeps_float32(d):
    kappa = torch.tensor([1e-3, 1.0, 100.0, 1e5])
    wanted = torch.tensor([exact(k, d)[0] - k for k in kappa.tolist()])
    # Its terms are of the size of the order that the expansion starts from, each known to a unit of float32.
    torch.testing.assert_close(_vmf.log_scaled_normaliser(kappa, d), wanted, rtol=1e-6, atol=1e-6 * max(d, 24))


@pytest.mark.parametrize("d", [1, 2, 3, 10, 512])
def test_the_slope_of_the_normaliser_is_the_mean_resultant(d):
    kappa = torch.tensor(GRID[1:], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(_vmf.log_normaliser(kappa, d).sum(), kappa)
    torch.testing.assert_close(slope, _vmf.mean_resultant(kappa, d).detach(), rtol=1e-10, atol=1e-10)


def test_mean_resultant_in_closed_form():
    kappa = torch.tensor([0.1, 2.0, 30.0], dtype=torch.float64)
    torch.testing.assert_close(_vmf.mean_resultant(kappa, 1), kappa.tanh())
    torch.testing.assert_close(_vmf.mean_resultant(kappa, 3), 1 / kappa.tanh() - 1 / kappa)
