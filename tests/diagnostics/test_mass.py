"""The mass is that of the marginal trained on."""

import pytest
import torch

from noumena.conditionals import VonMisesFisher
from noumena.diagnostics import TransportedMass
from noumena.marginals import Uniform
from noumena.marginals import VonMisesFisher as Marginal
from noumena.pairs import Given, Synthetic
from noumena.spaces import Sphere
from noumena.theory import transported_mass
from tests.diagnostics.subjects import subject

LAW = VonMisesFisher(5.0)


def read(source, trained_on=None):
    found = TransportedMass()(subject(source, trained_on=trained_on), torch.Generator().manual_seed(0))
    return found.values["transported_mass"]


def test_it_is_that_of_the_marginal_trained_on():
    uniform, gathered = Synthetic(Uniform(Sphere(4)), LAW), Synthetic(Marginal(Sphere(4), 3.0), LAW)
    assert read(uniform, trained_on=gathered) == transported_mass(gathered.marginal) > 0.4
    assert read(gathered, trained_on=uniform) == 0.0


def test_a_source_without_a_law_is_refused():
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(1))
    with pytest.raises(ValueError, match="a source with a known marginal, got `Given`"):
        read(Given(x, x))
