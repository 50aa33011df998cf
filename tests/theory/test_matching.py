"""Score minus log density of the law it matches is free of z': the theorem behind every matched row."""

import pytest
import torch

from noumena.conditionals import Anisotropic, FixedContent, GeneralizedNormal, VonMisesFisher
from noumena.losses import AnisotropicScore, Dot, Lp
from noumena.spaces import Box, Euclidean, Sphere

PRECISION = [0.5, 3.0, 11.0, 40.0]

# (conditional, score, space, factor from latents to embeddings)
MATCHES = {
    "vMF and dot": (VonMisesFisher(7.0), Dot(1 / 7.0), Sphere(4), 1.0),
    "vMF on a large sphere": (
        VonMisesFisher(7.0, space=Sphere(4, radius=3.0)),
        Dot(9 / 7.0),
        Sphere(4, radius=3.0),
        1.0,
    ),
    "vMF and dot, scaled embeddings": (VonMisesFisher(7.0), Dot(4 / 7.0), Sphere(4), 2.0),
    "vMF and squared distance": (VonMisesFisher(7.0), Lp(2, 2 / 7.0), Sphere(4), 1.0),
    "Laplace": (GeneralizedNormal(1, scale=0.3), Lp(1, 0.3), Euclidean(4), 1.0),
    "Laplace in a box": (GeneralizedNormal(1, scale=0.3, space=Box(4)), Lp(1, 0.3), Box(4), 1.0),
    "normal by its deviation": (GeneralizedNormal(2, std=0.3), Lp(2, 2 * 0.3**2), Euclidean(4), 1.0),
    "normal at the published scale": (GeneralizedNormal(2, std=0.05, space=Box(4)), Lp(2), Box(4), 0.5**0.5 / 0.05),
    "generalized normal": (GeneralizedNormal(3, scale=0.3, space=Box(4)), Lp(3, 0.3**3), Box(4), 1.0),
    "p = 1.5": (GeneralizedNormal(1.5, scale=0.3), Lp(1.5, 0.3**1.5), Euclidean(4), 1.0),
    "anisotropic": (Anisotropic(PRECISION), AnisotropicScore(PRECISION, learnable=False), Sphere(4), 1.0),
    "anisotropic, published half": (
        Anisotropic(PRECISION, half=True),
        AnisotropicScore(PRECISION, learnable=False, half=True),
        Sphere(4),
        1.0,
    ),
}
MISMATCHES = {
    "wrong temperature": (VonMisesFisher(7.0), Dot(1 / 6.9), Sphere(4), 1.0),
    "wrong exponent": (GeneralizedNormal(1, scale=0.3), Lp(2, 0.3), Euclidean(4), 1.0),
    "half on one side only": (Anisotropic(PRECISION), AnisotropicScore(PRECISION, half=True), Sphere(4), 1.0),
}


def spread(conditional, score, space, scale) -> float:
    """How much score - log density varies over z', worst over anchors."""
    generator = torch.Generator().manual_seed(5)
    draw = space.sample_uniform if space.bounded else lambda n, g, t: torch.randn(n, space.dim, generator=g, dtype=t)
    z, z_pos = draw(20, generator, torch.float64), draw(30, generator, torch.float64)
    pairs = z.repeat_interleave(30, dim=0), z_pos.repeat(20, 1)
    difference = score(scale * pairs[0], scale * pairs[1]) - conditional.log_prob(pairs[1], pairs[0])
    rows = difference.detach().view(20, 30)
    return float((rows.amax(dim=1) - rows.amin(dim=1)).max() / rows.abs().max().clamp(min=1))


@pytest.mark.parametrize("name", MATCHES)
def test_matched_score_differs_from_the_log_density_by_a_term_free_of_the_positive(name):
    conditional, score, space, scale = MATCHES[name]
    assert spread(conditional, score.double(), space, scale) < 1e-12


@pytest.mark.parametrize("name", MISMATCHES)
def test_a_mismatch_is_seen(name):
    conditional, score, space, scale = MISMATCHES[name]
    assert spread(conditional, score.double(), space, scale) > 1e-3


@pytest.mark.parametrize("fixed", [1, 2, 3])
def test_on_a_fibre_the_exact_fixed_content_matches_dot_and_the_published_one_does_not(fixed):
    generator = torch.Generator().manual_seed(2)
    z = Sphere(4).sample_uniform(50, generator, torch.float64)
    support = FixedContent(5.0, fixed).sample_support(z, 20, generator=generator).reshape(-1, 4)
    anchors, score = z.repeat_interleave(20, dim=0), Dot(1 / 5.0)

    def spread_on_fibres(law):
        rows = (score(anchors, support) - law.log_prob(support, anchors)).view(50, 20)
        return float((rows.amax(1) - rows.amin(1)).max())

    assert spread_on_fibres(FixedContent(5.0, fixed)) < 1e-11
    assert spread_on_fibres(FixedContent(5.0, fixed, concentration="published")) > 0.1
