import numpy as np
import pytest

from noumena.mixings import Monomial
from tests.contracts.mixings import MixingContract


class TestMonomial(MixingContract):
    random = False

    def make(self, seed=0):
        return Monomial(3)

    def reference(self, z):
        return np.array([[value**power for value in row for power in (1, 2, 3, 4, 5, 6, 7)] for row in z])

    def test_the_inverse_is_exact(self, generator):
        mixing, z = self.make(), self.latents(50, generator)
        assert (mixing.inverse(mixing(z)) == z).all()


def test_the_published_size():
    assert Monomial(10).dim_out == 70
    assert Monomial(10, degree=1).dim_out == 10


def test_refusals():
    with pytest.raises(ValueError, match="`degree` must be at least 1"):
        Monomial(3, degree=0)
