import pytest
import torch

from noumena.losses import AnisotropicScore, Lp
from tests.contracts.scores import ScoreContract, values_of
from tests.references import infonce as reference

PRECISION = [0.5, 1.0, 2.0, 4.0]


class TestAnisotropicScore(ScoreContract):
    def make(self):
        return AnisotropicScore(PRECISION)

    def reference(self, score):
        return reference.anisotropic(values_of(score))


class TestHalf(TestAnisotropicScore):
    def make(self):
        return AnisotropicScore(PRECISION, half=True)

    def reference(self, score):
        return reference.anisotropic(values_of(score), factor=0.5)


class TestFixed(TestAnisotropicScore):
    def make(self):
        return AnisotropicScore([0.0, 1.0, 2.0, 4.0], learnable=False)


def test_initial_values_are_given_back():
    for values in ([1e-4, 0.7, 25.0, 400.0], torch.tensor([0.1, 3.0])):
        torch.testing.assert_close(
            AnisotropicScore(values).precision.double(), torch.as_tensor(values, dtype=torch.float64), rtol=1e-5, atol=0
        )
    assert AnisotropicScore(5.0, dim=3).precision.shape == (3,)


def test_equal_precisions_are_the_squared_distance(generator):
    h, h_pos = torch.randn(2, 6, 3, generator=generator, dtype=torch.float64)
    score = AnisotropicScore(4.0, dim=3, learnable=False)
    torch.testing.assert_close(score(h, h_pos), Lp(2.0, tau=0.25)(h, h_pos))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"precision": [1.0, -1.0]}, "must be positive, got -1"),
        ({"precision": [1.0, 0.0]}, "must be positive, got 0"),
        ({"precision": 1.0}, "`dim` must be given"),
        ({"precision": [1.0, 2.0], "dim": 3}, "each of 3 coordinates"),
        ({"precision": [1.0, float("nan")]}, "finite"),
        ({"precision": torch.ones(1, 1)}, "one value for"),
    ],
)
def test_refuses_precisions_that_are_none(arguments, message, unchecked_shapes):
    with pytest.raises(ValueError, match=message):
        AnisotropicScore(**arguments)


def test_refuses_embeddings_of_another_dimension(generator):
    with pytest.raises(ValueError, match="must have 4 coordinates"):
        AnisotropicScore(PRECISION)(torch.ones(2, 3), torch.ones(2, 3))
