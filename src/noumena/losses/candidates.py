"""Which embeddings stand in an anchor's denominator besides its positive."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from .gather import Gather
from .streaming import Layout


@dataclass(frozen=True, eq=False)
class Segment:
    """One set of candidates of one or several anchors.

    Attributes:
        anchors: (a, d). Groups of a / g consecutive anchors share a row of candidates.
        candidates: (g, m, d).
        layout: Groups, what is left out, and how much each candidate counts.
    """

    anchors: Float[Tensor, "a d"]
    candidates: Float[Tensor, "g m d"]
    layout: Layout


@dataclass(frozen=True, eq=False)
class Contrast:
    """Everything a denominator is made of: anchors, their positives, and one or more segments of candidates."""

    anchors: Float[Tensor, "a d"]
    positives: Float[Tensor, "a d"]
    segments: Sequence[Segment]


class AbstractCandidates(ABC):
    """Embeddings -> Contrast. Subclasses are frozen dataclasses of options."""

    @abstractmethod
    def contrast(self, embeddings: PairEmbeddings, gather: Gather) -> Contrast:
        """Who is compared with whom; `gather` brings in the rows of the other processes."""


@dataclass(frozen=True)
class InBatch(AbstractCandidates):
    """The other items of the batch. Needs no drawn negatives; biased by O(1/n) only if the anchor counts itself.

    Args:
        anchors: "first": the anchors h alone. "second": the positives in their place, each with its partner as
            positive; what is "own" and "other" below is then seen from there. With a marginal that is not uniform
            only `InBatch("second", "other")` has candidates that are drawn as the theory asks. "both": all of
            them, and the loss is the mean over 2n.
        views: Where the other items are seen: in the anchor's "own" view, in the "other" view (the partner of an
            item is then never a candidate of its own anchor), or in "both".
        include_self: Count the anchor among the candidates of its own view, as the code of Zimmermann et al. does;
            costs O(1/n) in the loss.
        cross_block: "exact", or "published": the second view's anchors reuse the first view's cross scores
            untransposed, as in the code of AnInfoNCE. It matters only for anchors="both" and views="both".
    """

    anchors: Literal["first", "second", "both"] = "first"
    views: Literal["own", "other", "both"] = "own"
    include_self: bool = False
    cross_block: Literal["exact", "published"] = "exact"

    def __post_init__(self) -> None:
        _checks.choice("anchors", self.anchors, ("first", "second", "both"))
        _checks.choice("views", self.views, ("own", "other", "both"))
        _checks.choice("cross_block", self.cross_block, ("exact", "published"))
        _checks.kind("include_self", self.include_self, bool)
        if self.include_self and self.views == "other":
            raise ValueError('`include_self` needs the own view among the candidates; choose views="own" or "both".')
        if self.cross_block == "published" and not self.anchors == self.views == "both":
            raise ValueError('`cross_block="published"` needs anchors="both" and views="both".')

    def contrast(self, embeddings: PairEmbeddings, gather: Gather) -> Contrast:
        h, h_pos = embeddings.h, embeddings.h_pos
        if self.anchors == "second":
            h, h_pos = h_pos, h
        both = self.anchors == "both"
        anchors, positives = (torch.cat([h, h_pos]), torch.cat([h_pos, h])) if both else (h, h_pos)
        index = gather.offset(h) + torch.arange(len(h), device=h.device)
        index = index.repeat(2) if both else index
        # Only the views in use are brought in from the other processes.
        everyone = gather(h) if both or self.views != "other" else h
        everyone_pos = gather(h_pos) if both or self.views != "own" else h_pos
        others = (len(everyone_pos) if self.views == "other" else len(everyone)) - 1
        if not others and not self.include_self:
            raise ValueError(
                "`h` has one row, which leaves no candidate: give a larger batch, drawn negatives (`h_neg`), "
                "or `InBatch(include_self=True)`."
            )
        segments = []
        if self.views != "other":
            own = torch.stack([everyone, everyone_pos]) if both else everyone[None]
            segments.append(Segment(anchors, own, Layout(len(own), None if self.include_self else index)))
        if self.views != "own" and others:
            if self.cross_block == "published":
                crossing, other = torch.cat([h, h]), torch.stack([everyone_pos, everyone_pos])
            else:
                crossing, other = anchors, torch.stack([everyone_pos, everyone]) if both else everyone_pos[None]
            segments.append(Segment(crossing, other, Layout(len(other), index)))
        return Contrast(anchors, positives, segments)


@dataclass(frozen=True)
class Drawn(AbstractCandidates):
    """The drawn negatives `h_neg`: (m, d) shared by all anchors, or (n, m, d) private to each.

    With private draws from the anchor's own support this is the adapted loss of "The Loss Is Not Enough"; with
    shared draws from the marginal, its plain one. Shared draws of all processes are gathered, private ones stay.
    """

    def contrast(self, embeddings: PairEmbeddings, gather: Gather) -> Contrast:
        h_neg = _drawn(embeddings)
        if h_neg.ndim == 2:
            segment = Segment(embeddings.h, gather(h_neg, "drawn")[None], Layout())
        else:
            segment = Segment(embeddings.h, h_neg, Layout(len(h_neg)))
        return Contrast(embeddings.h, embeddings.h_pos, [segment])


@dataclass(frozen=True)
class GroupMates(AbstractCandidates):
    """The other members of the anchor's group, which share its fixed part (`GroupedSupport`), and drawn negatives.

    Group mates are exact draws from the anchor's own support and cost no encoding of their own. The share of the
    marginal must come from drawn negatives (`h_neg`): the members of one other group share their fixed part and are
    not independent of one another.

    Args:
        share: c, the share of the support in the denominator. Every candidate then counts so that the mates make up
            c and the drawn negatives 1 - c of their number; at c = 1 the mates stand alone, at c = 0 the drawn ones.
            None lets each candidate count once.
    """

    share: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None:
            _checks.within("share", self.share, 0.0, 1.0)

    def contrast(self, embeddings: PairEmbeddings, gather: Gather) -> Contrast:
        h, size = embeddings.h, embeddings.group_size
        if size is None or _checks.count("group_size", size) < 2 or len(h) % size:
            raise ValueError(
                f"`group_size` must be at least 2 and divide the batch of {len(h)}, got {size}; "
                "draw the batch from `GroupedSupport`."
            )
        groups = h.view(len(h) // size, size, -1)
        index = torch.arange(size, device=h.device).repeat(len(groups))
        mates = 0 if self.share == 0 else size - 1
        h_neg = None if self.share == 1 else embeddings.h_neg
        drawn = None if h_neg is None else gather(_shared(h_neg), "drawn")
        if self.share is not None and self.share < 1 and drawn is None:
            raise ValueError(
                f"`h_neg` must hold drawn negatives for the share {1 - self.share:g} of the marginal, got None."
            )
        total = mates + (0 if drawn is None else len(drawn))
        segments = []
        if mates:
            segments.append(Segment(h, groups, Layout(len(groups), index, self._log_weight(self.share, total, mates))))
        if drawn is not None:
            rest = None if self.share is None else 1 - self.share
            segments.append(Segment(h, drawn[None], Layout(log_weight=self._log_weight(rest, total, len(drawn)))))
        return Contrast(h, embeddings.h_pos, segments)

    @staticmethod
    def _log_weight(share: float | None, total: int, count: int) -> float:
        return 0.0 if share is None else math.log(share * total / count)


@dataclass(frozen=True)
class Union(AbstractCandidates):
    """The candidates of several choices together, e.g. the batch and three hard negatives of the anchor's own.

    Args:
        choices: At least two, with the same anchors.
    """

    choices: Sequence[AbstractCandidates]

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", _checks.sequence("choices", self.choices))
        if len(self.choices) < 2:
            raise ValueError(f"`choices` must name at least two sets of candidates, got {len(self.choices)}.")
        for choice in self.choices:
            _checks.kind("choices", choice, AbstractCandidates, "Pass candidates such as `InBatch()`.")

    def contrast(self, embeddings: PairEmbeddings, gather: Gather) -> Contrast:
        contrasts = [choice.contrast(embeddings, gather) for choice in self.choices]
        first = contrasts[0]
        if any(not torch.equal(contrast.anchors, first.anchors) for contrast in contrasts):
            raise ValueError(
                '`choices` must have the same anchors; InBatch(anchors="both") or "second" goes with its own kind only.'
            )
        return Contrast(first.anchors, first.positives, [s for contrast in contrasts for s in contrast.segments])


@dataclass(frozen=True)
class Available(AbstractCandidates):
    """The drawn negatives if the batch carries any, else the other anchors: the default of `InfoNCE`."""

    def contrast(self, embeddings: PairEmbeddings, gather: Gather) -> Contrast:
        return (InBatch() if embeddings.h_neg is None else Drawn()).contrast(embeddings, gather)


def _drawn(embeddings: PairEmbeddings) -> Tensor:
    if embeddings.h_neg is None:
        raise ValueError("`h_neg` must hold drawn negatives for `Drawn`, got None; or contrast with `InBatch`.")
    return embeddings.h_neg


def _shared(h_neg: Tensor) -> Tensor:
    if h_neg.ndim != 2:
        raise ValueError(f"`h_neg` must be shared draws (m, d) beside group mates; got {tuple(h_neg.shape)}.")
    return h_neg
