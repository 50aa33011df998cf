import numpy as np
import pytest
import torch
from torch import Tensor, nn

from noumena.encoders import AbstractEncoder
from tests.contracts.encoders import EncoderContract
from tests.references.networks import on_sphere


class Quadratic(AbstractEncoder):
    """The example of the base class."""

    def __init__(self, dim_in: int, dim_out: int, *, generator: torch.Generator):
        super().__init__(dim_in, dim_out, head="sphere", generator=generator)
        self.weight = nn.Parameter(torch.randn(dim_in, dim_out, generator=generator))

    def body(self, x: Tensor) -> Tensor:
        return x.square() @ self.weight


class TestQuadratic(EncoderContract):
    def make(self, generator):
        return Quadratic(4, 3, generator=generator)

    def reference(self, state, x):
        return on_sphere(np.array([sum(x[i] ** 2 * state["weight"][i, j] for i in range(4)) for j in range(3)]))


class Pooled(AbstractEncoder):
    """Reads images."""

    observation_shape = (3, 8, 8)

    def body(self, x: Tensor) -> Tensor:
        return x.mean(dim=(-2, -1))


def test_observations_need_not_be_vectors(generator, unchecked_shapes):
    encoder = Pooled(3 * 8 * 8, 3, head="free", generator=generator)
    assert encoder(torch.ones(5, 3, 8, 8)).shape == (5, 3)
    assert encoder(torch.ones(5, 192)).shape == (5, 3)
    with pytest.raises(ValueError, match=r"`x` must have the shape \(n, 3, 8, 8\), or \(n, 192\); got \(5, 191\)"):
        encoder(torch.ones(5, 191))
