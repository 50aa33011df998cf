"""The loss an encoder has come to, in the limit of many negatives."""

import re

import pytest
import torch
from torch import nn

from noumena.batch import PairEmbeddings
from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.diagnostics import LimitLoss, Subject
from noumena.encoders import MLP
from noumena.losses import CovarianceContrast, Dot, Drawn, InfoNCE
from noumena.marginals import Uniform
from noumena.mixings import Spiral
from noumena.pairs import FromMarginal, Synthetic
from noumena.spaces import Sphere

LOSS = InfoNCE(Dot(0.3))


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class Inverse(nn.Module):
    def __init__(self, mixing):
        super().__init__()
        self.mixing = mixing

    def forward(self, x):
        return self.mixing.inverse(x)


@pytest.mark.parametrize(("share", "expected"), [(0.0, -1.35537), (1.0, -0.60832)])
def test_the_inverse_of_the_mixing_has_the_loss_of_the_latents(share, expected):
    source = Synthetic(Uniform(Sphere(3)), FixedContent(10 / 3, 1), Spiral())
    found = LimitLoss(share)(Subject(source, Inverse(Spiral()), LOSS, source), seeded()).values
    assert found["limit_loss"] == pytest.approx(expected, abs=2e-5)
    assert found["limit_gap"] == pytest.approx(0.0, abs=1e-5)


def test_it_is_the_loss_of_fresh_batches_without_their_noise():
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(10 / 3), Spiral(), FromMarginal(1000))
    encoder = MLP.small(3, 3, generator=seeded(1))
    found = LimitLoss(negatives=1000)(Subject(source, encoder, LOSS, source), seeded()).values["limit_loss"]
    generator, values = seeded(2), []
    with torch.no_grad():
        for _ in range(40):
            batch = source.draw(500, generator)
            h = [encoder(x) for x in (batch.x, batch.x_pos, batch.x_neg)]
            values.append(InfoNCE(Dot(0.3), Drawn())(PairEmbeddings(*h)).total)
    values = torch.stack(values)
    assert abs(float(values.mean()) - found) < 5 * float(values.std()) / 40**0.5 < 0.05


def test_beyond_three_dimensions_it_is_drawn_and_repeatable():
    source = Synthetic(Uniform(Sphere(5)), FixedContent(10 / 3, 2))
    subject = Subject(source, MLP.small(5, 5, generator=seeded(1)), LOSS, source)
    first, again = (LimitLoss()(subject, seeded(3)).values for _ in range(2))
    assert first == again
    latents = LimitLoss()(Subject(source, nn.Identity(), LOSS, source), seeded(4)).values
    assert latents["limit_gap"] == pytest.approx(0.0, abs=1e-5) and first["limit_loss"] > latents["limit_loss"]


def test_wrong_calls(unchecked_shapes):
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(3.0))
    subject = Subject(source, nn.Identity(), CovarianceContrast(), source)
    with pytest.raises(ValueError, match=re.escape("trained with `InfoNCE`, got `CovarianceContrast`")):
        LimitLoss()(subject, seeded())
    with pytest.raises(ValueError, match="`share` must lie between 0 and 1, got 2"):
        LimitLoss(2.0)
