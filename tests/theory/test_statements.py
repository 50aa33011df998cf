"""Statements 1, 4 and 5 of docs/theory.md on latents, without training."""

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.conditionals import Anisotropic, FixedContent, VonMisesFisher
from noumena.losses import Dot, Lp
from noumena.losses.spectral import Spectral
from noumena.marginals import Uniform
from noumena.pairs import Synthetic
from noumena.spaces import Sphere
from noumena.theory import asymptotic_loss

PRECISION = (4.0, 2.0, 1.0)


def test_free_lengths_match_uneven_pairs():
    law = Anisotropic(PRECISION)
    world = Synthetic(Uniform(Sphere(3)), law)
    stretch = torch.tensor(PRECISION, dtype=torch.float64).sqrt()

    def cost(h, score):
        return asymptotic_loss(h, world, score, resolution=12).total

    best = cost(lambda z: z * stretch, Lp(2))
    turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).Q
    assert cost(lambda z: 1.4 * (z * stretch) @ turn + 5.0, Lp(2, 1.96)) == pytest.approx(best, abs=1e-9)
    z = Sphere(3).sample_uniform(100, torch.Generator().manual_seed(1), torch.float64)
    z_pos = Sphere(3).sample_uniform(100, torch.Generator().manual_seed(2), torch.float64)
    assert torch.allclose(Lp(2)(z * stretch, z_pos * stretch), law.log_prob(z_pos, z), atol=1e-12)
    for other in (lambda z: 1.5 * z, lambda z: z * stretch.flip(0), lambda z: 0.9 * z * stretch):
        assert cost(other, Lp(2)) > best + 0.01


def test_a_colder_score_is_matched_by_shrunken_fibres():
    kappa, beta = 2.0, 5.0
    world = Synthetic(Uniform(Sphere(3)), FixedContent(kappa, 1))

    def shrunken(z):
        v = (kappa / beta) ** 0.5 * z[:, 1:]
        return torch.cat([(1 - v.square().sum(dim=1, keepdim=True)).sqrt(), v], dim=1)

    def cost(h, b):
        return asymptotic_loss(h, world, Dot(1 / b), share=1.0).total

    truth = cost(lambda z: z, kappa)
    assert cost(shrunken, beta) == pytest.approx(truth, abs=1e-9)
    assert cost(lambda z: z, beta) > truth + 0.1


def test_the_spectral_contrast_prefers_the_constant_to_a_latent():
    world = Synthetic(Uniform(Sphere(3)), VonMisesFisher(4.0))
    batch = world.draw(40_000, torch.Generator().manual_seed(0), torch.float64)
    assert batch.z is not None and batch.z_pos is not None
    # Eigenvalues of degrees 0 and 1: 1 and the mean cosine; the functions are 1 and sqrt(3) z_j.
    scale = (3 * (1 / torch.tensor(4.0).double().tanh() - 0.25)).sqrt()

    def cost(h):
        return float(Spectral(Dot())(PairEmbeddings(h(batch.z), h(batch.z_pos))).total)

    def spend(z):
        return torch.cat([torch.ones_like(z[:, :1]), scale * z[:, 1:]], dim=1)

    mean_cosine = float(scale**2 / 3)
    assert cost(lambda z: scale * z) == pytest.approx(-3 * mean_cosine**2, abs=0.03)
    assert cost(spend) == pytest.approx(-1 - 2 * mean_cosine**2, abs=0.03)
    assert cost(spend) < cost(lambda z: scale * z) - 0.2
