"""A run that cannot go on names the step and the likely cause."""

import pickle

import pytest
import torch

from noumena import streams
from noumena.conditionals import VonMisesFisher
from noumena.encoders import MLP
from noumena.losses import AnisotropicScore, Dot, InfoNCE, Regression
from noumena.marginals import Uniform
from noumena.mixings import Spiral
from noumena.pairs import Synthetic
from noumena.pairs.base import AbstractPairSource
from noumena.spaces import Sphere
from noumena.training import SGD, Adam, Diverged, train


class Spoilt(AbstractPairSource):
    """A source whose draw number `fatal` spoils what it is handed."""

    def __init__(self, fatal, spoil):
        self.source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(10 / 3), Spiral())
        self.left, self.spoil = fatal, spoil

    def _draw(self, n, generator, dtype):
        batch = self.source.draw(n, generator, dtype)
        self.left -= 1
        if self.left == 0:
            self.spoil(batch)
        return batch


def run(encoder, loss=None, fatal=0, spoil=None, **options):
    loss = InfoNCE(Dot(0.3)) if loss is None else loss
    options = {"optimizer": Adam(1e-2), "steps": 20, "batch_size": 32, "generator": streams(0).pairs} | options
    with pytest.raises(Diverged) as caught:
        list(train(Spoilt(fatal, spoil), encoder, loss, **options))
    assert f"at step {caught.value.step}:" in str(caught.value)
    return caught.value


def fill(module, value):
    with torch.no_grad():
        next(module.parameters()).fill_(value)


@pytest.fixture
def encoder(generator):
    return MLP.small(3, 3, width=8, head="free", generator=generator)


def test_spoilt_initial_values(encoder):
    fill(encoder, float("nan"))
    error = run(encoder)
    assert error.step == 1 and "initial values of `layers.0.weight`" in str(error)


def test_spoilt_observations(encoder):
    error = run(encoder, fatal=4, spoil=lambda batch: batch.x[0].fill_(float("nan")))
    assert error.step == 4 and "look at `source`" in str(error)


def test_an_update_that_spoils_the_encoder(encoder):
    error = run(encoder, fatal=5, spoil=lambda batch: fill(encoder, float("inf")))
    # The fifth draw stands for an update of the step before it.
    assert error.step == 4 and "`layers.0.weight` of the encoder" in str(error)
    assert "Lower the learning rate, now 0.01" in str(error)


def test_an_update_that_spoils_the_loss(encoder):
    loss = InfoNCE(AnisotropicScore(1.0, 3))
    options = {"optimizer": Adam(1e-2, rates={"loss": 50.0})}
    error = run(encoder, loss, fatal=5, spoil=lambda batch: fill(loss, float("nan")), **options)
    assert error.step == 4
    assert "its update made `score.values.raw` of the loss NaN" in str(error) and "now at most 0.5" in str(error)


def test_overflowing_scores(encoder):
    error = run(encoder, InfoNCE(Dot(tau=1e-39)))
    assert error.step == 1 and "at temperature 1e-39: raise the temperature" in str(error)


def test_an_exploding_loss_stops_before_it_is_infinite(encoder):
    error = run(encoder, Regression(), optimizer=SGD(3.0))
    assert "Lower the learning rate, now 3, or pass `clip`" in str(error)
    assert error.step > 1


def test_the_last_update_is_looked_at(encoder):
    """It meets no loss any more."""
    error = run(encoder, Regression(), fatal=1, spoil=lambda batch: batch.x.mul_(100), optimizer=SGD(1e38), steps=1)
    assert error.step == 1 and "its update made" in str(error)


def test_it_survives_the_way_from_a_worker():
    error = Diverged(3, "the loss is nan", "Look.")
    again = pickle.loads(pickle.dumps(error))
    assert again.step == 3 and str(again) == str(error) == "training diverged at step 3: the loss is nan. Look."


def test_other_errors_pass_with_their_step(encoder):
    class Refusing(Regression):
        def forward(self, embeddings):
            raise ValueError("for a reason of its own")

    source = Spoilt(0, None)
    options = {"optimizer": Adam(1e-2), "steps": 2, "batch_size": 8, "generator": streams(0).pairs}
    with pytest.raises(ValueError, match="for a reason of its own") as caught:
        list(train(source, encoder, Refusing(), **options))
    assert caught.value.__notes__ == ["at step 1"]


def test_a_row_without_direction_names_its_step(generator):
    encoder = MLP.small(3, 3, width=8, generator=generator)
    source = Spoilt(3, lambda batch: [parameter.detach().zero_() for parameter in encoder.parameters()])
    options = {"optimizer": Adam(1e-2), "steps": 5, "batch_size": 8, "generator": streams(0).pairs}
    with pytest.raises(ValueError, match="has no direction") as caught:
        list(train(source, encoder, InfoNCE(Dot(0.3)), **options))
    assert caught.value.__notes__ == ["at step 3"]
