"""Draws and masses of the generalized normal law, whole and restricted, against scipy."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noumena import _generalized_normal as law
from noumena import _rng, _truncation
from tests.references.generalized_normal import cdf, truncated_cdf, truncated_log_prob, width_p_value
from tests.statistics import ALARM, fits_cdf, uniform_p_value

POWERS = [1.0, 1.5, 2.0, 8.0]


def truncated(low, high, p, generator, n=100_000):
    bounds = torch.tensor([low, high], dtype=torch.float64)[:, None].expand(2, n)
    return law.sample_truncated(*bounds, p, generator)


@pytest.mark.parametrize("p", POWERS)
def test_standard_draws_fit_and_a_wrong_width_or_power_does_not(generator, p):
    for dtype in (torch.float32, torch.float64):
        draws = law.sample((100_000,), p, generator, dtype)
        assert draws.dtype == dtype
        assert fits_cdf(draws, lambda x: cdf(x, p)) > ALARM
        assert width_p_value(draws, p) > ALARM
    assert width_p_value(1.025 * draws, p) < ALARM
    assert width_p_value(law.sample((100_000,), 1.2 * p, generator, torch.float64), p) < ALARM


@pytest.mark.parametrize("p", POWERS)
def test_the_reference_is_that_of_scipy(p):
    x = np.linspace(-4, 4, 34)
    np.testing.assert_allclose(cdf(x, p), stats.gennorm.cdf(x, p), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("p", POWERS)
def test_log_prob(p):
    x = np.linspace(-4, 4, 33)
    np.testing.assert_allclose(law.log_prob(torch.from_numpy(x), p), stats.gennorm.logpdf(x, p), rtol=1e-12)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (0.0, 1e3), (0.0, 1e-3), (-1e-3, 5.0), (0.7, 1.5), (-2.0, -0.5)]
)
def test_truncated_draws_fit(generator, p, low, high):
    draws = truncated(low, high, p, generator)
    assert fits_cdf(draws, lambda x: truncated_cdf(x, 0, 1, p, low, high)) > ALARM


def test_truncated_draws_fit_the_named_laws_far_in_a_tail(generator):
    # Forty scales out; the normal law of scale 1 has standard deviation 1 / sqrt(2), which truncnorm counts in.
    normal = truncated(40.0, 41.0, 2.0, generator)
    root = np.sqrt(2)
    assert fits_cdf(normal, stats.truncnorm(40 * root, 41 * root, scale=1 / root).cdf) > ALARM
    assert fits_cdf(normal, stats.truncnorm(42 * root, 43 * root, loc=-2, scale=1 / root).cdf) < ALARM
    laplace = truncated(-1e3, -999.0, 1.0, generator)
    assert fits_cdf(-laplace, lambda x: stats.truncexpon(1, loc=999).cdf(x)) > ALARM


@pytest.mark.parametrize("p", [1.2, 3.0])
def test_a_centre_outside_leaves_an_exponential_at_the_edge(generator, p):
    # At distance e from the centre the potential rises by p e^(p-1) per unit, and bends on a scale e times longer.
    edge = torch.full((100_000,), 1e6, dtype=torch.float64)
    offset = _truncation.Interval(edge, torch.zeros_like(edge), torch.ones_like(edge)).sample(p, generator)
    rate = p * 1e6 ** (p - 1)
    assert fits_cdf(offset, lambda x: -np.expm1(-rate * x) / -np.expm1(-rate)) > ALARM
    assert fits_cdf(offset, lambda x: -np.expm1(-1.05 * rate * x) / -np.expm1(-1.05 * rate)) < ALARM


def test_clamping_instead_of_truncating_is_caught(generator):
    clamped = law.sample((100_000,), 2.0, generator, torch.float64).clamp(-1, 2)
    assert fits_cdf(clamped, lambda x: truncated_cdf(x, 0, 1, 2, -1, 2)) < ALARM


def test_no_interval_needs_more_proposals_than_promised(generator, monkeypatch):
    used = []

    def counted(shape, *args):
        used.append(int(np.prod(shape)))
        return uniform(shape, *args)

    uniform = _rng.uniform
    monkeypatch.setattr(_rng, "uniform", counted)
    # Any intervals at any distance: each draw spends two uniform numbers for each proposal.
    n = 20_000
    edge = 10 ** (8 * torch.rand(n, generator=generator, dtype=torch.float64) - 4)
    length = 10 ** (12 * torch.rand(n, generator=generator, dtype=torch.float64) - 8)
    none = torch.zeros_like(edge)
    for p in (1.1, 2.0, 5.0, 50.0):
        for interval in ((edge, length, none), (none, length, length.flip(0)), (none, none, length)):
            used.clear()
            draws = _truncation.Interval(*interval).sample(p, generator)
            assert torch.isfinite(draws).all()
            # Accepted with probability 1 - 1/e at least; a mean of geometric counts, five standard errors.
            assert sum(used) / 2 / n < 1 / (1 - np.exp(-1)) + 5 * 1.0 / n**0.5


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 3.0, 30.0])
def test_log_mass(p):
    far = 40.0 if p < 5 else 1.5
    low = np.array([-2.0, 0.0, -1e-6, 1e-9, 0.3, 0.3, 1.0, 1.0, far, far, -far - 1e-3])
    high = np.array([1.0, 0.5, 1e-6, 2e-9, 0.3001, 5.0, 1.00001, 1.9, far + 1e-7, far + 9, -far])
    inside = np.clip(0, low, high)
    reference = stats.gennorm.logpdf(inside, p) - truncated_log_prob(inside, 0.0, 1.0, p, low, high)
    ours = law.log_mass(torch.from_numpy(low), torch.from_numpy(high), p)
    np.testing.assert_allclose(ours, reference, rtol=1e-10, atol=1e-10)


def test_log_mass_of_a_half_line_and_of_everything():
    infinity = torch.tensor([np.inf], dtype=torch.float64)
    for p in POWERS:
        assert float(law.log_mass(-infinity, infinity, p)) == pytest.approx(0, abs=1e-14)
        assert float(law.log_mass(0 * infinity.nan_to_num(), infinity, p)) == pytest.approx(np.log(0.5), abs=1e-14)
    assert float(law.log_mass(0 * infinity.nan_to_num() + 50, infinity, 2.0)) == pytest.approx(
        stats.norm.logsf(50, scale=0.5**0.5), rel=1e-12
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    p=st.floats(1, 60),
    low=st.floats(-1e4, 1e4),
    width=st.floats(1e-3, 1e4),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 1000),
)
def test_any_interval(p, low, width, dtype, seed):
    low = torch.full((50,), low, dtype=dtype)
    high = low + width
    if bool((high <= low).any()):
        return
    draws = law.sample_truncated(low, high, p, torch.Generator().manual_seed(seed))
    assert draws.dtype == dtype
    assert ((draws >= low) & (draws <= high)).all()
    if dtype == torch.float64 and float(torch.maximum(low.abs(), high.abs()).max()) ** p < 1e8:
        middle = low + width / 3
        parts = torch.stack([law.log_mass(low, middle, p), law.log_mass(middle, high, p)])
        whole = law.log_mass(low, high, p)
        assert (whole <= 1e-12).all()
        # The potential itself is known to 1e-16 of 1e8 only.
        torch.testing.assert_close(parts.logsumexp(0), whole, rtol=1e-12, atol=1e-6)


def test_draws_of_many_intervals_at_once(generator):
    low = torch.rand(100_000, generator=generator, dtype=torch.float64) * -3
    high = torch.rand(100_000, generator=generator, dtype=torch.float64) * 3
    for p in (1.0, 2.0, 3.0):
        draws = law.sample_truncated(low, high, p, generator)
        assert uniform_p_value(truncated_cdf(draws.numpy(), 0, 1, p, low.numpy(), high.numpy())) > ALARM
