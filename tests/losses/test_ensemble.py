import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import AnisotropicScore, Dot, Ensemble, InBatch, InfoNCE, Regression, TriCL
from tests.contracts.losses import LossContract, gradients, watched
from tests.contracts.scores import tau_of, values_of
from tests.references import infonce as reference
from tests.references.spectral import decorrelation


class TestEnsemble(LossContract):
    def make(self):
        return Ensemble(
            [InfoNCE(Dot(0.5, learnable=True)), InfoNCE(AnisotropicScore([1.0, 2.0]))],
            weights=[0.5, 2.0],
            coordinates=[None, [3, 1]],
        )

    def reference(self, loss, embeddings):
        h, h_pos = embeddings.h, embeddings.h_pos
        dot = reference.dot(tau_of(loss.losses[0].score))
        precision = reference.anisotropic(values_of(loss.losses[1].score))
        whole = reference.per_anchor(reference.in_batch(h, h_pos), dot)
        chosen = reference.per_anchor(reference.in_batch(h[:, [3, 1]], h_pos[:, [3, 1]]), precision)
        return 0.5 * whole + 2.0 * chosen


class TestUnequalLengths(LossContract):
    """One loss has both views as anchors: 6 + 12 shares, which still average to the total."""

    def make(self):
        return Ensemble([InfoNCE(Dot(0.5)), TriCL(4, "infonce", tau=0.5)], weights=[1.0, 3.0])

    def reference(self, loss, embeddings):
        h, h_pos = embeddings.h, embeddings.h_pos
        score = reference.weighted_dot(values_of(loss.losses[1].contrast.score), 0.5)
        one = reference.per_anchor(reference.in_batch(h, h_pos), reference.dot(0.5))
        two = reference.per_anchor(reference.in_batch(h, h_pos, "both", "both"), score) + decorrelation(h, h_pos).sum()
        return torch.cat([3 * one, 1.5 * 3 * two])


def test_processes_with_pairs_of_their_own(generator):
    batches = [watched(PairEmbeddings(*torch.randn(2, n, 4, generator=generator, dtype=torch.float64))) for n in (5, 8)]
    losses = [InfoNCE(AnisotropicScore(1.0, 4)), InfoNCE(AnisotropicScore(2.0, 4), InBatch(include_self=True))]
    output = Ensemble(losses, weights=[1.0, 0.5])(batches)
    apart = [loss(batch) for loss, batch in zip(losses, batches, strict=True)]
    torch.testing.assert_close(output.total, apart[0].total + 0.5 * apart[1].total)
    torch.testing.assert_close(output.per_anchor.mean(), output.total)
    assert len(output.per_anchor) == 13
    assert output.parts["1/alignment"] == 0.5 * apart[1].parts["alignment"]
    for batch, loss, weight, one in zip(batches, losses, [1.0, 0.5], apart, strict=True):
        for ours, alone in zip(
            gradients(output.total, loss, batch), gradients(weight * one.total, loss, batch), strict=True
        ):
            torch.testing.assert_close(ours, alone)


def test_every_loss_is_trained_and_named():
    ensemble = Ensemble([InfoNCE(Dot(0.5, learnable=True)), InfoNCE(Dot(0.5, learnable=True))])
    assert len(list(ensemble.parameters())) == 2
    assert not ensemble.uses_latents
    assert Ensemble([Regression(), InfoNCE(Dot())]).uses_latents


def test_coordinates_reach_private_negatives(generator):
    h, h_pos = torch.randn(2, 3, 4, generator=generator)
    h_neg = torch.randn(3, 5, 4, generator=generator)
    chosen = Ensemble([InfoNCE(Dot())], coordinates=[[0, 2]])(PairEmbeddings(h, h_pos, h_neg)).total
    cut = PairEmbeddings(h[:, [0, 2]], h_pos[:, [0, 2]], h_neg[..., [0, 2]])
    torch.testing.assert_close(chosen, InfoNCE(Dot())(cut).total)


def test_refuses_combinations_that_cannot_be_meant(generator, unchecked_shapes):
    h, h_pos = torch.randn(2, 3, 4, generator=generator)
    loss = InfoNCE(Dot())
    for arguments, kind, message in [
        ({"losses": []}, ValueError, "at least one loss"),
        ({"losses": [Dot()]}, TypeError, r"`losses\[0\]` must be a `AbstractLoss`"),
        ({"losses": [loss], "weights": [1.0, 2.0]}, ValueError, "one entry for each of 1 losses, got 2"),
        ({"losses": [loss], "weights": [0.0]}, ValueError, r"`weights\[0\]` must be positive"),
        ({"losses": [loss], "coordinates": [[1, 1]]}, ValueError, "different coordinates"),
        ({"losses": [loss], "coordinates": [[-1]]}, ValueError, "at least 0"),
    ]:
        with pytest.raises(kind, match=message):
            Ensemble(**arguments)
    with pytest.raises(ValueError, match="must lie below 4"):
        Ensemble([loss], coordinates=[[4]])(PairEmbeddings(h, h_pos))
    with pytest.raises(ValueError, match="one for each of 2 losses; got 1"):
        Ensemble([loss, loss])([PairEmbeddings(h, h_pos)])
