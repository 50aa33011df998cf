import pytest
import torch

from noumena.losses import Dot
from tests.contracts.scores import ScoreContract, tau_of
from tests.references import infonce as reference


class TestDot(ScoreContract):
    def make(self):
        return Dot(tau=0.7)

    def reference(self, score):
        return reference.dot(tau_of(score))


class TestDotLearnable(TestDot):
    def make(self):
        return Dot(tau=0.7, learnable=True)


def test_tau_is_given_back():
    assert Dot(0.3).tau == 0.3
    assert Dot(0.3, learnable=True).tau == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize("tau", [0.0, -0.1, float("nan")])
def test_refuses_temperatures_that_are_not_positive(tau, unchecked_shapes):
    with pytest.raises(ValueError, match="`tau`"):
        Dot(tau)


def test_never_normalises():
    h = torch.tensor([[2.0, 0.0]])
    assert float(Dot()(h, h)) == 4.0
