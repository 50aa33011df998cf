import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, ive

from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.spaces import Box, Sphere
from tests.contracts.conditionals import ConditionalContract
from tests.statistics import ALARM, uniform_p_value, z_score


def log_vmf_normaliser(kappa, d):
    """Log of the integral of exp(kappa t) over the unit sphere of R^d, kappa > 0."""
    return d / 2 * math.log(2 * math.pi) - (d / 2 - 1) * np.log(kappa) + np.log(ive(d / 2 - 1, kappa)) + kappa


def log_area(d, radius):
    return math.log(2) + d / 2 * math.log(math.pi) - gammaln(d / 2) + (d - 1) * np.log(radius)


def cosine_p_value(z_pos, z, fixed, kappa):
    """Normal p-value of the mean cosine between v' and v, which is a quotient of Bessel functions; one kappa a row."""
    v_pos, v = z_pos[:, fixed:], z[:, fixed:]
    order = v.shape[1] / 2
    cosine = (v_pos * v).sum(1) / (v**2).sum(1)
    return 2 * stats.norm.sf(abs(z_score(cosine - ive(order, kappa) / ive(order - 1, kappa), 0.0)))


def circle_p_value(z_pos, z, kappa):
    """Of the law of the angle between v' and v, for two free coordinates after one that is kept; one kappa a row."""
    angle = np.arctan2(z_pos[:, 2], z_pos[:, 1]) - np.arctan2(z[:, 2], z[:, 1])
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return uniform_p_value(stats.vonmises.cdf(angle, kappa))


class FixedContract(ConditionalContract):
    kappa, fixed, dim, radius, concentration = 5.0, 1, 3, 1.0, "exact"

    def make(self):
        space = Sphere(self.dim, radius=self.radius)
        return FixedContent(self.kappa, self.fixed, space, self.concentration), space

    def concentrations(self, z):
        v = z[:, self.fixed :] / self.radius
        return self.kappa * (v**2).sum(1) if self.concentration == "exact" else np.full(len(z), self.kappa)

    def reference_log_prob(self, z_pos, z):
        k, free = self.fixed, self.dim - self.fixed
        rho, rho_pos = (np.sqrt((x[:, k:] ** 2).sum(1)) for x in (z, z_pos))
        on_fibre = (np.abs(z_pos - z)[:, :k] < 1e-10).all(1) & (np.abs(rho - rho_pos) < 1e-10)
        kappa = self.concentrations(z)
        cosine = (z[:, k:] * z_pos[:, k:]).sum(1) / (rho * rho_pos)
        log_prob = kappa * cosine - log_vmf_normaliser(kappa, free) - (free - 1) * np.log(rho)
        return np.where(on_fibre, log_prob, -np.inf)

    def goodness_of_fit(self, z_pos, z):
        k, free = self.fixed, self.dim - self.fixed
        if not np.array_equal(z_pos[:, :k], z[:, :k]):
            return 0.0
        kappa = self.concentrations(z)
        mean = cosine_p_value(z_pos, z, k, kappa)
        if free == 2:
            return 2 * min(mean, circle_p_value(z_pos, z, kappa))
        # A single anchor: the cosine has density exp(kappa t) (1 - t^2)^((free - 3) / 2).
        t = np.linspace(-1, 1, 20_001)
        density = np.exp(kappa[0] * (t - 1)) * (1 - t**2) ** ((free - 3) / 2)
        cumulative = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
        cosine = (z[:, k:] * z_pos[:, k:]).sum(1) / (z[:, k:] ** 2).sum(1)
        return 2 * min(mean, uniform_p_value(np.interp(cosine, t, cumulative / cumulative[-1])))

    def mutant(self):
        return FixedContent(1.05 * self.kappa, self.fixed, self.make()[1], self.concentration)

    def integration_points(self, anchor, m, generator):
        k, free = self.fixed, self.dim - self.fixed
        rho = anchor[0, k:].norm()
        w = torch.randn(m, free, generator=generator, dtype=anchor.dtype)
        z_pos = torch.cat([anchor[:, :k].expand(m, k), rho * w / w.norm(dim=1, keepdim=True)], dim=1)
        return z_pos, anchor.new_full((m,), -float(log_area(free, float(rho))))


class TestExact(FixedContract):
    pass


class TestPublished(FixedContract):
    concentration = "published"


class TestFourFreeOnALargeSphere(FixedContract):
    kappa, fixed, dim, radius = 12.0, 2, 6, 2.5

    def fit_anchors(self, n, generator, dtype):
        return Sphere(self.dim, self.radius).sample_uniform(1, torch.Generator().manual_seed(2), dtype).expand(n, -1)


class TestNothingFixed(FixedContract):
    fixed, dim = 0, 4

    def fit_anchors(self, n, generator, dtype):
        return Sphere(4).sample_uniform(1, generator, dtype).expand(n, -1)


def test_exact_and_published_are_told_apart(generator):
    """Each passes its own law and fails the other's, d = 3, k = 1, with the concentration of the experiments."""
    kappa, z = 10 / 3, Sphere(3).sample_uniform(100_000, generator, torch.float64)
    laws = {"exact": kappa * z[:, 1:].square().sum(1).numpy(), "published": np.full(len(z), kappa)}
    for drawn in laws:
        z_pos = FixedContent(kappa, fixed=1, concentration=drawn).sample(z, generator=generator)
        for tested, concentrations in laws.items():
            p_value = circle_p_value(z_pos.numpy(), z.numpy(), concentrations)
            assert (p_value > ALARM) == (drawn == tested)


def test_nothing_fixed_is_von_mises_fisher(generator):
    z = Sphere(5).sample_uniform(50, generator, torch.float64)
    free, vmf = FixedContent(7.0, fixed=0), VonMisesFisher(7.0)
    z_pos = free.sample(z, generator=generator)
    torch.testing.assert_close(free.log_prob(z_pos, z), vmf.log_prob(z_pos, z), rtol=1e-10, atol=1e-10)


def kept_share(conditional, anchor, generator):
    z = torch.tensor(anchor, dtype=torch.float64).expand(100_000, -1)
    z_pos = conditional.sample(z, generator=generator)
    assert torch.equal(z_pos.abs(), z.abs()) and torch.equal(z_pos[:, :-1], z[:, :-1])
    return int((z_pos == z).all(1).sum())


@pytest.mark.parametrize("anchor", [(0.6, 0.8), (0.8, -0.6)])
def test_the_sign_of_a_lone_coordinate(generator, anchor):
    kappa = 0.7
    exact = 1 / (1 + math.exp(-2 * kappa * anchor[1] ** 2))
    kept = kept_share(FixedContent(kappa, fixed=1), anchor, generator)
    assert stats.binomtest(kept, 100_000, exact).pvalue > ALARM
    assert stats.binomtest(kept, 100_000, 1 / (1 + math.exp(-2 * kappa))).pvalue < ALARM
    fair = kept_share(FixedContent(kappa, fixed=1, concentration="published"), anchor, generator)
    assert stats.binomtest(fair, 100_000, 0.5).pvalue > ALARM
    assert stats.binomtest(kept, 100_000, 0.5).pvalue < ALARM

    z = torch.tensor([anchor, anchor], dtype=torch.float64)
    z_pos = z * torch.tensor([[1.0, 1.0], [1.0, -1.0]])
    log_prob = FixedContent(kappa, fixed=1).log_prob(z_pos, z)
    np.testing.assert_allclose(log_prob.exp(), [exact, 1 - exact], rtol=1e-12)
    log_prob = FixedContent(kappa, fixed=1, concentration="published").log_prob(z_pos, z)
    np.testing.assert_allclose(log_prob.exp(), [0.5, 0.5], rtol=1e-12)


def test_everything_fixed_is_a_copy(generator):
    z = Sphere(3).sample_uniform(10, generator)
    conditional = FixedContent(5.0, fixed=3)
    z_pos = conditional.sample(z, generator=generator)
    assert torch.equal(z_pos, z) and z_pos.data_ptr() != z.data_ptr()
    assert (conditional.log_prob(z_pos, z) == 0).all()
    assert (conditional.log_prob(-z, z) == -math.inf).all()
    assert torch.equal(conditional.sample_support(z, 4, generator=generator), z[:, None].expand(-1, 4, -1))


@pytest.mark.parametrize("concentration", ["exact", "published"])
@pytest.mark.parametrize("fixed", [1, 2])
def test_a_fibre_of_one_point(generator, concentration, fixed):
    z = torch.zeros(5, 3)
    z[:, 0] = 1.0  # v = 0
    conditional = FixedContent(5.0, fixed=fixed, concentration=concentration)
    assert torch.equal(conditional.sample(z, generator=generator), z)
    assert (conditional.log_prob(z, z) == 0).all()
    assert torch.equal(conditional.sample_support(z, 2, generator=generator), z[:, None].expand(-1, 2, -1))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    d=st.integers(1, 6),
    data=st.data(),
    kappa=st.floats(0, 1e4),
    radius=st.floats(0.1, 10),
    concentration=st.sampled_from(["exact", "published"]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_the_fixed_part_is_kept_bit_for_bit(d, data, kappa, radius, concentration, dtype):
    fixed, generator = data.draw(st.integers(0, d)), torch.Generator().manual_seed(5)
    space = Sphere(d, radius=radius)
    conditional = FixedContent(kappa, fixed, space, concentration)
    z = space.sample_uniform(20, generator, dtype)
    z_pos, support = conditional.sample(z, generator=generator), conditional.sample_support(z, 3, generator=generator)
    assert z_pos.dtype == support.dtype == dtype
    assert torch.equal(z_pos[:, :fixed], z[:, :fixed])
    assert torch.equal(support[:, :, :fixed], z[:, None, :fixed].expand(-1, 3, -1))
    assert space.contains(z_pos).all() and space.contains(support.reshape(60, d)).all()
    assert torch.isfinite(conditional.log_prob(z_pos, z)).all()


def test_support_draws_are_uniform_on_the_fibre(generator):
    z = Sphere(3).sample_uniform(1000, generator, torch.float64)
    support = FixedContent(50.0, fixed=1).sample_support(z, 100, generator=generator)
    repeated = z[:, None].expand_as(support).reshape(-1, 3).numpy()
    support = support.reshape(-1, 3).numpy()
    np.testing.assert_allclose(np.hypot(support[:, 1], support[:, 2]), np.hypot(repeated[:, 1], repeated[:, 2]))
    assert circle_p_value(support, repeated, np.full(len(support), 1e-9)) > ALARM
    assert circle_p_value(support, repeated, np.full(len(support), 0.05)) < ALARM


def test_wrong_parameters_are_refused(generator):
    with pytest.raises(ValueError, match="`kappa` must be at least 0"):
        FixedContent(-1.0, fixed=1)
    with pytest.raises(ValueError, match="`fixed` must be at least 0"):
        FixedContent(1.0, fixed=-1)
    with pytest.raises(ValueError, match="`fixed` must be at most the 3 coordinates of a point, got 4"):
        FixedContent(1.0, fixed=4, space=Sphere(3))
    with pytest.raises(ValueError, match="`fixed` must be at most the 3"):
        FixedContent(1.0, fixed=4).sample(Sphere(3).sample_uniform(2, generator), generator=generator)
    with pytest.raises(ValueError, match="lives on a sphere"):
        FixedContent(1.0, fixed=1).on(Box(3))


def test_misspelt_concentration_is_refused(unchecked_shapes):
    with pytest.raises(ValueError, match="did you mean 'published'"):
        FixedContent(1.0, fixed=1, concentration="publish")  # pyright: ignore
