import pytest
import torch

from noumena.losses import Dot
from noumena.losses.scores import WeightedDot
from tests.contracts.scores import ScoreContract, tau_of, values_of
from tests.references import infonce as reference


class TestWeightedDot(ScoreContract):
    def make(self):
        return WeightedDot([0.5, 1.0, 2.0, 4.0], tau=0.7)

    def reference(self, score):
        return reference.weighted_dot(values_of(score), tau_of(score))


class TestLearnedTemperature(TestWeightedDot):
    def make(self):
        return WeightedDot([0.0, 1.0, 2.0, 4.0], tau=0.7, learnable=False, learnable_tau=True)


def test_equal_weights_are_the_plain_inner_product(generator):
    h, h_pos = torch.randn(2, 6, 3, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(WeightedDot(2.0, 3, tau=0.5, learnable=False)(h, h_pos), Dot(tau=0.25)(h, h_pos))


def test_names_the_importance_in_errors(unchecked_shapes):
    with pytest.raises(ValueError, match="`importance` must be positive"):
        WeightedDot([1.0, -1.0])
