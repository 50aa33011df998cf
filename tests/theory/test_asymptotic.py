"""The loss in the limit of many negatives, against closed forms, numbers of the papers' constructions, and sampling."""

import re

import numpy as np
import pytest
import torch
from scipy import integrate, special

from noumena.batch import PairEmbeddings
from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.losses import Dot, Drawn, InfoNCE, Lp
from noumena.marginals import Uniform
from noumena.marginals import VonMisesFisher as Gathered
from noumena.pairs import FromMarginal, FromSupport, Mixed, Synthetic
from noumena.spaces import Box, Sphere
from noumena.theory import FibreRotation, Fold, Forget, Shrink, asymptotic_loss, collapse_bound

KAPPA, TAU = 10 / 3, 0.3
SCORE = Dot(TAU)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def world(concentration="exact", dim=3, fixed=1, **rest):
    return Synthetic(Uniform(Sphere(dim)), FixedContent(KAPPA, fixed, concentration=concentration), **rest)


# epsilon, change of alignment per epsilon, loss, for the exact and for the published sampler (derived with scipy)
SHRUNK = [
    (0.001, -0.32420, -1.35569, -0.14952, -1.52499),
    (0.01, -0.32547, -1.35860, -0.15039, -1.52632),
    (0.1, -0.33863, -1.38652, -0.15963, -1.53809),
    (0.3, -0.37140, -1.43503, -0.18441, -1.54840),
    (0.5, -0.40999, -1.44199, -0.21726, -1.51509),
]


@pytest.mark.parametrize("row", SHRUNK)
@pytest.mark.parametrize("concentration", ["exact", "published"])
def test_shrinking_what_varies(row, concentration):
    epsilon, slope, loss = row[0], *(row[1:3] if concentration == "exact" else row[3:])
    identity = asymptotic_loss(Shrink(), world(concentration), SCORE)
    shrunk = asymptotic_loss(Shrink(factor=1 - epsilon), world(concentration), SCORE)
    assert (shrunk.alignment - identity.alignment) / epsilon == pytest.approx(slope, abs=6e-6)
    assert shrunk.total == pytest.approx(loss, abs=6e-6)
    assert epsilon > 0.3 or shrunk.total < identity.total
    assert shrunk.error < 1e-9


def test_the_latents_reach_the_floor_of_full_vmf_and_isometries_change_nothing():
    full = Synthetic(Uniform(Sphere(3)), VonMisesFisher(KAPPA))
    # E log C at tau = 1/kappa: log(sinh(k)/k) - k A(k), A(k) = coth k - 1/k.
    closed = np.log(np.sinh(KAPPA) / KAPPA) - KAPPA * (1 / np.tanh(KAPPA) - 1 / KAPPA)
    assert asymptotic_loss(lambda z: z, full, SCORE).total == pytest.approx(closed, abs=1e-9)
    turn = torch.linalg.qr(torch.randn(3, 3, generator=seeded(), dtype=torch.float64)).Q
    for law in (full, world(), world("published")):
        for share in (0.0, 0.4, 1.0):
            at = [asymptotic_loss(h, law, SCORE, share=share).total for h in (lambda z: z, lambda z: z @ turn)]
            assert at[0] == pytest.approx(at[1], abs=1e-9)


def test_rotations_of_fibres_change_neither_loss_and_a_fold_only_the_plain_one():
    for concentration in ("exact", "published"):
        law = world(concentration)

        def losses(h, law=law):
            return [asymptotic_loss(h, law, SCORE, share=share).total for share in (0.0, 1.0)]

        latents = losses(lambda z: z)
        for rate in (1.0, 2.0, 4.0):
            assert losses(FibreRotation(rate=rate)) == pytest.approx(latents, abs=1e-8)
        plain, adapted = losses(Fold())
        assert adapted == pytest.approx(latents[1], abs=1e-10) and plain > latents[0] + 0.3
    assert asymptotic_loss(lambda z: z, world(), SCORE, share=1.0).total == pytest.approx(-0.6083, abs=5e-5)


def test_the_published_sampler_asks_the_adapted_loss_to_forget_what_is_fixed():
    forget = [asymptotic_loss(Forget(), world(c), SCORE, share=1.0).total for c in ("published", "exact")]
    latents = [asymptotic_loss(Shrink(), world(c), SCORE, share=1.0).total for c in ("published", "exact")]
    # On the circle both laws are von Mises: log I_0(k) - k I_1(k)/I_0(k).
    ratio = special.ive(1, KAPPA) / special.ive(0, KAPPA)
    closed = np.log(special.ive(0, KAPPA)) + KAPPA - KAPPA * ratio
    assert forget[0] == pytest.approx(closed, abs=1e-9) and closed == pytest.approx(-0.9139, abs=5e-5)
    assert forget[0] < latents[0] - 0.1 and forget[1] > latents[1] + 0.2


def test_collapse_bound():
    assert collapse_bound(3, TAU) == pytest.approx(-1 / TAU + np.log(np.sinh(1 / TAU) * TAU), abs=1e-12)
    assert collapse_bound(3, TAU, negatives=2000) == pytest.approx(5.7058, abs=5e-5)
    assert collapse_bound(10, TAU, negatives=2000) == pytest.approx(4.8080, abs=5e-5)
    # A law of its own: the mean of exp(t/tau) for t ~ (1 - t^2)^((d-3)/2).
    density = [integrate.quad(lambda t, p=p: np.exp(p * t / TAU) * (1 - t * t) ** 2.5, -1, 1)[0] for p in (0, 1)]
    assert collapse_bound(8, TAU) == pytest.approx(np.log(density[1] / density[0]) - 1 / TAU, abs=1e-9)


def test_no_map_goes_below_the_collapse_bound():
    for h in (Shrink(factor=0.05), Shrink(factor=0.6), Fold(), lambda z: z[:, :1] * torch.eye(3, dtype=z.dtype)[0]):
        assert asymptotic_loss(h, world(), SCORE).total > collapse_bound(3, TAU)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_number_of_negatives_gives_the_loss_itself(share):
    m = 2000
    negatives = {0.0: FromMarginal(m), 0.3: Mixed(m, share), 1.0: FromSupport(m)}[share]
    source, generator, h = world("published", negatives=negatives), seeded(5), Shrink(factor=0.7)
    loss, values = InfoNCE(SCORE, Drawn()), []
    for _ in range(30):
        batch = source.draw(200, generator, torch.float64)
        assert batch.z is not None and batch.z_pos is not None and batch.z_neg is not None
        h_neg = h(batch.z_neg.reshape(-1, 3)).view(batch.z_neg.shape)
        values.append(float(loss(PairEmbeddings(h(batch.z), h(batch.z_pos), h_neg)).total))
    expected = asymptotic_loss(h, source, SCORE, share=share, negatives=m).total
    error = np.std(values, ddof=1) / len(values) ** 0.5
    assert abs(np.mean(values) - expected) < 5 * error < 0.05
    other = asymptotic_loss(h, source, SCORE, share=0.5, negatives=m).total
    assert abs(np.mean(values) - other) > 5 * error  # the mutant


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_monte_carlo_agrees_with_closed_forms_beyond_three_dimensions(share):
    law = world(dim=6, fixed=2)
    found = asymptotic_loss(lambda z: z, law, SCORE, share=share, generator=seeded(2))
    # |v|^2 ~ Beta(2, 1): alignment -(a + b A_4(kappa b))/tau, plain log C_6, adapted a/tau + log C_4(b/tau).
    nodes, weights = np.polynomial.legendre.leggauss(400)
    b, w = (nodes + 1) / 2, weights / 2 * (nodes + 1)

    def log_c(k, d):
        return special.gammaln(d / 2) + (d / 2 - 1) * np.log(2 / k) + np.log(special.ive(d / 2 - 1, k)) + k

    alignment = -w @ ((1 - b) + b * special.ive(2, KAPPA * b) / special.ive(1, KAPPA * b)) / TAU
    parts = np.logaddexp(
        np.log(share or 1e-300) + (1 - b) / TAU + log_c(b / TAU, 4), np.log(1 - share or 1e-300) + log_c(1 / TAU, 6)
    )
    assert abs(found.total - alignment - w @ parts) < 5 * found.error < 0.05
    assert found.alignment == pytest.approx(alignment, abs=0.03)


def test_other_marginals_scores_and_dimensions():
    gathered = Synthetic(Gathered(Sphere(2), 1.5), VonMisesFisher(4.0))
    found = asymptotic_loss(lambda z: z, gathered, Lp(2, 0.5))

    def angle_law(t, kappa):
        return np.exp(kappa * np.cos(t)) / (2 * np.pi * special.i0(kappa))

    # -|z - z'|^2 / tau = 2 (cos - 1) / tau, by one-dimensional integrals.
    alignment = -4 * (special.i1(4) / special.i0(4) - 1)

    def log_z(t):
        inner = integrate.quad(lambda s: angle_law(s, 1.5) * np.exp(4 * (np.cos(s - t) - 1)), -np.pi, np.pi)[0]
        return angle_law(t, 1.5) * np.log(inner)

    assert found.alignment == pytest.approx(alignment, abs=1e-8)
    assert found.uniformity == pytest.approx(integrate.quad(log_z, -np.pi, np.pi)[0], abs=1e-7)
    lone = asymptotic_loss(lambda z: z, world(fixed=2), SCORE, share=1.0)
    everything = asymptotic_loss(lambda z: z, world(fixed=3), SCORE, share=1.0)
    assert lone.total < 0 and everything.total == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: asymptotic_loss(Fold(), world(dim=4), SCORE), "`generator` must be given in Sphere(dim=4"),
        (lambda: asymptotic_loss(Fold(), world(), SCORE, share=1.5), "`share` must lie between 0 and 1, got 1.5."),
        (lambda: asymptotic_loss(Fold(), world(), SCORE, negatives=0), "`negatives` must be at least 1, got 0."),
        (lambda: collapse_bound(3, 0.0), "`tau` must be positive, got 0.0."),
    ],
)
def test_wrong_calls(unchecked_shapes, call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
    with pytest.raises(TypeError, match="`world` must be a `Laws`"):
        asymptotic_loss(Fold(), Box(2), SCORE)  # pyright: ignore
