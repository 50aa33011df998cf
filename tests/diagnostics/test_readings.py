"""The statistics behind each reading, against references that share no line with them."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from noumena.bench.planted import Mirrored
from noumena.conditionals import Anisotropic, GeneralizedNormal, VonMisesFisher
from noumena.diagnostics import (
    arrays,
    collapse,
    crowding,
    diversity,
    domain,
    fitted,
    modes,
    moments,
    sample,
    support,
    tails,
    uniformity,
)
from noumena.marginals import Uniform
from noumena.marginals import VonMisesFisher as Marginal
from noumena.spaces import Box, Euclidean, Sphere


def looked_at(h, h_pos, space="auto", seed=0) -> sample.Sample:
    generator = torch.Generator().manual_seed(seed)
    gathered = moments.accumulate(h, h_pos, lambda share: None)
    rows = sample.choose(len(h), generator)
    find, measure = sample.halves(h, h_pos, rows)
    home = support.find(gathered, torch.cat([find.h, measure.h]), space)
    return sample.Sample(
        home,
        gathered.rescaled(home.offset, home.scale),
        *(sample.Half(home.unit(half.h), home.unit(half.h_pos)) for half in (find, measure)),
        rows=rows,
        n=len(h),
        level=0.01,
        generator=generator,
    )


def pairs(law, marginal, n=8000, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    z = marginal.sample(n, generator=generator, dtype=dtype)
    return z, law.on(marginal.space).sample(z, generator=generator)


# ------------------------------------------------------------------------------------------------------- moments


def test_moments_are_those_of_all_rows(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 64)
    generator = torch.Generator().manual_seed(0)
    h, h_pos = 5 + torch.randn(2, 333, 3, generator=generator, dtype=torch.float64)
    found = moments.accumulate(h, h_pos, lambda share: None)
    pooled = np.concatenate([h.numpy(), h_pos.numpy()])
    gap = (h_pos - h).numpy()
    assert np.allclose(found.mean(), pooled.mean(0), atol=1e-12)
    assert np.allclose(found.covariance(), np.cov(pooled.T, bias=True), atol=1e-12)
    assert np.allclose(found.difference(), gap.T @ gap / (2 * 333), atol=1e-12)
    mean, second = found.of_anchors()
    assert np.allclose(mean, h.numpy().mean(0)) and np.allclose(second, h.numpy().T @ h.numpy() / 333)
    assert found.longest == pytest.approx(np.linalg.norm(pooled, axis=1).max())
    scaled = found.rescaled(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 1.0, 0.5]))
    again = (pooled - [1, 2, 3]) * [2, 1, 0.5]
    assert np.allclose(scaled.covariance(), np.cov(again.T, bias=True)) and np.allclose(scaled.mean(), again.mean(0))
    even = np.concatenate([h.numpy()[::2], h_pos.numpy()[::2]])
    assert np.allclose(found.covariance(moments.FIND), np.cov(even.T, bias=True), atol=1e-12)


# --------------------------------------------------------------------------------------------------------- space


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (lambda g: 7 * Sphere(4).sample_uniform(2000, g), "sphere"),
        (lambda g: Box(4, -1.0, 3.0).sample_uniform(2000, g), "box"),
        (lambda g: torch.randn(2000, 4, generator=g), "free"),
        (lambda g: torch.randn(2000, 4, generator=g).exp(), "free"),
        (lambda g: torch.cat([torch.rand(2000, 3, generator=g), torch.randn(2000, 1, generator=g)], 1), "free"),
    ],
)
def test_the_space_is_told(rows, kind, generator):
    h, h_pos = rows(generator), rows(generator)
    assert looked_at(h, h_pos).support.kind == kind


# ----------------------------------------------------------------------------------------------------- diversity


@pytest.mark.parametrize(("noise", "found"), [(0.0, 1), (0.02, 1), (0.1, 0)])
def test_a_direction_is_fixed_below_the_tolerance_alone(noise, found, generator):
    # Movement over variance is noise^2 / 2 here and 1/3 elsewhere: a thousandth of that is passed at noise = 0.026.
    h = torch.randn(8000, 4, generator=generator, dtype=torch.float64)
    step = torch.randn(8000, 4, generator=generator, dtype=torch.float64)
    step[:, 0] *= noise
    mix = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    spectrum = diversity.spectrum(looked_at(h @ mix, (h + step) @ mix))
    assert diversity.fixed(spectrum, 0.01) == found
    expected = noise**2 / 2 / (1 + noise**2 / 2)
    assert float(spectrum.ratio[0]) == pytest.approx(expected, rel=0.15, abs=1e-12)
    # h @ mix @ w is the first coordinate.
    weights = mix @ spectrum.directions[:, 0]
    assert abs(float(weights[0])) > 0.99 * float(weights.norm())


def test_ratios_are_the_eigenvalues():
    from scipy.linalg import eigh

    covariance = np.cov(np.random.default_rng(0).normal(size=(5, 40)))
    difference = np.cov(np.random.default_rng(1).normal(size=(5, 40)))
    directions = diversity.canonical(torch.from_numpy(covariance), torch.from_numpy(difference)).numpy()
    values = eigh(difference, covariance, eigvals_only=True)
    assert np.allclose(directions.T @ covariance @ directions, np.eye(5), atol=1e-10)
    assert np.allclose(directions.T @ difference @ directions, np.diag(values), atol=1e-10)


# ----------------------------------------------------------------------------------------------------- precision


def test_score_matching_on_the_sphere_is_where_its_objective_is_least(generator):
    # E[|grad s|^2 / 2 + div grad s] by automatic differentiation of s(x / |x|), which is constant along rays: its
    # gradient and Laplacian in R^m are those of the sphere.
    v = torch.nn.functional.normalize(torch.randn(40, 3, generator=generator, dtype=torch.float64), dim=1)
    v_pos = torch.nn.functional.normalize(v + 0.5 * torch.randn(40, 3, generator=generator, dtype=torch.float64), dim=1)
    a, b, influence = fitted._sphere(v, v_pos)

    def objective(precision):
        total = 0.0
        for z, z_pos in zip(v, v_pos, strict=True):

            def s(x, z=z):
                return -((x / x.norm() - z).square() * precision).sum()

            gradient = torch.autograd.functional.jacobian(s, z_pos, create_graph=True)
            hessian = torch.autograd.functional.hessian(s, z_pos, create_graph=True)
            total = total + gradient.square().sum() / 2 + hessian.trace()
        return total / len(v)

    precision = torch.linalg.solve(a, b).requires_grad_()
    (slope,) = torch.autograd.grad(objective(precision), precision)
    assert float(slope.abs().max()) < 1e-9
    elsewhere = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(objective(elsewhere), elsewhere)
    assert torch.allclose(slope, -4 * influence(elsewhere.detach()).mean(0), atol=1e-9)


def test_score_matching_in_a_box_is_where_its_objective_is_least():
    v, v_pos = np.random.default_rng(0).uniform(0.05, 0.95, size=(2, 50, 2))
    a, b, _ = fitted._flat(torch.from_numpy(v), torch.from_numpy(v_pos), "box")
    found = torch.linalg.solve(a, b).numpy()

    def objective(lam):
        step = 1e-5
        slope = -2 * lam * (v_pos - v)
        flow = [(x * (1 - x)) * -2 * lam * (x - v) for x in (v_pos - step, v_pos + step)]
        return (v_pos * (1 - v_pos) * slope**2 / 2 + (flow[1] - flow[0]) / (2 * step)).mean(0)

    for shift in (-0.1, 0.1):
        assert (objective(found) < objective(found * (1 + shift))).all()


UNEVEN = [40.0, 20.0, 10.0, 5.0]
LAWS = {
    "sphere": (Anisotropic(UNEVEN), Uniform(Sphere(4)), UNEVEN),
    "sphere, any marginal": (VonMisesFisher(20.0), Marginal(Sphere(4), 4.0), [10.0] * 4),
    "sphere, hardly gathered": (VonMisesFisher(1.0), Uniform(Sphere(3)), [0.5] * 3),
    "box": (GeneralizedNormal(2, std=[0.1, 0.2, 0.4]), Uniform(Box(3)), [50.0, 12.5, 3.125]),
}


@pytest.mark.parametrize("name", LAWS)
def test_precisions_are_the_laws(name):
    law, marginal, truth = LAWS[name]
    found = fitted.fit(looked_at(*pairs(law, marginal)), fixed=0)
    assert found is not None
    z_scores = (found.precision.numpy() - truth) / found.covariance.diagonal().sqrt().numpy()
    # |z| < 5 alarms once in 1.7 million. The precision of curvature-blind differences, 1 / (2 E t^2), fails here.
    assert np.abs(z_scores).max() < 5
    assert (found.covariance.diagonal().sqrt().numpy() < 0.2 * np.array(truth) + 0.3).all()


@pytest.mark.slow
def test_intervals_of_precisions_cover():
    inside = []
    for seed in range(60):
        found = fitted.fit(looked_at(*pairs(Anisotropic(UNEVEN), Uniform(Sphere(4)), n=1500, seed=seed)), fixed=0)
        assert found is not None
        error = found.covariance.diagonal().sqrt().numpy()
        inside += (np.abs(found.precision.numpy() - UNEVEN) < 1.96 * error).tolist()
    # 240 intervals, nearly independent: 95 % of them give .95 ± .014.
    assert 0.88 < np.mean(inside) < 0.99


def test_draws_of_the_fitted_law_are_its_own(generator):
    axes = torch.eye(3, dtype=torch.float64)
    law = fitted.Fitted("sphere", axes, torch.zeros(3), torch.tensor([20.0, 20.0, 5.0]), torch.eye(3))
    z = Sphere(3).sample_uniform(20_000, generator, torch.float64)
    drawn = law.draw(z, generator)
    direct = Anisotropic([20.0, 20.0, 5.0]).sample(z, generator=generator)
    for one, other in zip((drawn - z).mT, (direct - z).mT, strict=True):
        assert stats.ks_2samp(one, other).pvalue > 1e-6


# ---------------------------------------------------------------------------------------------------- uniformity


def test_energies_on_the_sphere_are_double_sums(generator):
    z = Sphere(4).sample_uniform(150, generator, torch.float64)
    (first, freedom1), (second, freedom2) = uniformity._sphere(z.mean(0), z.mT @ z / 150)
    cosine = (z @ z.mT).numpy()
    # Addition theorem: the harmonics of a degree sum to d cos, and to d (d + 2) / 2 (cos^2 - 1 / d).
    assert first == pytest.approx((4 * cosine).mean()) and freedom1 == 4
    assert second == pytest.approx((12 * (cosine**2 - 0.25)).mean()) and freedom2 == 9


def test_energies_in_a_box_are_squared_means_of_orthonormal_functions():
    z = np.random.default_rng(0).uniform(size=(200, 3)) ** 1.2
    (first, _), (second, freedom) = uniformity._box(torch.from_numpy(z.mean(0)), torch.from_numpy(z.T @ z / 200))
    legendre = [np.polynomial.legendre.Legendre.basis(k, domain=[0, 1]) * math.sqrt(2 * k + 1) for k in range(3)]
    for k in (1, 2):
        assert integrate.quad(lambda x, k=k: legendre[k](x) ** 2, 0, 1)[0] == pytest.approx(1)
    assert first == pytest.approx(sum(legendre[1](z[:, j]).mean() ** 2 for j in range(3)))
    bent = sum(legendre[2](z[:, j]).mean() ** 2 for j in range(3))
    crossed = sum((legendre[1](z[:, j]) * legendre[1](z[:, k])).mean() ** 2 for j in range(3) for k in range(j))
    assert second == pytest.approx(bent + crossed) and freedom == 6


@pytest.mark.parametrize("space", [Sphere(4), Box(3)])
def test_p_values_of_the_smooth_test_are_uniform(space):
    energies = uniformity._sphere if isinstance(space, Sphere) else uniformity._box
    p_values = []
    for seed in range(300):
        z = space.sample_uniform(400, torch.Generator().manual_seed(seed), torch.float64)
        found = energies(z.mean(0), z.mT @ z / len(z))
        p_values.append([stats.chi2.sf(400 * energy, freedom) for energy, freedom in found])
    for column in np.array(p_values).T:
        assert stats.kstest(column, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("kappa", [0.3, 1.0])
def test_the_variation_is_the_densitys(kappa):
    found = uniformity.read(looked_at(*pairs(VonMisesFisher(9.0), Marginal(Sphere(3), kappa), n=20_000)))
    t, weight = np.polynomial.legendre.leggauss(40)
    density = kappa * np.exp(kappa * t) / (2 * math.sinh(kappa))
    true = math.sqrt((weight * density**2).sum() * 2 - 1)  # coefficient of variation, all degrees
    assert found.interval is not None and found.interval[0] - 0.01 < true < found.interval[1] + 0.01
    assert found.verdict == ("warning" if true < 0.5 else "problem")


# ---------------------------------------------------------------------------------------------------------- rank


def test_effective_rank():
    assert collapse.effective_rank(torch.eye(7)) == pytest.approx(7)
    assert collapse.effective_rank(torch.diag(torch.tensor([1.0, 0.0, 0.0]))) == pytest.approx(1)


def test_a_dead_direction_is_seen(generator):
    h = torch.randn(2000, 3, generator=generator)
    wide = torch.randn(3, 5, generator=generator)
    found = collapse.read(looked_at(h @ wide, (h + 0.3 * torch.randn(2000, 3, generator=generator)) @ wide))
    assert found.verdict == "problem" and found.details["dead"] == 2
    assert found.interval is not None and found.value is not None and found.value < 3.0001


# ------------------------------------------------------------------------------------------------------- overlap


@pytest.mark.parametrize("kappa", [5.0, 2000.0])
def test_q_is_the_area_of_the_cap(kappa):
    seen = looked_at(*pairs(VonMisesFisher(kappa), Uniform(Sphere(4))))
    found = crowding.nearer(seen)
    h, h_pos = (view[: crowding.ANCHORS].numpy() for view in seen.measure)
    angle = np.arccos((h * h_pos).sum(1))
    cap = (angle - np.sin(2 * angle) / 2) / np.pi  # of the three-sphere
    # 16 of 8000 neighbours place a single q to about a quarter.
    assert np.abs(np.log(found.q.numpy() / cap)).mean() < 0.3
    assert found.dimension == pytest.approx(3, abs=0.2)
    curve = crowding.accuracy(found.q, crowding.SIZES).mean(0).numpy()
    true = np.exp((crowding.SIZES - 1)[None] * np.log1p(-cap)[:, None]).mean(0)
    assert np.abs(curve - true).max() < 0.03
    reading = crowding.read(seen, 512)
    assert reading.interval is not None
    assert reading.interval[0] * 0.8 < crowding.size_at(true) < reading.interval[1] * 1.25


def test_the_share_in_a_batch_is_that_of_batches():
    h, h_pos = pairs(VonMisesFisher(60.0), Uniform(Sphere(4)))
    found = crowding.read(looked_at(h, h_pos), 100).details["nearest_is_positive"]
    hits = []
    for start in range(0, 8000, 100):
        a, b = h[start : start + 100], h_pos[start : start + 100]
        apart = torch.cdist(a, a).fill_diagonal_(float("inf")).amin(1)
        hits += ((b - a).norm(dim=1) < apart).tolist()
    assert found == pytest.approx(np.mean(hits), abs=0.03)


# --------------------------------------------------------------------------------------------------------- tails


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
def test_the_exponent_is_the_laws(p):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(20_000, 3, generator=generator, dtype=torch.float64)
    z_pos = GeneralizedNormal(p, scale=0.2, space=Euclidean(3)).sample(z, generator=generator)
    found = tails.read(seen := looked_at(z, z_pos), fitted.fit(seen, 0))
    # Twice as wide, intervals of 95 % hold in 99.99 %.
    low, high = found.interval
    assert 2 * low - found.value < p < 2 * high - found.value
    assert (found.verdict == "ok") == (p == 2.0)


def test_the_exponent_inverts_gearys_ratio():
    for p in (0.7, 1.0, 2.0, 5.0):
        law = stats.gennorm(p)
        ratio = 2 * integrate.quad(lambda x, law=law: x * law.pdf(x), 0, np.inf)[0] / law.std()
        assert tails.exponent(math.log(ratio)) == pytest.approx(p, rel=1e-5)


# --------------------------------------------------------------------------------------------------------- modes


def modes_of(h, h_pos, fixed=0):
    seen = looked_at(h, h_pos)
    return modes.read(seen, fitted.fit(seen, fixed))


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_mirror_image_is_a_second_mode(share):
    found = modes_of(*pairs(Mirrored(VonMisesFisher(80.0), 2, share), Uniform(Sphere(5))))
    assert found.verdict == "problem"
    assert min(found.details["share"], 1 - found.details["share"]) == pytest.approx(share, abs=0.05)
    found = modes_of(*pairs(Mirrored(GeneralizedNormal(2, std=0.05), 1, share), Uniform(Box(3))))
    assert found.verdict == "problem"


def test_a_mean_that_bends_is_not_two_modes(generator):
    h = torch.randn(8000, 3, generator=generator, dtype=torch.float64)
    bent = h.clone()
    bent[:, 0] = h[:, 0].abs() * 2
    found = modes_of(h, bent + 0.1 * torch.randn(8000, 3, generator=generator, dtype=torch.float64))
    assert found.verdict == "ok"


def test_the_middle_is_tested_exactly():
    counts = modes._Thirds(60, 30, 50)
    expected = max(
        stats.binomtest(30, 90, alternative="less").pvalue, stats.binomtest(30, 80, alternative="less").pvalue
    )
    assert modes._one_mode(counts) == pytest.approx(expected)


# -------------------------------------------------------------------------------------------------------- domain


@pytest.mark.parametrize(("right", "scored"), [(0, 40), (25, 40), (40, 40)])
def test_the_interval_of_the_accuracy_is_exact(right, scored):
    expected = stats.binomtest(right, scored).proportion_ci(0.95, "exact")
    assert domain.clopper_pearson(right, scored) == pytest.approx((expected.low, expected.high))
