"""Laws of every score."""

import math

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import AbstractScore, Drawn, InfoNCE
from tests.references import infonce as reference


class ScoreContract:
    dim = 4

    def make(self) -> AbstractScore:
        raise NotImplementedError

    def reference(self, score: AbstractScore):
        """The score of two vectors, differentiable in the free parameters of `score`."""
        raise NotImplementedError

    def draw(self, generator, *shape, dtype=torch.float64, requires_grad=False):
        h = torch.randn(*shape, self.dim, generator=generator, dtype=dtype)
        return h.requires_grad_(requires_grad)

    def test_pairs_and_grid_are_the_reference(self, generator):
        score = self.make().double()
        h, h_pos, private = self.draw(generator, 5), self.draw(generator, 5), self.draw(generator, 5, 3)
        of_pair = self.reference(score)
        one_by_one = torch.stack([of_pair(u, v) for u, v in zip(h, h_pos, strict=True)])
        torch.testing.assert_close(score(h, h_pos), one_by_one, rtol=1e-12, atol=1e-12)
        shared = torch.stack([torch.stack([of_pair(u, v) for v in h_pos]) for u in h])
        torch.testing.assert_close(score.grid(h, h_pos), shared, rtol=1e-12, atol=1e-12)
        own = torch.stack([torch.stack([of_pair(u, v) for v in row]) for u, row in zip(h, private, strict=True)])
        torch.testing.assert_close(score.grid(h, private), own, rtol=1e-12, atol=1e-12)

    def test_symmetric_where_it_says_so(self, generator):
        score = self.make().double()
        h, h_pos = self.draw(generator, 6), self.draw(generator, 6)
        same = torch.allclose(score(h, h_pos), score(h_pos, h), rtol=1e-12, atol=1e-12)
        assert same == score.symmetric

    def test_gradcheck(self, generator):
        score = self.make().double()
        h, h_pos = self.draw(generator, 3, requires_grad=True), self.draw(generator, 3, requires_grad=True)
        assert torch.autograd.gradcheck(lambda a, b, *_: score(a, b), (h, h_pos, *score.parameters()))

    @pytest.mark.parametrize("private", [False, True])
    def test_chunked_equals_whole(self, generator, private):
        """Blocks of one row give the loss and the gradients of the whole grid, which autograd differentiates."""
        score = self.make().double()
        leaves = [self.draw(generator, 5, requires_grad=True) for _ in range(2)]
        leaves.append(self.draw(generator, *((5, 3) if private else (3,)), requires_grad=True))
        wanted = [*leaves, *score.parameters()]
        h, h_pos, h_neg = leaves
        grid = torch.cat([score(h, h_pos)[:, None], score.grid(h, h_neg)], dim=1)
        whole = (torch.logsumexp(grid, dim=1) - grid[:, 0]).mean()
        chunked = InfoNCE(score, Drawn(), block=1)(PairEmbeddings(h, h_pos, h_neg)).total
        torch.testing.assert_close(chunked, whole, rtol=1e-12, atol=1e-12)
        for one, other in zip(torch.autograd.grad(chunked, wanted), torch.autograd.grad(whole, wanted), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)

    def test_every_block_gradchecks(self, generator):
        score = self.make().double()
        leaves = [self.draw(generator, *shape, requires_grad=True) for shape in [(3,), (3,), (3, 2)]]
        loss = InfoNCE(score, Drawn(), block=3)
        assert torch.autograd.gradcheck(
            lambda h, h_pos, h_neg, *_: loss(PairEmbeddings(h, h_pos, h_neg)).total, (*leaves, *score.parameters())
        )

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_keeps_the_dtype(self, generator, dtype):
        score = self.make()
        h, h_pos = self.draw(generator, 4, dtype=dtype), self.draw(generator, 4, dtype=dtype)
        assert score(h, h_pos).dtype == score.grid(h, h_pos).dtype == dtype

    def test_casting_the_module_keeps_the_model(self, generator):
        """Only learned values are stored in the module's dtype; each cast costs at most its rounding."""
        score = self.make()
        h, h_pos = self.draw(generator, 4), self.draw(generator, 4)
        before = score(h, h_pos)
        cast = score.half().double()(h, h_pos)
        exact = not list(score.parameters()) and not list(score.buffers())
        torch.testing.assert_close(cast, before, rtol=0 if exact else 5e-3, atol=0 if exact else 5e-3)

    def test_state_dict_round_trip(self, generator):
        score, other = self.make(), self.make()
        with torch.no_grad():
            for parameter in score.parameters():
                parameter.add_(math.log(2))
        other.load_state_dict(score.state_dict())
        h, h_pos = self.draw(generator, 4), self.draw(generator, 4)
        assert torch.equal(score(h, h_pos), other(h, h_pos))


def tau_of(score):
    """The temperature, from the free parameter behind it if there is one."""
    log_tau = score.temperature.log_tau
    return score.tau if log_tau is None else torch.exp(log_tau)


def values_of(score):
    """Precision or importance, likewise."""
    return score.values.fixed if score.values.raw is None else reference.softplus(score.values.raw)
