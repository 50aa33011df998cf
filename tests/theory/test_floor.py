"""InfoNCE at the truth is its floor, and the floor is what the mathematics says."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from noumena.batch import PairEmbeddings
from noumena.conditionals import Anisotropic, FixedContent, GeneralizedNormal, VonMisesFisher
from noumena.losses import AnisotropicScore, Dot, Drawn, GroupMates, HardNegatives, InBatch, InfoNCE, Lp
from noumena.marginals import Uniform
from noumena.pairs import FromMarginal, FromSupport, GroupedSupport, Harder, Mixed, Synthetic
from noumena.spaces import Box, Sphere
from noumena.theory import loss_floor

KAPPA = 10 / 3


def at_the_truth(source, loss, n, batches, seed, dtype=torch.float64):
    """Mean and standard error of a loss whose embeddings are the latents."""
    generator = torch.Generator().manual_seed(seed)
    values = []
    for _ in range(batches):
        batch = source.draw(n, generator, dtype)
        latents = PairEmbeddings(batch.z, batch.z_pos, batch.z_neg, group_size=batch.group_size)
        values.append(float(loss(latents).total.detach()))
    values = np.array(values)
    return values.mean(), values.std(ddof=1) / batches**0.5


def test_optimum_of_the_sphere_with_three_latents():
    # With many negatives: log M + E[log density ratio]; kappa coth kappa - 1 - log(sinh kappa / kappa) = 0.9069.
    gain = KAPPA / math.tanh(KAPPA) - 1 - math.log(math.sinh(KAPPA) / KAPPA)
    assert gain == pytest.approx(0.9069, abs=5e-5)
    m = 4000
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(KAPPA), negatives=FromMarginal(m))
    value, error = at_the_truth(source, InfoNCE(Dot(1 / KAPPA)), 4000, batches=100, seed=3)
    # Finite M lowers the loss by O(1/M), far below the error.
    assert abs(value - (math.log(m) - gain)) < 5 * error < 0.01


def test_the_wrong_temperature_misses_that_optimum():
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(KAPPA), negatives=FromMarginal(4000))
    value, error = at_the_truth(source, InfoNCE(Dot(0.5)), 4000, batches=20, seed=3)
    assert value - (math.log(4000) - 0.9069) > 5 * error


WORLDS = {
    "in batch": (Uniform(Sphere(3)), VonMisesFisher(KAPPA), None, Dot(1 / KAPPA), InBatch()),
    "anchor counted": (Uniform(Sphere(3)), VonMisesFisher(KAPPA), None, Dot(1 / KAPPA), InBatch(include_self=True)),
    "both views, other": (
        Uniform(Sphere(3)),
        VonMisesFisher(KAPPA),
        None,
        Dot(1 / KAPPA),
        InBatch(anchors="both", views="other"),
    ),
    "both views, both": (
        Uniform(Sphere(3)),
        VonMisesFisher(KAPPA),
        None,
        Dot(1 / KAPPA),
        InBatch(anchors="both", views="both"),
    ),
    "box": (Uniform(Box(3)), GeneralizedNormal(1, scale=0.2), FromMarginal(50), Lp(1, 0.2), Drawn()),
    "anisotropic": (
        Uniform(Sphere(4)),
        Anisotropic([3.0, 5.0, 9.0, 20.0]),
        None,
        AnisotropicScore([3.0, 5.0, 9.0, 20.0], learnable=False),
        InBatch(),
    ),
    "hard negatives": (
        Uniform(Sphere(5)),
        Anisotropic([30.0] * 5),
        Harder(Anisotropic([20.0] * 5), 40),
        AnisotropicScore(10.0, 5, learnable=False),
        Drawn(),
    ),
    "own support": (Uniform(Sphere(3)), FixedContent(KAPPA, 1), FromSupport(60), Dot(1 / KAPPA), Drawn()),
}


@pytest.mark.parametrize("name", WORLDS)
def test_the_matched_score_at_the_true_latents_reaches_the_floor(name):
    marginal, conditional, negatives, score, candidates = WORLDS[name]
    source = Synthetic(marginal, conditional, negatives=negatives)
    loss = InfoNCE(score.double(), candidates)
    # The same draws: equal to rounding, not merely within error. On a box only the conditional's normaliser differs.
    value, _ = at_the_truth(source, loss, 64, batches=5, seed=8)
    floor = loss_floor(source, loss, 64, generator=torch.Generator().manual_seed(8), batches=5)
    assert floor.value == pytest.approx(value, abs=1e-10)


def test_groups_reach_the_floor_of_their_own_support():
    source = GroupedSupport(Uniform(Sphere(3)), FixedContent(KAPPA, 1), group_size=16)
    loss = InfoNCE(Dot(1 / KAPPA), GroupMates(share=1.0))
    value, _ = at_the_truth(source, loss, 64, batches=5, seed=1)
    floor = loss_floor(source, loss, 64, generator=torch.Generator().manual_seed(1), batches=5)
    assert floor.value == pytest.approx(value, abs=1e-10)


def test_adapted_loss_at_the_identity():
    # log M - 0.6083 at d = 3, k = 1: E over fibres of the vMF(kappa (1 - u^2)) gain on the circle.
    def gain(u):
        concentration = KAPPA * (1 - u**2)
        mass, _ = integrate.quad(lambda t: math.exp(concentration * math.cos(t)) / (2 * math.pi), -math.pi, math.pi)
        moment, _ = integrate.quad(
            lambda t: math.cos(t) * math.exp(concentration * math.cos(t)) / (2 * math.pi), -math.pi, math.pi
        )
        return concentration * moment / mass - math.log(mass)

    expected = integrate.quad(gain, -1, 1)[0] / 2
    assert expected == pytest.approx(0.6083, abs=5e-5)
    source = Synthetic(Uniform(Sphere(3)), FixedContent(KAPPA, 1), negatives=FromSupport(1000))
    value, error = at_the_truth(source, InfoNCE(Dot(1 / KAPPA)), 1000, batches=60, seed=4)
    # At M = 1000 the finite-M correction, of the order of the variance of the ratio over 2M, is about 0.0005.
    assert abs(value - (math.log(1000) - expected)) < 5 * error + 1e-3


@pytest.mark.parametrize(("dim", "bound"), [(3, 5.7058), (10, 4.8080)])
def test_collapse_bound(dim, bound):
    # Perfect alignment and perfect uniformity: log(e^{1/tau} + M E e^{x.y/tau}) - 1/tau for uniform x, y; M = 2000.
    tau, m = 0.3, 2000

    def weight(t):
        return (1 - t * t) ** ((dim - 3) / 2)

    total, _ = integrate.quad(weight, -1, 1)
    mean, _ = integrate.quad(lambda t: weight(t) * math.exp(t / tau), -1, 1)
    closed = math.log(math.exp(1 / tau) + m * mean / total) - 1 / tau
    assert closed == pytest.approx(bound, abs=2e-3)
    # Embeddings that are uniform and equal within pairs, against fresh uniform ones.
    generator, values = torch.Generator().manual_seed(dim), []
    for _ in range(40):
        h, h_neg = (Sphere(dim).sample_uniform(m, generator, torch.float64) for _ in range(2))
        values.append(float(InfoNCE(Dot(tau))(PairEmbeddings(h, h, h_neg)).total))
    assert np.mean(values) == pytest.approx(bound, abs=5 * np.std(values) / 40**0.5 + 2e-3)


def test_aninfonce_of_uninformative_features():
    # Equal scores: log(2B - 1) for the form with both views as anchors and candidates.
    h = torch.ones(1000, 4, dtype=torch.float64)
    loss = InfoNCE(AnisotropicScore(1.0, 4, learnable=False), InBatch(anchors="both", views="both"))
    assert float(loss(PairEmbeddings(h, h)).total) == pytest.approx(7.6004, abs=5e-5)


def test_aninfonce_minimum_in_the_published_form():
    # Spec: 4.317 +- 0.005 at B = 1000, precisions 25 x 5 and 5 x 5, shell 0.1, factor one half.
    precision = [25.0] * 5 + [5.0] * 5
    source = Synthetic(Uniform(Sphere(10)), Anisotropic(precision, proposal="shell", shell=0.1, half=True))
    loss = InfoNCE(AnisotropicScore(precision, half=True), InBatch(anchors="both", views="both")).double()
    value, error = at_the_truth(source, loss, 1000, batches=60, seed=0)
    assert abs(value - 4.317) < 5 * (error**2 + 0.005**2) ** 0.5


def test_hard_negatives_are_best_met_by_the_difference_of_precisions():
    positive, negative = 150.0, 100.0
    law = {"space": Sphere(20)}
    source = Synthetic(
        Uniform(Sphere(20)),
        Anisotropic([positive] * 20, half=True, **law),
        negatives=Harder(Anisotropic([negative] * 20, half=True, **law), 30),
    )
    batch = source.draw(1500, torch.Generator().manual_seed(0), torch.float64)
    latents = PairEmbeddings(batch.z, batch.z_pos, batch.z_neg)
    grid = [30.0, 40.0, 50.0, 60.0, 70.0, 100.0, 150.0]
    values = [float(InfoNCE(AnisotropicScore(v, 20, half=True)).double()(latents).total.detach()) for v in grid]
    assert grid[int(np.argmin(values))] == 50.0


@pytest.mark.parametrize(("anchors", "views"), [("first", "other"), ("second", "own"), ("second", "other")])
def test_second_views_of_a_box_by_bayes_rule(anchors, views):
    # One latent, three pairs: which candidate is the positive, by Bayes' rule with densities from scipy alone.
    scale, n = 0.3, 3

    def conditional(z_pos, z):
        mass = stats.laplace.cdf(1, z, scale) - stats.laplace.cdf(0, z, scale)
        return stats.laplace.pdf(z_pos, z, scale) / mass

    def second(z_pos):
        return integrate.quad(lambda z: conditional(z_pos, z), 0, 1, points=[z_pos])[0]

    source = Synthetic(Uniform(Box(1)), GeneralizedNormal(1, scale=scale))
    batch = source.draw(n, torch.Generator().manual_seed(5), torch.float64)
    z, z_pos = batch.z.flatten().tolist(), batch.z_pos.flatten().tolist()
    of_anchors, of_positives = (z, z_pos) if anchors == "first" else (z_pos, z)
    seen = of_anchors if views == "own" else of_positives

    def positive(candidate, anchor):
        return conditional(candidate, anchor) if anchors == "first" else conditional(anchor, candidate)

    def negative(candidate):
        return second(candidate) if (anchors == "first") == (views == "other") else 1.0

    losses = []
    for i, anchor in enumerate(of_anchors):
        own = positive(of_positives[i], anchor) / negative(of_positives[i])
        others = [positive(seen[j], anchor) / negative(seen[j]) for j in range(n) if j != i]
        losses.append(-math.log(own / (own + sum(others))))
    loss = InfoNCE(Lp(1, scale), InBatch(anchors=anchors, views=views))
    # Two equal batches: the least that a standard error takes.
    twice = _Repeated(source, batch)
    floor = loss_floor(twice, loss, n, generator=torch.Generator().manual_seed(5), batches=2)
    assert floor.value == pytest.approx(float(np.mean(losses)), abs=1e-9)


class _Repeated:
    """One batch of a world, over and over."""

    def __init__(self, source, batch):
        self.marginal, self.conditional, self.batch = source.marginal, source.conditional, batch

    def draw(self, n, generator, dtype=torch.float64):
        return self.batch


def test_no_score_beats_the_floor_where_views_differ():
    # The Lp score lacks the conditional's normaliser, which depends on where in the box an anchor is: a gap remains,
    # and it is not below the floor. On the same draws the difference is far less noisy than either.
    source = Synthetic(Uniform(Box(2)), GeneralizedNormal(1, scale=0.2))
    loss = InfoNCE(Lp(1, 0.2), InBatch(anchors="both", views="other"))
    value, _ = at_the_truth(source, loss, 256, batches=20, seed=2)
    floor = loss_floor(source, loss, 256, generator=torch.Generator().manual_seed(2), batches=20)
    assert 0 < value - floor.value < 0.05


def test_lower_than_the_floor_is_impossible_over_a_grid_of_temperatures():
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(KAPPA))
    batch = source.draw(4000, torch.Generator().manual_seed(0), torch.float64)
    latents = PairEmbeddings(batch.z, batch.z_pos)
    kappas = KAPPA * np.array([0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0])
    values = [float(InfoNCE(Dot(1 / kappa), InBatch())(latents).total) for kappa in kappas]
    assert int(np.argmin(values)) == 3


def test_floors_that_do_not_exist_are_refused(unchecked_shapes):
    generator = torch.Generator().manual_seed(0)
    world = Synthetic(Uniform(Sphere(3)), FixedContent(KAPPA, 1))
    with pytest.raises(ValueError, match="keeps part of the anchor fixed"):
        loss_floor(world, InfoNCE(Dot(0.3)), 8, generator=generator)
    mixed = Synthetic(Uniform(Sphere(3)), FixedContent(KAPPA, 1), negatives=Mixed(8, 0.5))
    with pytest.raises(ValueError, match="density"):
        loss_floor(mixed, InfoNCE(Dot(0.3)), 8, generator=generator)
    for loss in (
        InfoNCE(Dot(0.3), weighting=HardNegatives(1.0)),
        InfoNCE(Dot(0.3), positive_in_denominator=False),
    ):
        with pytest.raises(ValueError, match="`loss` must"):
            loss_floor(Synthetic(Uniform(Sphere(3)), VonMisesFisher(1.0)), loss, 8, generator=generator)
    uneven = Synthetic(Uniform(Sphere(3)), Anisotropic([3.0, 5.0, 9.0]))
    for candidates, message in {
        InBatch(anchors="both", views="both"): "candidates of one law",
        InBatch(anchors="second", views="other"): "known up to a factor",
        InBatch(anchors="first", views="other"): "law of second views is not known",
    }.items():
        with pytest.raises(ValueError, match=message):
            loss_floor(uneven, InfoNCE(Dot(0.3), candidates), 8, generator=generator)
