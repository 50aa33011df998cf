import pytest
import torch

from noumena.spaces import Box, Product, Sphere
from tests.contracts.spaces import SpaceContract


class TestProduct(SpaceContract):
    def make(self):
        return Product([Sphere(2), Box(1, low=-1.0, high=2.0)])

    def monte_carlo_log_volume(self, generator):
        return Sphere(2).log_volume + torch.tensor(3.0).log().item()


def test_split_gives_each_factor_its_coordinates():
    parts = Product([Sphere(2), Box(3)]).split(torch.arange(5.0)[None])
    assert [part.tolist() for part in parts] == [[[0.0, 1.0]], [[2.0, 3.0, 4.0]]]


def test_no_factors_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Product([])
