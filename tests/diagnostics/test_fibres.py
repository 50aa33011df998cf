"""The radius of fibres tells the maps apart that R² cannot."""

import re

import pytest
import torch
from torch import nn

from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.diagnostics import FibreRadius, Subject
from noumena.encoders import MLP
from noumena.marginals import Uniform
from noumena.metrics import linear_r2
from noumena.mixings import InjectiveLinear, Spiral
from noumena.pairs import Synthetic
from noumena.spaces import Sphere
from noumena.theory import FibreRotation, Fold, Forget, Shrink


class Explicit(nn.Module):
    """The mixing undone, then a map, then a turn of the whole sphere: an encoder that reaches the map exactly."""

    def __init__(self, mixing, h):
        super().__init__()
        self.mixing, self.h = mixing, h

    def forward(self, x):
        h = self.h(self.mixing.inverse(x))
        turn = torch.linalg.qr(torch.randn(h.shape[1], h.shape[1], generator=torch.Generator().manual_seed(8))).Q
        return h @ turn


def read(h, mixing=None, fixed=1, dim=3, seed=0):
    mixing = Spiral() if mixing is None else mixing
    source = Synthetic(Uniform(Sphere(dim)), FixedContent(10 / 3, fixed), mixing)
    subject = Subject(source, Explicit(mixing, h), None, source)
    return FibreRadius()(subject, torch.Generator().manual_seed(seed))


# map, radius error, R² within fibres, mirror distance
KNOWN = {
    "recovered": (lambda z: z, 0.0, 1.0, 1.0),
    "folded": (Fold(), 0.0, 1.0, 0.0),
    # E(1 - sqrt(1 - u²))² for u uniform: 1 - 2 pi/4 + 2/3.
    "forgot": (Forget(), 0.3096, 1.0, 0.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_known_maps(name):
    h, radius_error, r2, mirror = KNOWN[name]
    found = read(h).values
    assert found["fibre_radius_error"] == pytest.approx(radius_error, abs=0.04)
    assert found["fibre_r2"] == pytest.approx(r2, abs=1e-4)
    assert found["mirror_distance"] == pytest.approx(mirror, abs=1e-4)
    assert {other: found[other] for other in KNOWN} == {other: float(other == name) for other in KNOWN}


def test_what_r2_cannot_tell_apart():
    z = Sphere(3).sample_uniform(8192, torch.Generator().manual_seed(1), torch.float64)
    maps = (Fold(), Forget(), FibreRotation(rate=1.8))
    assert all(0.6 < linear_r2(z, h(z)) < 0.7 for h in maps)
    fold, forget, turned = (read(h).values for h in maps)
    assert fold["fibre_radius_error"] < 0.1 < forget["fibre_radius_error"]
    assert turned["fibre_radius_error"] < 0.1 and turned["mirror_distance"] > 0.5
    assert not any(turned[name] for name in KNOWN)


def test_a_map_that_does_not_follow_v():
    found = read(lambda z: torch.nn.functional.normalize(torch.cat([z[:, :1], 1 + 0 * z[:, 1:]], dim=1)))
    assert found.values["fibre_r2"] < 0.2 and found.values["fibre_radius_error"] > 0.5


def test_curves_are_those_of_the_map():
    curves = read(Shrink(factor=0.5)).curves
    u = torch.tensor(curves["radius of the fibre"].x)
    length = (u.square() + 0.25 * (1 - u.square())).sqrt()
    for name, expected in {
        "radius of the fibre": 0.5 * (1 - u.square()).sqrt() / length,
        "radius of the fibre, latents": (1 - u.square()).sqrt(),
        "distance of its mirror image": 2 * u.abs() / length,
    }.items():
        torch.testing.assert_close(torch.tensor(curves[name].y), expected, atol=0.05, rtol=0)
    centre = torch.tensor(curves["distance of its centre"].y)
    assert (centre - u.abs() / length).abs().max() < 0.3  # 64 points of a circle have a mean of their own


@pytest.mark.parametrize(("fixed", "dim"), [(2, 3), (3, 6)])
def test_several_fixed_coordinates(fixed, dim):
    mixing = InjectiveLinear(dim, dim + 2, generator=torch.Generator().manual_seed(2))
    for name, h in {"recovered": lambda z: z, "folded": Fold(fixed), "forgot": Forget(fixed)}.items():
        found = read(h, mixing, fixed, dim).values
        assert found[name] == 1.0 and found["fibre_r2"] == pytest.approx(1.0, abs=1e-3)


def test_a_fresh_network_is_none_of_them():
    source = Synthetic(Uniform(Sphere(3)), FixedContent(10 / 3, 1))
    encoder = MLP.small(3, 3, generator=torch.Generator().manual_seed(0))
    found = FibreRadius()(Subject(source, encoder, None, source), torch.Generator().manual_seed(0))
    assert not any(found.values[name] for name in KNOWN) and set(found.values) == set(FibreRadius().names)


def test_wrong_calls(unchecked_shapes):
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(3.0))
    subject = Subject(source, nn.Identity(), None, source)
    with pytest.raises(ValueError, match=re.escape("whose conditional is `FixedContent`")):
        FibreRadius()(subject, torch.Generator())
    with pytest.raises(ValueError, match="`points` must be at least 16, got 3"):
        FibreRadius(points=3)
