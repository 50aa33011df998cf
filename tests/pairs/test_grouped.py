"""Groups that supply their own negatives are, for each anchor, what private draws are."""

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.conditionals import FixedContent
from noumena.losses import Dot, Drawn, GroupMates, InfoNCE
from noumena.marginals import GeneralizedNormal, Uniform
from noumena.mixings import Spiral
from noumena.pairs import GroupedSupport, Mixed, Synthetic
from noumena.spaces import Sphere
from tests.contracts.pairs import PairSourceContract
from tests.statistics import z_score

WORLD = Uniform(Sphere(3)), FixedContent(10 / 3, 1)


class TestGroupedSupport(PairSourceContract):
    def make(self):
        return GroupedSupport(*WORLD, Spiral(), group_size=4, negatives=5)


def test_groups_share_their_fixed_part_and_nothing_else(generator):
    batch = GroupedSupport(*WORLD, group_size=4).draw(12, generator)
    fixed = batch.z[:, 0].view(3, 4)
    assert (fixed == fixed[:, :1]).all() and len(fixed[:, 0].unique()) == 3
    assert len(batch.z[:, 1].unique()) == 12


def test_anchors_follow_the_marginal(generator):
    # One anchor of each group: independent draws, uniform on the sphere, so each coordinate is uniform on [-1, 1].
    batch = GroupedSupport(*WORLD, group_size=2).draw(200_000, generator, torch.float64)
    for j in range(3):
        assert abs(z_score(batch.z[::2, j], 0.0)) < 5
        assert abs(z_score(batch.z[::2, j].square(), 1 / 3)) < 5


def losses_and_gradients(share, grouped, repeats=400, mates=12):
    """Per batch: the loss and its gradient in the entries of a linear encoder that shrinks and shears."""
    drawn = round(mates * (1 - share) / share)
    total = mates + drawn
    if grouped:
        source = GroupedSupport(*WORLD, group_size=mates + 1, negatives=drawn)
        loss, n = InfoNCE(Dot(0.3), GroupMates()), 4 * (mates + 1)
    else:
        source = Synthetic(*WORLD, negatives=Mixed(total, mates / total))
        loss, n = InfoNCE(Dot(0.3), Drawn()), 4 * (mates + 1)
    generator = torch.Generator().manual_seed(int(100 * share) + grouped)
    weight = torch.tensor([[1.0, 0.2, 0.0], [0.1, 0.8, 0.3], [-0.2, 0.0, 0.7]], dtype=torch.float64)
    rows = []
    for _ in range(repeats):
        batch = source.draw(n, generator, torch.float64)
        encoder = weight.clone().requires_grad_()
        h_neg = None if batch.x_neg is None else batch.x_neg @ encoder
        embeddings = PairEmbeddings(batch.x @ encoder, batch.x_pos @ encoder, h_neg, group_size=batch.group_size)
        value = loss(embeddings).total
        (gradient,) = torch.autograd.grad(value, encoder)
        rows.append(torch.cat([value.detach()[None], gradient.flatten()]))
    return torch.stack(rows)


def largest_z(first, second):
    error = (first.var(0) / len(first) + second.var(0) / len(second)).sqrt()
    return float(((first.mean(0) - second.mean(0)) / error).abs().max())


@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
def test_loss_and_gradient_equal_private_negatives_in_expectation(share):
    # Ten comparisons at four standard errors alarm once in 1600 seeds; the seeds are fixed.
    assert largest_z(losses_and_gradients(share, True), losses_and_gradients(share, False)) < 4


def test_another_share_is_told_apart():
    assert largest_z(losses_and_gradients(0.5, True), losses_and_gradients(1.0, False)) > 4


def test_wrong_calls(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="multiple of the group size 4, got 10; 8 would do"):
        GroupedSupport(*WORLD, group_size=4).draw(10, generator)
    with pytest.raises(TypeError, match="`marginal` must be a `Uniform`"):
        GroupedSupport(GeneralizedNormal(Sphere(3), p=2, std=1.0), WORLD[1], group_size=4)
    with pytest.raises(ValueError, match="`group_size` must be at least 2"):
        GroupedSupport(*WORLD, group_size=1)
