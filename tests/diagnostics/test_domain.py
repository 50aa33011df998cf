"""The classifier comes close to the best one there is, which is known for two opposite von Mises-Fisher laws."""

import math

import pytest
import torch

from noumena.conditionals import VonMisesFisher
from noumena.diagnostics import DomainClassifier
from noumena.marginals import VonMisesFisher as Marginal
from noumena.mixings import InvertibleMLP
from noumena.pairs import Synthetic
from noumena.spaces import Sphere
from tests.diagnostics.subjects import subject

MIXING = InvertibleMLP(3, pool=50, generator=torch.Generator().manual_seed(0))


def source(kappa: float, pole: float, mixing=None) -> Synthetic:
    return Synthetic(Marginal(Sphere(3), kappa, [pole, 0.0, 0.0]), VonMisesFisher(5.0), mixing)


def accuracy(trained, tested, seed=3) -> float:
    read = DomainClassifier(n=2000)(subject(tested, trained_on=trained), torch.Generator().manual_seed(seed))
    return read.values["domain_accuracy"]


@pytest.mark.parametrize(("kappa", "mixing"), [(1.0, None), (3.0, MIXING)])
def test_opposite_poles_are_told_apart_as_well_as_can_be(kappa, mixing):
    # The sign of the first coordinate decides: P(z_1 > 0) = 1 / (1 + e^-kappa). An injective mixing changes nothing.
    best = 1 / (1 + math.exp(-kappa))
    found = accuracy(source(kappa, 1.0, mixing), source(kappa, -1.0, mixing))
    # 2000 scored observations: a standard error of .01 at most; the fit itself costs about as much.
    assert best - 0.05 < found < best + 0.04


def test_one_domain_cannot_be_told_apart():
    assert abs(accuracy(source(2.0, 1.0), source(2.0, 1.0)) - 0.5) < 0.05


def test_the_generator_decides():
    domains = source(1.0, 1.0), source(1.0, -1.0)
    assert accuracy(*domains, seed=4) == accuracy(*domains, seed=4) != accuracy(*domains, seed=5)


def test_wrong_calls_of_domain_classifier(unchecked_shapes):
    with pytest.raises(ValueError, match="`n` must be at least 100, got 10"):
        DomainClassifier(n=10)
