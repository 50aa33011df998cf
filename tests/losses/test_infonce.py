"""InfoNCE against plain loops over pairs, in value and in every gradient."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from noumena.batch import PairEmbeddings
from noumena.losses import (
    AnisotropicScore,
    Dot,
    Drawn,
    Equal,
    GroupMates,
    HardNegatives,
    InBatch,
    InfoNCE,
    Lp,
    Union,
    infonce,
)
from noumena.losses.scores import WeightedDot
from tests.contracts.losses import LossContract, assert_all_close, cast, gradients, watched
from tests.contracts.scores import tau_of, values_of
from tests.memory import largest_tensor, peak_bytes
from tests.references import infonce as reference

BLOCKS = (2**18, 1, 23)  # everything at once; a row at a time; a few rows, which cut through groups

# A score of d coordinates whose values stay near one for standard normal embeddings, and the loop's score.
SCORES = {
    "dot": (lambda d: Dot(d**0.5), lambda s: reference.dot(tau_of(s))),
    "dot, learned": (lambda d: Dot(d**0.5, learnable=True), lambda s: reference.dot(tau_of(s))),
    **{
        f"p = {p:g}": (lambda d, p=p: Lp(p, 2.0 * d, learnable=p != 2), lambda s: reference.lp(s.p, tau_of(s)))
        for p in (1.0, 2.0, 3.0, 1.5, 4.0)
    },
    "precision": (
        lambda d: AnisotropicScore(torch.linspace(0.2, 1.0, d) / d),
        lambda s: reference.anisotropic(values_of(s)),
    ),
    "precision, half": (
        lambda d: AnisotropicScore(torch.linspace(0.2, 1.0, d) / d, half=True),
        lambda s: reference.anisotropic(values_of(s), 0.5),
    ),
    "importance": (
        lambda d: WeightedDot(torch.linspace(0.2, 1.0, d), tau=d**0.5),
        lambda s: reference.weighted_dot(values_of(s), tau_of(s)),
    ),
}

ALL_VIEWS = [
    {"anchors": anchors, "views": views, "include_self": include_self}
    for anchors in ("first", "second", "both")
    for views in ("own", "other", "both")
    for include_self in (False, True)
    if not (include_self and views == "other")
] + [{"anchors": "both", "views": "both", "include_self": s, "cross_block": "published"} for s in (False, True)]

# Candidates, the leading axes of their drawn negatives, and the loop's comparisons.
CANDIDATES = {
    **{
        "in batch: " + ", ".join(str(value) for value in options.values()): (
            InBatch(**options),
            None,
            lambda e, options=options: reference.in_batch(e.h, e.h_pos, **options),
        )
        for options in ALL_VIEWS
    },
    "shared": (Drawn(), (5,), lambda e: reference.drawn(e.h, e.h_pos, e.h_neg)),
    "private": (Drawn(), (6, 5), lambda e: reference.drawn(e.h, e.h_pos, e.h_neg)),
    "mates": (GroupMates(), None, lambda e: reference.group_mates(e.h, e.h_pos, 3)),
    "mates alone": (GroupMates(1.0), (5,), lambda e: reference.group_mates(e.h, e.h_pos, 3, e.h_neg, 1.0)),
    "mates and drawn": (GroupMates(), (5,), lambda e: reference.group_mates(e.h, e.h_pos, 3, e.h_neg)),
    "drawn alone": (GroupMates(0.0), (5,), lambda e: reference.drawn(e.h, e.h_pos, e.h_neg)),
    "mates, share 0.3": (GroupMates(0.3), (5,), lambda e: reference.group_mates(e.h, e.h_pos, 3, e.h_neg, 0.3)),
    "batch and private": (
        Union([InBatch(include_self=True), Drawn()]),
        (6, 2),
        lambda e: reference.together(
            reference.in_batch(e.h, e.h_pos, include_self=True), reference.drawn(e.h, e.h_pos, e.h_neg)
        ),
    ),
    "mates, batch and shared": (
        Union([GroupMates(0.5), InBatch(views="other")]),
        (5,),
        lambda e: reference.together(
            reference.group_mates(e.h, e.h_pos, 3, e.h_neg, 0.5), reference.in_batch(e.h, e.h_pos, views="other")
        ),
    ),
}


def draw(generator, n=6, d=3, negatives=None):
    tensors = [torch.randn(*shape, d, generator=generator, dtype=torch.float64) for shape in [(n,), (n,)]]
    if negatives is not None:
        tensors.append(torch.randn(*negatives, d, generator=generator, dtype=torch.float64))
    return watched(PairEmbeddings(*tensors, group_size=3))


def agree(score, of_pair, candidates, comparisons, embeddings, blocks=BLOCKS, **options):
    """Ours in every block size against one run of the loops; `options` are InfoNCE's."""
    weighting = options.pop("weighting", Equal())
    hard = {} if isinstance(weighting, Equal) else {"beta": weighting.beta, "detach": weighting.detach}
    expected = reference.per_anchor(comparisons(embeddings), of_pair(score), **options, **hard)
    weights = torch.linspace(-1, 2, len(expected), dtype=torch.float64)
    wanted = gradients(expected.mean(), score, embeddings)
    wanted_uneven = gradients((weights * expected).sum(), score, embeddings)
    for block in blocks:
        output = InfoNCE(score, candidates, weighting, block=block, **options)(embeddings)
        torch.testing.assert_close(output.per_anchor, expected, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(output.total, expected.mean(), rtol=1e-10, atol=1e-10)
        assert_all_close(gradients(output.total, score, embeddings), wanted, rtol=1e-10, atol=1e-10)
    uneven = gradients((weights * output.per_anchor).sum(), score, embeddings)
    assert_all_close(uneven, wanted_uneven, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("score", SCORES)
def test_every_score_with_all_candidates(generator, score, candidates):
    make, of_pair = SCORES[score]
    chosen, negatives, comparisons = CANDIDATES[candidates]
    agree(make(3).double(), of_pair, chosen, comparisons, draw(generator, negatives=negatives))


@pytest.mark.parametrize(
    "candidates", ["in batch: both, both, False", "private", "mates, share 0.3", "batch and private"]
)
@pytest.mark.parametrize("weighting", [Equal(), HardNegatives(0.7), HardNegatives(0.7, detach=True)], ids=str)
@pytest.mark.parametrize("positive_in_denominator", [True, False])
@pytest.mark.parametrize(("positive_weight", "candidate_reduction"), [(1.0, "sum"), (0.4, "mean")])
def test_every_option(generator, candidates, weighting, positive_in_denominator, positive_weight, candidate_reduction):
    make, of_pair = SCORES["precision"]
    chosen, negatives, comparisons = CANDIDATES[candidates]
    agree(
        make(3).double(),
        of_pair,
        chosen,
        comparisons,
        draw(generator, negatives=negatives),
        blocks=(23,),
        weighting=weighting,
        positive_in_denominator=positive_in_denominator,
        positive_weight=positive_weight,
        candidate_reduction=candidate_reduction,
    )


@pytest.mark.parametrize("cutoff", [-3.0, 0.0, 2.0])
@pytest.mark.parametrize("positive_in_denominator", [True, False])
@pytest.mark.parametrize("candidates", ["in batch: second, other, False", "mates, share 0.3"])
def test_a_cutoff_is_one_more_candidate(generator, candidates, positive_in_denominator, cutoff):
    make, of_pair = SCORES["precision"]
    chosen, negatives, comparisons = CANDIDATES[candidates]
    options = {"positive_in_denominator": positive_in_denominator, "positive_weight": 1.7, "cutoff": cutoff}
    agree(make(3).double(), of_pair, chosen, comparisons, draw(generator, negatives=negatives), **options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_negatives_beyond_the_cutoff_do_not_repel(dtype):
    """Without it a decoupled loss pushes on for ever; with it both value and gradient stay finite at any distance."""
    h = (1e4 * torch.tensor([[0.0], [1.0], [3.0]], dtype=dtype)).requires_grad_()
    loss = InfoNCE(Lp(2.0), positive_in_denominator=False, cutoff=-60.0)
    output = loss(PairEmbeddings(h, h.detach().clone()))
    output.total.backward()
    assert float(output.total.detach()) == -60.0 and not h.grad.any()


@pytest.mark.parametrize("d", [10, 64, 512])
@pytest.mark.parametrize("score", SCORES)
def test_every_dimension(generator, score, d):
    make, of_pair = SCORES[score]
    for candidates in ("in batch: both, both, False", "private"):
        chosen, negatives, comparisons = CANDIDATES[candidates]
        embeddings = draw(generator, 3, d, negatives and (3, 5))
        agree(make(d).double(), of_pair, chosen, comparisons, embeddings, blocks=(23,))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(1, 9), st.integers(1, 7), st.integers(1, 5), st.integers(1, 40), st.booleans(), st.integers(0, 99))
def test_any_size_and_block(n, m, d, block, private, seed):
    generator = torch.Generator().manual_seed(seed)
    embeddings = draw(generator, n, d, (n, m) if private else (m,))
    agree(
        Dot(0.8),
        lambda s: reference.dot(0.8),
        Drawn(),
        lambda e: reference.drawn(e.h, e.h_pos, e.h_neg),
        embeddings,
        blocks=(block,),
    )


class TestInBatch(LossContract):
    def make(self):
        return InfoNCE(Dot(0.3, learnable=True))

    def reference(self, loss, embeddings):
        comparisons = reference.in_batch(embeddings.h, embeddings.h_pos)
        return reference.per_anchor(comparisons, reference.dot(tau_of(loss.score)))


class TestItself(LossContract):
    """With itself among the candidates one pair alone is a batch."""

    one_pair_is_refused = False

    def make(self):
        return InfoNCE(Lp(1.0, 0.5), InBatch(include_self=True, views="both"))

    def reference(self, loss, embeddings):
        comparisons = reference.in_batch(embeddings.h, embeddings.h_pos, "first", "both", include_self=True)
        return reference.per_anchor(comparisons, reference.lp(1.0, 0.5))


class TestBothViews(LossContract):
    def make(self):
        return InfoNCE(AnisotropicScore([0.5, 1.0, 2.0, 4.0]), InBatch("both", "both"), block=23)

    def reference(self, loss, embeddings):
        comparisons = reference.in_batch(embeddings.h, embeddings.h_pos, "both", "both")
        return reference.per_anchor(comparisons, reference.anisotropic(values_of(loss.score)))


class TestShared(LossContract):
    negatives = (5,)
    one_pair_is_refused = False

    def make(self):
        return InfoNCE(Lp(3.0, 0.5, learnable=True), weighting=HardNegatives(0.5))

    def reference(self, loss, embeddings):
        comparisons = reference.drawn(embeddings.h, embeddings.h_pos, embeddings.h_neg)
        return reference.per_anchor(comparisons, reference.lp(3.0, tau_of(loss.score)), beta=0.5)


class TestPrivate(TestShared):
    def make(self):
        return InfoNCE(Lp(2.0, 0.5), positive_in_denominator=False, candidate_reduction="mean", block=23)

    def embeddings(self, generator, n=None):
        self.negatives = (self.n if n is None else n, 5)
        return super().embeddings(generator, n)

    def reference(self, loss, embeddings):
        comparisons = reference.drawn(embeddings.h, embeddings.h_pos, embeddings.h_neg)
        return reference.per_anchor(comparisons, reference.lp(2.0, 0.5), False, candidate_reduction="mean")


class TestGroupMates(LossContract):
    negatives = (5,)
    order_matters = True

    def make(self):
        return InfoNCE(Lp(1.5, 0.5, learnable=True), GroupMates(0.4))

    def embeddings(self, generator, n=None):
        embeddings = super().embeddings(generator, n)
        return PairEmbeddings(embeddings.h, embeddings.h_pos, embeddings.h_neg, group_size=3)

    def reference(self, loss, embeddings):
        comparisons = reference.group_mates(embeddings.h, embeddings.h_pos, 3, embeddings.h_neg, 0.4)
        return reference.per_anchor(comparisons, reference.lp(1.5, tau_of(loss.score)))


# Numerics


def confident(generator, d, dtype):
    """Positives close by and everything else far away: the loss is many digits below the scores it is made of."""
    h = torch.randn(40, d, generator=generator, dtype=torch.float64)
    h_pos = h + 0.1 * torch.randn(40, d, generator=generator, dtype=torch.float64)
    return watched(cast(PairEmbeddings(h, h_pos), dtype))


CONFIDENT = {"dot": Dot(1.5), "p = 1": Lp(1.0, 2.0), "p = 2": Lp(2.0, 4.0), "p = 3": Lp(3.0, 9.0)}


@pytest.mark.parametrize("score", CONFIDENT)
def test_float32_where_the_positive_dominates(generator, score):
    loss = InfoNCE(CONFIDENT[score])
    short = confident(generator, 64, torch.float32)
    exact = watched(cast(short, torch.float64))
    expected, actual = loss(exact), loss(short)
    assert float(expected.total.detach()) < 1e-4
    assert abs(float(actual.total.detach()) / float(expected.total.detach()) - 1) < 1e-5
    for ours, wanted in zip(gradients(actual.total, loss, short), gradients(expected.total, loss, exact), strict=True):
        assert float((ours.double() - wanted).norm() / wanted.norm()) < 1e-5


@pytest.mark.parametrize("score", CONFIDENT)
def test_the_naive_formula_fails_there(generator, score):
    """The mutant of the test above: logsumexp(all) - pos loses what is left of the loss in float32."""
    e = confident(generator, 64, torch.float32)
    with torch.no_grad():
        expected = InfoNCE(CONFIDENT[score])(cast(e, torch.float64)).total
        grid = CONFIDENT[score].grid(e.h, e.h).fill_diagonal_(float("-inf"))
        pos = CONFIDENT[score](e.h, e.h_pos)
        naive = (torch.logsumexp(torch.cat([pos[:, None], grid], dim=1), dim=1) - pos).mean()
    assert abs(float(naive) / float(expected) - 1) > 1e-2


def test_a_masked_score_does_not_set_the_scale():
    """The anchor against itself scores 400, its candidates 0: masked after the maximum they would underflow."""
    h = 20 * torch.eye(3)
    output = InfoNCE(Dot(), positive_in_denominator=False)(PairEmbeddings(h, torch.zeros(3, 3)))
    torch.testing.assert_close(output.per_anchor, torch.full((3,), 2.0).log())


def test_large_losses_keep_all_digits(generator):
    """log(1 + e^x) is not x at 21 in float64."""
    pos, neg = torch.zeros(1, dtype=torch.float64), torch.full((1, 1), 21.0, dtype=torch.float64)
    expected = torch.log1p(torch.exp(neg[0]))
    torch.testing.assert_close(infonce(pos, neg), expected, rtol=1e-15, atol=0)
    one = torch.ones(1, 1, dtype=torch.float64)
    output = InfoNCE(Dot(), Drawn())(PairEmbeddings(one, 0 * one, 21 * one))
    torch.testing.assert_close(output.per_anchor, expected, rtol=1e-15, atol=0)


def test_one_embedding_as_anchor_positive_and_candidate(generator):
    h = torch.randn(6, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    for candidates, comparisons in [
        (InBatch("both", "both"), reference.in_batch(h, h, "both", "both")),
        (Drawn(), reference.drawn(h, h, h)),
    ]:
        ours = InfoNCE(Lp(3.0, 5.0), candidates)(PairEmbeddings(h, h, h)).total
        loop = reference.per_anchor(comparisons, reference.lp(3.0, 5.0)).mean()
        torch.testing.assert_close(*torch.autograd.grad(ours, h), *torch.autograd.grad(loop, h), rtol=1e-10, atol=1e-12)


def test_backward_within_autocast(generator):
    """Also the second pass, whose matrix products autocast would round to three digits."""
    e = watched(cast(draw(generator), torch.float32))
    loss, weights = InfoNCE(Dot(), InBatch("both")), torch.linspace(-1, 2, 12)
    wanted = gradients((weights * loss(e).per_anchor).sum(), loss, e)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert_all_close(gradients((weights * loss(e).per_anchor).sum(), loss, e), wanted, rtol=1e-5, atol=1e-6)


def test_second_derivatives_are_refused(generator):
    e = draw(generator)
    with pytest.raises(RuntimeError, match="can be differentiated once"):
        torch.autograd.grad(InfoNCE(Dot())(e).total, e.h, create_graph=True)
    score, off_diagonal = Dot(), ~torch.eye(6, dtype=torch.bool)
    neg = score.grid(e.h, e.h)[off_diagonal].view(6, 5)
    (slope,) = torch.autograd.grad(infonce(score(e.h, e.h_pos), neg).sum(), e.h, create_graph=True)
    slope.square().sum().backward()
    assert torch.isfinite(e.h.grad).all()


# Memory


@pytest.mark.parametrize("score", [Dot(0.1), Lp(1.0), Lp(2.0), AnisotropicScore(1.0, 10)], ids=repr)
def test_memory_stays_far_below_all_pairs(generator, score):
    n, d = 6144, 10
    h, h_pos = torch.nn.functional.normalize(torch.randn(2, n, d, generator=generator), dim=-1)
    loss = InfoNCE(score)

    def step():
        loss(watched(PairEmbeddings(h, h_pos))).total.backward()

    with largest_tensor() as largest:
        step()
    assert largest.elements <= 2**18
    assert peak_bytes(step) < 50e6


def test_the_memory_test_sees_a_grid(generator):
    """Its mutant: the same loss with all scores at once."""
    h = torch.randn(600, 10, generator=generator)
    with largest_tensor() as largest:
        Dot().grid(h, h)
    assert largest.elements >= 600 * 600
    assert peak_bytes(lambda: Dot().grid(h, h)) >= 4 * 600 * 600


# The bare function


def test_of_numbers_equals_the_loop(generator):
    pos = torch.randn(5, generator=generator, dtype=torch.float64)
    neg = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    expected = torch.tensor(reference.infonce_of_numbers(pos.tolist(), neg.tolist()), dtype=torch.float64)
    torch.testing.assert_close(infonce(pos, neg), expected, rtol=1e-12, atol=0)
    assert torch.autograd.gradcheck(infonce, (pos.requires_grad_(), neg.requires_grad_()))


def test_of_numbers_leaves_out_minus_infinity():
    pos, neg = torch.zeros(1), torch.tensor([[0.0, float("-inf")]])
    torch.testing.assert_close(infonce(pos, neg.requires_grad_()), torch.full((1,), 2.0).log())


def test_of_numbers_refuses_what_it_cannot_mean(unchecked_shapes):
    pos, neg = torch.zeros(2), torch.zeros(2, 3)
    for arguments, kind, message in [
        ((pos[:, None], neg), ValueError, r"must have the shapes \(n,\) and \(n, m\)"),
        ((pos, neg[:1]), ValueError, r"must have the shapes"),
        ((pos, neg[:, :0]), ValueError, "at least one negative"),
        ((pos, neg.double()), TypeError, "`neg` must have the dtype of `pos`"),
        ((pos, neg.fill_(float("-inf"))), ValueError, "at least one candidate to each anchor"),
        ((pos, torch.full((2, 3), float("nan"))), ValueError, "must not be NaN"),
        ((pos + float("inf"), neg), ValueError, "`pos` must be finite"),
    ]:
        with pytest.raises(kind, match=message):
            infonce(*arguments)


def test_refuses_arguments_of_another_kind(unchecked_shapes):
    for arguments, kind, message in [
        ((0.1,), TypeError, "`score` must be a `AbstractScore`"),
        ((Dot(), Dot()), TypeError, "`candidates` must be a `AbstractCandidates`"),
        ((Dot(), InBatch(), 1.0), TypeError, "`weighting` must be"),
    ]:
        with pytest.raises(kind, match=message):
            InfoNCE(*arguments)
    for options, message in [
        ({"positive_weight": 0.0}, "`positive_weight` must be positive"),
        ({"cutoff": float("nan")}, "`cutoff` must be"),
        ({"candidate_reduction": "average"}, "`candidate_reduction` cannot be"),
        ({"block": 0}, "`block` must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            InfoNCE(Dot(), **options)
