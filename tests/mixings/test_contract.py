"""The laws of mixings catch what they are there for."""

import itertools

import pytest
import torch
from torch import nn

from noumena.mixings import AbstractMixing, Identity, InjectiveLinear, Patches
from tests.contracts.mixings import MixingContract


class ClaimsToBeSmooth(Patches):
    smooth = True


class Folds(Identity):
    def _forward(self, z):
        return z.abs()


class Learns(Identity):
    def __init__(self, dim):
        super().__init__(dim)
        self.scale = nn.Parameter(torch.ones(dim))

    def _forward(self, z):
        return z * self.scale


class Promotes(Identity):
    def _forward(self, z):
        return z.double()


class Centres(Identity):
    def _forward(self, z):
        return z - z.mean(0)


class HidesItsState(Identity):
    def __init__(self, seed):
        super().__init__(3)
        self.hidden = torch.rand(3, generator=torch.Generator().manual_seed(seed))

    def _forward(self, z):
        return z + self.hidden.to(z)


ignoring_the_seed = itertools.count()


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda seed: ClaimsToBeSmooth(), "test_smooth_where_it_says_so"),
        (lambda seed: Folds(3), "test_injective_on_a_sample_and_its_reflections"),
        (lambda seed: Folds(3), "test_inverse_returns_the_latents"),
        (lambda seed: Learns(3), "test_frozen_yet_differentiable"),
        (lambda seed: Centres(3), "test_rows_do_not_see_each_other"),
        (lambda seed: HidesItsState(seed), "test_a_saved_state_restores_the_map"),
        (lambda seed: HidesItsState(next(ignoring_the_seed)), "test_the_seed_decides"),
    ],
)
def test_mutants_are_caught(generator, make, law):
    contract = MixingContract()
    contract.make = lambda seed=0: make(seed)
    with pytest.raises(AssertionError):
        getattr(contract, law)(generator)


def test_a_changed_dtype_is_caught(generator):
    contract = MixingContract()
    contract.make = lambda seed=0: Promotes(3)
    with pytest.raises(AssertionError):
        contract.test_dtype_and_shape_are_kept(generator, torch.float32)


def test_no_inverse_is_said(unchecked_shapes):
    class OneWay(Identity):
        invertible = False

    with pytest.raises(ValueError, match="`OneWay` has no inverse"):
        OneWay(2).inverse(torch.zeros(1, 2))


def test_every_public_mixing_is_one():
    import noumena.mixings as mixings

    public = [value for name, value in vars(mixings).items() if isinstance(value, type)]
    assert all(issubclass(value, AbstractMixing) for value in public)
    assert InjectiveLinear in public
