import pytest
import torch

from noumena.conditionals import FixedContent, GeneralizedNormal, VonMisesFisher
from noumena.marginals import Uniform
from noumena.mixings import InjectiveLinear, Spiral
from noumena.pairs import FromMarginal, FromSupport, Harder, Mixed, Synthetic
from noumena.spaces import Box, Sphere
from tests.contracts.pairs import PairSourceContract
from tests.statistics import z_score


class TestSynthetic(PairSourceContract):
    def make(self):
        return Synthetic(Uniform(Sphere(3)), VonMisesFisher(5.0), Spiral())


class TestSyntheticWithSharedNegatives(PairSourceContract):
    def make(self):
        return Synthetic(Uniform(Box(4)), GeneralizedNormal(1, scale=0.1), negatives=FromMarginal(7))


class TestSyntheticWithPrivateNegatives(PairSourceContract):
    def make(self):
        return Synthetic(Uniform(Sphere(3)), FixedContent(5.0, 1), Spiral(), negatives=Mixed(7, share=0.3))


def test_the_mixing_turns_every_latent_into_an_observation(generator):
    mixing = InjectiveLinear(3, 7, generator=generator)
    batch = Synthetic(Uniform(Sphere(3)), VonMisesFisher(5.0), mixing, FromSupport(4)).draw(5, generator)
    assert batch.x_neg.shape == (5, 4, 7)
    torch.testing.assert_close(mixing(batch.z), batch.x)
    torch.testing.assert_close(mixing(batch.z_pos), batch.x_pos)
    torch.testing.assert_close(mixing(batch.z_neg[2]), batch.x_neg[2])


def test_a_conditional_without_a_space_is_placed_in_the_marginals(generator):
    source = Synthetic(Uniform(Box(2, low=-1.0, high=1.0)), GeneralizedNormal(2, scale=3.0))
    batch = source.draw(1000, generator)
    assert source.conditional.space == Box(2, low=-1.0, high=1.0)
    assert source.space.contains(batch.z_pos).all()


@pytest.mark.parametrize(("share", "constrained"), [(0.0, 0), (0.3, 3), (0.29, 3), (1.0, 10)])
def test_the_share_of_constrained_negatives_is_the_stated_one(generator, share, constrained):
    source = Synthetic(Uniform(Sphere(3)), FixedContent(5.0, 1), negatives=Mixed(10, share))
    batch = source.draw(20, generator)
    on_fibre = (batch.z_neg[..., 0] == batch.z[:, None, 0]).sum(dim=1)
    assert (on_fibre == constrained).all()


def test_support_negatives_are_uniform_on_the_fibre(generator):
    source = Synthetic(Uniform(Sphere(3)), FixedContent(5.0, 1), negatives=FromSupport(50))
    batch = source.draw(4000, generator, torch.float64)
    cosine = torch.nn.functional.cosine_similarity(batch.z_neg[..., 1:], batch.z[:, None, 1:], dim=-1)
    # False-alarm rate of each: one in 1.7 million. Positives, which lean towards the anchor, must be told apart.
    assert abs(z_score(cosine, 0.0)) < 5 and abs(z_score(cosine.square(), 0.5)) < 5
    positives = torch.nn.functional.cosine_similarity(batch.z_pos[:, 1:], batch.z[:, 1:], dim=-1)
    assert abs(z_score(positives, 0.0)) > 5


def test_harder_negatives_lie_nearer_than_marginal_ones(generator):
    world = Uniform(Sphere(5)), VonMisesFisher(20.0)
    near = Synthetic(*world, negatives=Harder(VonMisesFisher(5.0), 3)).draw(500, generator)
    far = Synthetic(*world, negatives=FromMarginal(3, private=True)).draw(500, generator)
    assert near.z_neg.shape == (500, 3, 5)
    mean_cosine = [(batch.z_neg * batch.z[:, None]).sum(-1).mean() for batch in (near, far)]
    assert mean_cosine[0] > 0.5 and abs(mean_cosine[1]) < 0.1


def test_parts_that_do_not_fit_are_refused(unchecked_shapes):
    with pytest.raises(ValueError, match="space of `marginal`"):
        Synthetic(Uniform(Sphere(3)), VonMisesFisher(5.0, space=Sphere(4)))
    with pytest.raises(ValueError, match="`mixing` must take 4 latents"):
        Synthetic(Uniform(Sphere(4)), VonMisesFisher(5.0), Spiral())
    with pytest.raises(TypeError, match="`marginal` must be a `AbstractMarginal`"):
        Synthetic(Sphere(3), VonMisesFisher(5.0))
