"""The search finds the maps that the theorems say there are, and none where isometries are optimal."""

import re

import pytest
import torch

from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.losses import AnisotropicScore, Dot, Lp
from noumena.marginals import Uniform
from noumena.pairs import Synthetic
from noumena.spaces import Box, Sphere
from noumena.theory import Shrink, asymptotic_difference, attack

KAPPA = 10 / 3


def world(law, dim=3) -> Synthetic:
    return Synthetic(Uniform(Sphere(dim)), law)


def test_it_finds_what_beats_isometries_where_positives_keep_a_coordinate():
    found = attack(world(FixedContent(KAPPA, 1)), Dot(0.3), steps=120, starts=["identity"])
    assert found.isometries == pytest.approx(-1.35537, abs=1e-5) and found.infimum == pytest.approx(-1.89839, abs=1e-5)
    # The best shrink map costs -1.446.
    assert found.beyond and found.infimum < found.found < -1.45
    assert list(found.curves) == ["1: identity"] and found.curves["1: identity"].y[-1] < -1.4


def test_it_finds_nothing_where_isometries_are_optimal():
    found = attack(world(VonMisesFisher(KAPPA)), Dot(0.3), steps=60, starts=["identity"])
    assert not found.beyond and -0.05 < found.gap <= 1e-9
    assert found.isometries == pytest.approx(-0.9068884654, abs=1e-9)


def test_length_and_temperature_count_together():
    law = world(FixedContent(KAPPA, 1))
    both = [
        attack(law, score, radius=radius, steps=10, starts=["identity"])
        for score, radius in ((Dot(0.3), 1.0), (Dot(1.2), 2.0), (Lp(2, 2.4), 2.0))
    ]
    assert [one.gap for one in both] == pytest.approx([both[0].gap] * 3, abs=1e-6)
    assert torch.allclose(both[1].map(torch.eye(3, dtype=torch.float64)).norm(dim=1), torch.tensor(2.0).double())


def test_beyond_three_dimensions_differences_are_drawn(monkeypatch):
    monkeypatch.setattr("noumena.theory.asymptotic.BATCHES", 4)
    law = world(FixedContent(KAPPA, 2), dim=5)

    def latents(z):
        return z

    def seeded():
        return torch.Generator().manual_seed(3)

    found = asymptotic_difference(Shrink(2, 0.7), latents, law, Dot(0.3), generator=seeded())
    assert found.value < -5 * found.error < 0, "Theorem 4.5"
    assert asymptotic_difference(latents, latents, law, Dot(0.3), generator=seeded()) == (0.0, 0.0)
    searched = attack(law, Dot(0.3), steps=60, starts=["identity"])
    assert searched.beyond and searched.error < 0.05


def test_equal_seeds_find_equal_maps():
    gaps = {attack(world(FixedContent(KAPPA, 1)), Dot(0.3), steps=5, seed=s, starts=["random"]).gap for s in (0, 0, 1)}
    assert len(gaps) == 2


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_at_length(share):
    found = attack(world(FixedContent(KAPPA, 1)), Dot(0.3), share=share)
    assert found.beyond == (share == 0) and (share == 1 or found.found < -1.85)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attack(Synthetic(Uniform(Sphere(3, 2.0)), VonMisesFisher(1.0)), Dot()), "latents on a unit sphere"),
        (lambda: attack(world(VonMisesFisher(1.0)), AnisotropicScore(1.0, 3)), "must not change under rotations"),
        (lambda: attack(world(VonMisesFisher(1.0)), Lp(1)), "must not change under rotations"),
        (lambda: attack(world(VonMisesFisher(1.0)), Dot(), steps=0), "`steps` must be at least 1"),
        (lambda: attack(world(VonMisesFisher(1.0)), Dot(), starts=["best"]), "`starts` cannot be 'best'"),
    ],
)
def test_wrong_calls_of_attack(unchecked_shapes, call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
    with pytest.raises(TypeError, match="`world` must be a `Laws`"):
        attack(Box(2), Dot())  # pyright: ignore
