"""The steps of docs/covariance_contrast.md, on latents, without training."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, linalg, special

from noumena.batch import PairEmbeddings
from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.encoders import MLP
from noumena.losses import CovarianceContrast, Dot, InfoNCE
from noumena.marginals import Uniform
from noumena.metrics import linear_r2
from noumena.mixings import InvertibleMLP
from noumena.pairs import Synthetic
from noumena.spaces import Sphere
from tests.statistics import z_score

CONTRAST = CovarianceContrast()


def zonal(d, degree, t):
    """The polynomial of Funk and Hecke, 1 at t = 1: Chebyshev's on the circle, Gegenbauer's on higher spheres."""
    if d == 2:
        return np.cos(degree * np.arccos(t))
    return special.eval_gegenbauer(degree, d / 2 - 1, t) / special.eval_gegenbauer(degree, d / 2 - 1, 1.0)


def eigenvalue(d, degree, density):
    """E[P(z . z')], by quadrature over the angle, for a density that is a function of the cosine."""

    def mean(function):
        return integrate.quad(
            lambda a: function(math.cos(a)) * density(math.cos(a)) * math.sin(a) ** (d - 2),
            0,
            math.pi,
            limit=400,
            points=[math.acos(s) for s in CAPS],
        )[0]

    return mean(lambda t: zonal(d, degree, t)) / mean(lambda t: 1.0)


CAPS = (-0.4, 0.3, 0.9)


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.1, 1.0, 10.0])
def test_vmf_eigenvalues_are_ratios_of_bessel_functions_and_fall_with_the_degree(d, kappa):
    values = [eigenvalue(d, degree, lambda t: math.exp(kappa * (t - 1))) for degree in range(5)]
    v = d / 2 - 1
    np.testing.assert_allclose(values, [special.ive(v + k, kappa) / special.ive(v, kappa) for k in range(5)], atol=1e-8)
    assert (np.diff(values) < 0).all()
    # Step 7: each ratio is the mean cosine of a vMF law two dimensions up.
    for k in range(3):
        above = eigenvalue(d + 2 * k, 1, lambda t: math.exp(kappa * (t - 1)))
        assert values[k + 1] / values[k] == pytest.approx(above, rel=1e-4)


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("cap", CAPS)
def test_the_first_degree_leads_for_every_cap_and_so_for_every_rising_density(d, cap):
    values = [eigenvalue(d, degree, lambda t: float(t > cap)) for degree in range(1, 9)]
    assert max(abs(value) for value in values[1:]) < values[0]


def test_a_density_that_falls_lets_a_higher_degree_lead():
    """Positives at both poles of the anchor: degree 1 sees nothing, degree 2 everything."""
    both = [eigenvalue(3, degree, lambda t: math.exp(20 * (t * t - 1))) for degree in (1, 2)]
    assert abs(both[0]) < 1e-8 and both[1] > 0.9


def pairs_of(d, kappa, n, generator, conditional=None):
    conditional = VonMisesFisher(kappa) if conditional is None else conditional
    batch = Synthetic(Uniform(Sphere(d)), conditional).draw(n, generator, torch.float64)
    return batch.z, batch.z_pos


def losses_of(function, d, kappa, generator, batches=40, n=5000, conditional=None):
    """The loss of an encoder that applies `function` to the latents, for independent batches."""
    found = []
    for _ in range(batches):
        z, z_pos = pairs_of(d, kappa, n, generator, conditional)
        found.append(float(CONTRAST(PairEmbeddings(function(z), function(z_pos))).total))
    return found


@pytest.mark.parametrize(("d", "kappa"), [(2, 1.0), (3, 1.0), (3, 10.0), (10, 1.0)])
def test_the_truth_costs_minus_the_sum_of_the_first_eigenvalues(generator, d, kappa):
    """False alarms once in 1.7 million; a concentration 10 % larger is caught."""
    matrix = torch.randn(d, d, generator=generator, dtype=torch.float64)
    found = losses_of(lambda z: z @ matrix, d, kappa, generator)
    assert abs(z_score(found, -d * eigenvalue(d, 1, lambda t: math.exp(kappa * (t - 1))))) < 5
    wrong = 1.1 * kappa
    assert abs(z_score(found, -d * eigenvalue(d, 1, lambda t: math.exp(wrong * (t - 1))))) > 5


def test_other_harmonics_cost_their_own_eigenvalues(generator):
    """Degree 2 on the circle, an orthonormal pair, against 2 I_2 / I_0."""

    def doubled(z):
        return torch.stack([z[:, 0] ** 2 - z[:, 1] ** 2, 2 * z[:, 0] * z[:, 1]], dim=1)

    found = losses_of(doubled, 2, 3.0, generator)
    assert abs(z_score(found, -2 * special.ive(2, 3.0) / special.ive(0, 3.0))) < 5
    assert np.mean(found) > -2 * special.ive(1, 3.0) / special.ive(0, 3.0) + 0.1


def test_without_a_centre_a_constant_direction_beats_the_truth(generator):
    """A small cap, whose normalised coordinates span 1 and d - 1 of the latents: 1 + (d - 1) A against d A."""
    z, z_pos = pairs_of(3, 1.0, 20_000, generator)

    def cap(z):
        h = torch.stack([torch.ones(len(z), dtype=z.dtype), 0.05 * z[:, 0], 0.05 * z[:, 1]], dim=1)
        return h / h.norm(dim=1, keepdim=True)

    uncentred = CovarianceContrast(centre=False)
    capped, truth = PairEmbeddings(cap(z), cap(z_pos)), PairEmbeddings(z, z_pos)
    assert float(uncentred(capped).total) < float(uncentred(truth).total) - 0.5
    assert float(CONTRAST(capped).total) > float(CONTRAST(truth).total) + 0.1


def test_fixed_content_leaves_nothing_for_what_varies(generator):
    """Three functions of the fixed coordinate reach -3, the least there is; the truth does not."""
    law = FixedContent(10 / 3, 1)
    powers = losses_of(lambda z: z[:, :1] ** torch.arange(1, 4), 3, 0.0, generator, batches=2, conditional=law)
    truth = losses_of(lambda z: z, 3, 0.0, generator, batches=2, conditional=law)
    assert max(powers) == pytest.approx(-3, abs=1e-9) and min(truth) > -2.7


def gaussian_losses(r, d, n, batches, seed):
    """The loss of Gaussian embeddings of correlation r, all batches at once, from K and C in NumPy."""
    rng = np.random.default_rng(seed)
    h = rng.standard_normal((batches, n, d))
    h_pos = r * h + math.sqrt(1 - r * r) * rng.standard_normal((batches, n, d))
    both = np.concatenate([h, h_pos], axis=1)
    both = both - both.mean(axis=1, keepdims=True)
    covariance = both.swapaxes(1, 2) @ both / (2 * n)
    cross = both[:, :n].swapaxes(1, 2) @ both[:, n:] / n
    found = -np.trace(np.linalg.solve(covariance, cross), axis1=1, axis2=2)
    first = PairEmbeddings(torch.from_numpy(h[0]), torch.from_numpy(h_pos[0]))
    assert float(CONTRAST(first).total) == pytest.approx(found[0], abs=1e-10)
    return found


@pytest.mark.parametrize(("r", "d"), [(0.5, 3), (0.9, 2), (0.3, 6)])
def test_a_finite_batch_costs_what_is_stated(r, d):
    """d (1 - r^2)(1 + (d + 1) r) / 2n, to first order; that the batch is infinite is caught."""
    n = 100
    found = gaussian_losses(r, d, n, 4000, seed=7)
    excess = d * (1 - r * r) * (1 + (d + 1) * r) / (2 * n)
    error = found.std() / math.sqrt(len(found))
    assert abs(found.mean() + d * r - excess) < 5 * error + excess * 2 * d / n
    assert abs(found.mean() + d * r) > 5 * error


def reflected(widths):
    """Eigenvalues of reflected normal noise on [0, 1]^d by their degrees: cosines, and products of cosines."""
    degrees = np.stack(np.meshgrid(*[range(4)] * len(widths), indexing="ij"), axis=-1).reshape(-1, len(widths))[1:]
    values = np.exp(-((math.pi * degrees * np.asarray(widths)) ** 2).sum(axis=1) / 2)
    order = np.argsort(-values)
    return degrees[order], values[order]


@pytest.mark.parametrize(
    ("widths", "kept"),
    [
        ((0.2, 0.2, 0.2), True),
        ((0.2, 0.2, 0.27), True),
        ((0.2, 0.2, 0.3), False),
        ((0.1, 0.19), True),
        ((0.1, 0.21), False),
    ],
)
def test_on_a_box_a_fast_coordinate_is_kept_while_no_slow_function_overtakes_it(widths, kept):
    """Its rate s^2 must stay below 4 times the slowest and below the sum of the two slowest."""
    degrees, _ = reflected(widths)
    top = {tuple(row) for row in degrees[: len(widths)].tolist()}
    assert (top == {tuple(row) for row in np.eye(len(widths), dtype=int).tolist()}) == kept
    slow = sorted(width**2 for width in widths)
    assert kept == (slow[-1] < min(4 * slow[0], slow[0] + slow[1] if len(slow) > 2 else math.inf))


def box_operator(sigma, points=400):
    """Both orders of a pair on a grid of [0, 1]: uniform anchors, positives by the exactly truncated normal."""
    z = (np.arange(points) + 0.5) / points
    joint = np.exp(-((z[:, None] - z) ** 2) / (2 * sigma**2))
    joint /= joint.sum(axis=1, keepdims=True)
    joint = (joint + joint.T) / (2 * points)
    marginal = joint.sum(axis=0)
    values, functions = linalg.eigh(joint / np.sqrt(np.outer(marginal, marginal)))
    return z, values[::-1], functions[:, ::-1] / np.sqrt(marginal)[:, None]


@pytest.mark.parametrize(("sigma", "r2"), [(0.05, 96 / math.pi**4), (1.0, 1.0)])
def test_a_box_comes_back_bent_by_narrow_noise(sigma, r2):
    """The first function of a coordinate is monotone: nearly a cosine for narrow noise, nearly linear for wide."""
    z, values, functions = box_operator(sigma)
    first = functions[:, 1]
    assert values[0] == pytest.approx(1, abs=1e-10) and values[1] > values[2]
    assert (np.diff(first) > 0).all() or (np.diff(first) < 0).all()
    assert np.corrcoef(z, first)[0, 1] ** 2 == pytest.approx(r2, abs=1e-3)
    if sigma < 0.1:
        assert abs(np.corrcoef(np.cos(math.pi * z), first)[0, 1]) > 0.9999


def test_a_ridge_shares_spread_by_the_root_of_the_eigenvalues():
    """Step 12, against a search over all variances of three directions."""
    values, ridge = np.array([0.9, 0.6, 0.3]), 0.4
    stated = 3 * (1 + ridge) * np.sqrt(values) / np.sqrt(values).sum() - ridge

    def gain(c):
        return (values * c / (c + ridge * c.mean())).sum()

    others = np.random.default_rng(3).dirichlet(np.ones(3), 20_000) * 3
    assert stated.min() > 0 and stated.mean() == pytest.approx(1)
    assert gain(stated) >= max(gain(c) for c in others)
    assert gain(stated) - max(gain(c) for c in others) < 1e-3


def recovered(loss, d, steps, batch_size, seed):
    """R2 on fresh latents, after training on mixed pairs of concentration 1."""
    world, init, pairs, fresh = (torch.Generator().manual_seed(100 * seed + i) for i in range(4))
    source = Synthetic(Uniform(Sphere(d)), VonMisesFisher(1.0), InvertibleMLP(d, generator=world, pool=1000))
    encoder = MLP.small(d, d, width=32, generator=init)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - step / steps)
        batch = source.draw(batch_size, pairs)
        optimizer.zero_grad()
        loss(PairEmbeddings(encoder(batch.x), encoder(batch.x_pos))).total.backward()
        optimizer.step()
    batch = source.draw(4096, fresh)
    return float(linear_r2(batch.z, encoder(batch.x)))


@pytest.mark.parametrize("seed", [0, 1])
def test_recovers_a_mixed_sphere_from_noisy_pairs(seed, unchecked_shapes):
    assert recovered(CONTRAST, 3, steps=300, batch_size=512, seed=seed) > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_is_ahead_of_info_nce_at_equal_steps(seed, unchecked_shapes):
    """At its matched temperature, which this loss need not know."""
    covariance, info_nce = (recovered(loss, 5, 500, 1024, seed) for loss in (CONTRAST, InfoNCE(Dot(tau=1.0))))
    assert covariance > 0.945 and covariance > info_nce
