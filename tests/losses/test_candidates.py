import math

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import Dot, Drawn, GroupMates, HardNegatives, InBatch, InfoNCE, Union
from noumena.losses.candidates import AbstractCandidates, Contrast, Segment
from noumena.losses.gather import Gather
from noumena.losses.streaming import Layout


@pytest.fixture
def embeddings(generator):
    h, h_pos, h_neg = torch.randn(3, 6, 4, generator=generator)
    return PairEmbeddings(h, h_pos, h_neg, group_size=3)


def candidates_of(choice, embeddings):
    return sum(
        s.candidates.shape[1] - (s.layout.excluded is not None)
        for s in choice.contrast(embeddings, Gather(False)).segments
    )


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        (InBatch(), 5),
        (InBatch(include_self=True), 6),
        (InBatch(views="other"), 5),
        (InBatch(views="both"), 10),
        (InBatch("both", "both", include_self=True), 11),
        (Drawn(), 6),
        (GroupMates(), 8),
        (GroupMates(1.0), 2),
        (GroupMates(0.0), 6),
        (Union([InBatch(), Drawn()]), 11),
    ],
    ids=str,
)
def test_how_many_stand_in_the_denominator(embeddings, choice, count):
    assert candidates_of(choice, embeddings) == count
    same = torch.ones(6, 4)
    alike = PairEmbeddings(same, same, same, group_size=3)
    # Equal scores throughout: the loss of features that tell nothing apart.
    output = InfoNCE(Dot(), choice)(alike)
    torch.testing.assert_close(output.per_anchor, torch.full_like(output.per_anchor, math.log(1 + count)))


def test_by_default_drawn_negatives_if_there_are_any(embeddings):
    loss = InfoNCE(Dot())
    without = PairEmbeddings(embeddings.h, embeddings.h_pos)
    assert torch.equal(loss(embeddings).total, InfoNCE(Dot(), Drawn())(embeddings).total)
    assert torch.equal(loss(without).total, InfoNCE(Dot(), InBatch())(embeddings).total)


def test_hard_negatives_of_a_share_keep_their_count(embeddings):
    """As beta goes to 0 the tilt vanishes, and the share must be what it was without it."""
    plain = InfoNCE(Dot(), GroupMates(0.2))(embeddings).total
    torch.testing.assert_close(InfoNCE(Dot(), GroupMates(0.2), HardNegatives(1e-6))(embeddings).total, plain)


def test_refuses_choices_that_cannot_be_meant(unchecked_shapes):
    for make, message in [
        (lambda: InBatch(views="other", include_self=True), "needs the own view"),
        (lambda: InBatch(cross_block="published"), 'needs anchors="both" and views="both"'),
        (lambda: InBatch(views="all"), "`views` cannot be 'all'"),
        (lambda: GroupMates(1.5), "`share` must lie between 0 and 1"),
        (lambda: Union([InBatch()]), "at least two"),
        (lambda: HardNegatives(0.0), "`beta` must be positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


def test_refuses_batches_that_lack_the_candidates(embeddings, unchecked_shapes):
    h, h_pos = embeddings.h, embeddings.h_pos
    for choice, batch, message in [
        (Drawn(), PairEmbeddings(h, h_pos), "`h_neg` must hold drawn negatives"),
        (GroupMates(), PairEmbeddings(h, h_pos), "`group_size` must be at least 2"),
        (GroupMates(), PairEmbeddings(h, h_pos, group_size=4), "divide the batch of 6, got 4"),
        (GroupMates(0.5), PairEmbeddings(h, h_pos, group_size=3), "for the share 0.5 of the marginal"),
        (GroupMates(), PairEmbeddings(h, h_pos, torch.ones(6, 2, 4), group_size=3), "must be shared draws"),
        (InBatch(views="other"), PairEmbeddings(h[:1], h_pos[:1]), "leaves no candidate"),
        (Union([InBatch(), InBatch("both")]), embeddings, "must have the same anchors"),
    ]:
        with pytest.raises(ValueError, match=message):
            InfoNCE(Dot(), choice)(batch)


def test_a_stranger_who_leaves_an_anchor_without_candidates_is_refused(embeddings):
    class Nobody(AbstractCandidates):
        def contrast(self, embeddings, gather):
            h = embeddings.h
            excluded = torch.zeros(len(h), dtype=torch.int64)
            return Contrast(h, embeddings.h_pos, [Segment(h, h[None, :1], Layout(excluded=excluded))])

    with pytest.raises(ValueError, match="must keep at least one candidate"):
        InfoNCE(Dot(), Nobody())(embeddings)
