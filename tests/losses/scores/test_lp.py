import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import Drawn, InBatch, InfoNCE, Lp
from tests.contracts.scores import ScoreContract, tau_of
from tests.references import infonce as reference


class LpContract(ScoreContract):
    p = 2.0
    learnable = True

    def make(self):
        return Lp(self.p, tau=0.7, learnable=self.learnable)

    def reference(self, score):
        return reference.lp(self.p, tau_of(score))


class TestAbsolute(LpContract):
    p = 1.0


class TestSquared(LpContract):
    p = 2.0


class TestSquaredFixed(LpContract):
    p, learnable = 2.0, False


class TestCubed(LpContract):
    p = 3.0


class TestBetween(LpContract):
    p = 1.5


class TestFourth(LpContract):
    p, learnable = 4.0, False


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 4.0])
def test_a_tie_has_the_subgradient_zero(p):
    """Equal points, coordinate by coordinate: autograd's |x| has slope 0 at 0, and so have we."""
    h = torch.tensor([[0.3, -0.2], [0.3, 0.5], [0.3, -0.2]], dtype=torch.float64, requires_grad=True)
    h_pos = h.detach().clone().requires_grad_()
    score = Lp(p, tau=0.7)
    ours = torch.autograd.grad(InfoNCE(score, InBatch())(PairEmbeddings(h, h_pos)).total, (h, h_pos))
    theirs = torch.autograd.grad(
        reference.per_anchor(reference.in_batch(h, h_pos), reference.lp(p, 0.7)).mean(), (h, h_pos)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert torch.isfinite(one).all()
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-14)


def test_close_points_far_from_the_origin_keep_their_digits(generator):
    """Squares expanded at an offset of 1e3 would lose every digit of a gap of 1e-2 in float32."""
    h = 1e3 + 1e-2 * torch.randn(20, 5, generator=generator)
    h_pos, h_neg = (h + 1e-2 * torch.randn(20, 5, generator=generator) for _ in range(2))
    # A power of two is folded in without rounding, so that the differences alone are on trial.
    loss = InfoNCE(Lp(2.0, tau=2.0**-14), Drawn())
    short = loss(PairEmbeddings(h, h_pos, h_neg)).total
    exact = loss(PairEmbeddings(h.double(), h_pos.double(), h_neg.double())).total
    assert float(short) == pytest.approx(float(exact), rel=2e-6)


def test_exponents_below_one_are_no_distance(unchecked_shapes):
    with pytest.raises(ValueError, match="`p` must be at least 1"):
        Lp(0.5)
