import pytest

from noumena.losses import Dot, Lp
from noumena.losses.scores import WeightedDot
from noumena.losses.spectral import Spectral
from tests.contracts.losses import LossContract
from tests.contracts.scores import tau_of, values_of
from tests.references import infonce as reference
from tests.references import spectral


class TestInBatch(LossContract):
    def make(self):
        return Spectral(WeightedDot([0.5, 1.0, 2.0, 4.0], tau=0.7, learnable_tau=True))

    def reference(self, loss, embeddings):
        score = reference.weighted_dot(values_of(loss.score), tau_of(loss.score))
        return spectral.per_anchor(reference.in_batch(embeddings.h, embeddings.h_pos), score)


class TestShared(LossContract):
    negatives = (5,)
    one_pair_is_refused = False

    def make(self):
        return Spectral(Dot(tau=0.7, learnable=True), positive_weight=1.0)

    def reference(self, loss, embeddings):
        comparisons = reference.drawn(embeddings.h, embeddings.h_pos, embeddings.h_neg)
        return spectral.per_anchor(comparisons, reference.dot(tau_of(loss.score)), 1.0)


class TestPrivate(TestShared):
    def embeddings(self, generator, n=None):
        self.negatives = (self.n if n is None else n, 5)
        return super().embeddings(generator, n)


def test_needs_an_inner_product():
    with pytest.raises(ValueError, match="inner product"):
        Spectral(Lp(2.0))
