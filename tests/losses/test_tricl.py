import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import TriCL
from tests.contracts.losses import LossContract
from tests.contracts.scores import values_of
from tests.memory import largest_tensor
from tests.references import infonce as reference
from tests.references import spectral
from tests.references.spectral import decorrelation

IMPORTANCE = [0.5, 1.0, 2.0, 4.0]


class TestSpectralForm(LossContract):
    def make(self):
        return TriCL(4, importance=IMPORTANCE, decorrelation=0.3)

    def reference(self, loss, embeddings):
        h, h_pos = embeddings.h, embeddings.h_pos
        contrast = spectral.per_anchor(
            reference.in_batch(h, h_pos), reference.weighted_dot(values_of(loss.contrast.score))
        )
        return contrast + 0.3 * decorrelation(h, h_pos).sum()


class TestSpectralFormPublished(TestSpectralForm):
    def make(self):
        return TriCL(4, importance=IMPORTANCE, convention="published")

    def reference(self, loss, embeddings):
        h, h_pos = embeddings.h, embeddings.h_pos
        score = reference.weighted_dot(values_of(loss.contrast.score))
        return spectral.per_anchor(reference.in_batch(h, h_pos), score, 1.0) + decorrelation(h, h_pos).mean()


class TestInfoNCEForm(LossContract):
    def make(self):
        return TriCL(4, "infonce", tau=0.4, importance=IMPORTANCE)

    def reference(self, loss, embeddings):
        h, h_pos = embeddings.h, embeddings.h_pos
        score = reference.weighted_dot(values_of(loss.contrast.score), 0.4)
        return reference.per_anchor(reference.in_batch(h, h_pos, "both", "both"), score) + decorrelation(h, h_pos).sum()


class TestInfoNCEFormPublished(LossContract):
    """The code stacks both views and multiplies the rows of the first view's anchors alone."""

    def make(self):
        return TriCL(4, "infonce", tau=0.4, importance=IMPORTANCE, decorrelation=0.5, convention="published", block=7)

    def reference(self, loss, embeddings):
        h, h_pos = embeddings.h, embeddings.h_pos
        comparisons = reference.in_batch(h, h_pos, "both", "both")
        n = len(h)
        weighted = reference.weighted_dot(values_of(loss.contrast.score), 0.4)
        first = reference.per_anchor(comparisons[:n], weighted)
        second = reference.per_anchor(comparisons[n:], reference.dot(0.4))
        return torch.cat([first, second]) + 0.5 * decorrelation(h, h_pos).mean()


@pytest.mark.parametrize("form", ["spectral", "infonce"])
def test_importance_is_read_back_and_may_be_fixed(form):
    loss = TriCL(4, form, importance=IMPORTANCE, learnable=False)
    torch.testing.assert_close(loss.importance, torch.tensor(IMPORTANCE, dtype=torch.float64))
    assert not list(loss.parameters())
    assert float(TriCL(2, form).importance[0].detach()) == pytest.approx(0.6931, abs=1e-4)


def test_decorrelation_is_zero_for_decorrelated_features():
    h = 2 * torch.eye(4, dtype=torch.float64)
    assert float(TriCL(4)(PairEmbeddings(h, h)).parts["decorrelation"]) == 0.0


def test_no_pair_of_rows_is_formed_by_the_spectral_form(generator):
    h, h_pos = torch.randn(2, 3000, 8, generator=generator)
    with largest_tensor() as largest:
        TriCL(8)(PairEmbeddings(h.requires_grad_(), h_pos)).total.backward()
    assert largest.elements <= 2 * 3000 * 8


def test_refuses_combinations_that_cannot_be_meant(unchecked_shapes):
    for arguments, message in [
        ({"tau": 0.2}, "has no temperature"),
        ({"form": "spectrum"}, "did you mean 'spectral'"),
        ({"decorrelation": -1.0}, "`decorrelation` must be at least 0"),
        ({"convention": "code"}, "`convention` cannot be"),
        ({"importance": [1.0, 2.0]}, "each of 4 coordinates"),
    ]:
        with pytest.raises(ValueError, match=message):
            TriCL(4, **arguments)
