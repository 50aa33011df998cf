"""InfoNCE as score x candidates x weighting."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from .base import AbstractLoss, LossOutput, check_embeddings, wide
from .candidates import AbstractCandidates, Available
from .gather import Gather
from .scores import AbstractScore
from .setting import Setting
from .streaming import BLOCK, EXACT, Plan, stream
from .weighting import Equal, Weighting


class InfoNCE(AbstractLoss):
    """-log of the share that the positive has among the candidates, averaged over anchors.

    For the score s, the positive x+ and candidates x_1 .. x_M of the anchor x,

        -w s(x, x+) + log(e^{s(x, x+)} + sum_j e^{s(x, x_j)}).

    "InfoNCE" has meant many losses; each choice is an argument here, and `docs/losses.md` lists which arguments give
    which of them. Memory is bounded by `block`, time grows as the number of pairs. The gradient
    cannot be differentiated again.

    Args:
        score: How alike two embeddings are; its parameters (temperature, precision) are trained with the loss.
        candidates: Who stands in the denominator. By default the drawn negatives if the batch carries any, and the
            batch's other anchors if not.
        weighting: How much each candidate counts.
        positive_in_denominator: Whether the positive stands in the denominator. False is the decoupled loss, the
            limit that the theory of alignment and uniformity speaks of.
        positive_weight: w, 1 in the papers. Any other value is another objective. A schedule can move it.
        cutoff: A constant score c that stands in the denominator as one more candidate: negatives whose score is
            well below c no longer repel. It bounds a decoupled loss from below, and lets go of embeddings that are
            far from all others, as those in the corners of a box are. None in the papers.
        candidate_reduction: "sum", or "mean", which divides the candidates' sum by their number M. That subtracts
            log M when the positive is left out of the denominator; with it in, the candidates together weigh as
            much as one, which is another objective.
        gather: Contrast with the embeddings of all processes (torch.distributed), with the exact gradient.
        block: How many scores are held at once.
    """

    def __init__(
        self,
        score: AbstractScore,
        candidates: AbstractCandidates | None = None,
        weighting: Weighting | None = None,
        *,
        positive_in_denominator: bool = True,
        positive_weight: float = 1.0,
        cutoff: float | None = None,
        candidate_reduction: Literal["sum", "mean"] = "sum",
        gather: bool = False,
        block: int = BLOCK,
    ) -> None:
        super().__init__()
        self.score = _checks.kind("score", score, AbstractScore, "Pass a score such as `Dot(tau=0.1)`.")
        self.candidates = Available() if candidates is None else candidates
        _checks.kind("candidates", self.candidates, AbstractCandidates, "Pass candidates such as `InBatch()`.")
        self.weighting: Weighting = Equal() if weighting is None else weighting
        _checks.kind("weighting", self.weighting, Weighting.__args__, "Pass a weighting such as `HardNegatives(1.0)`.")
        self.positive_in_denominator = _checks.kind("positive_in_denominator", positive_in_denominator, bool)
        self.positive_weight = Setting("positive_weight", positive_weight)
        self.cutoff = None if cutoff is None else _checks.number("cutoff", cutoff)
        self.candidate_reduction = _checks.choice("candidate_reduction", candidate_reduction, ("sum", "mean"))
        self.gather = _checks.kind("gather", gather, bool)
        self.block = _checks.count("block", block)

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        gather = Gather(self.gather)
        contrast = self.candidates.contrast(embeddings, gather)
        with torch.autocast(embeddings.h.device.type, enabled=False):
            score = self.score
            pos = score.kernel.pairs(
                score.fold(wide(contrast.anchors)), score.fold_candidates(wide(contrast.positives))
            )
            segments = [
                (score.fold(wide(segment.anchors)), score.fold_candidates(wide(segment.candidates)))
                for segment in contrast.segments
            ]
            layouts = tuple(segment.layout for segment in contrast.segments)
            tensors = [pos, *(tensor for segment in segments for tensor in segment)]
            plan = Plan(
                kernel=score.kernel,
                layouts=layouts,
                weighting=self.weighting,
                positive_in_denominator=self.positive_in_denominator,
                cutoff=self.cutoff,
                mean_of_candidates=self.candidate_reduction == "mean",
                block=self.block,
                want_gradients=torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors),
            )
            # With both views as anchors there are two for each row of `h`.
            scale = gather.mean_scale(embeddings.h) * len(embeddings.h) / len(pos)
            total, per_anchor = stream(plan, scale, pos, segments)
            weight = self.positive_weight.value
            if weight != 1:
                extra = (1 - weight) * pos
                total, per_anchor = total + scale * extra.sum(), per_anchor + extra
        alignment = -weight * scale * pos.detach().sum()
        return LossOutput(total, per_anchor, {"alignment": alignment, "uniformity": total.detach() - alignment})


def infonce(pos: Float[Tensor, " n"], neg: Float[Tensor, "n m"]) -> Float[Tensor, " n"]:
    """InfoNCE of scores that are already there: log(1 + sum_j e^{neg_j - pos}), with the positive in the denominator.

    Args:
        pos: Score of each anchor with its positive.
        neg: Scores with its negatives; an entry of -inf does not count. Does not contain the positive.
    """
    _checks.floating("pos", pos)
    _checks.floating("neg", neg)
    if pos.ndim != 1 or neg.ndim != 2 or len(pos) != len(neg):
        raise ValueError(
            f"`pos` and `neg` must have the shapes (n,) and (n, m); got {tuple(pos.shape)} and {tuple(neg.shape)}."
        )
    if neg.numel() == 0:
        raise ValueError(f"`neg` must hold at least one negative for each anchor; got the shape {tuple(neg.shape)}.")
    _checks.same_kind("neg", neg, "pos", pos)
    _checks.finite("pos", pos)
    if bool((torch.isnan(neg) | (neg == float("inf"))).any()):
        raise ValueError("`neg` must not be NaN or +inf; -inf leaves a candidate out.")
    if bool((neg == float("-inf")).all(dim=1).any()):
        raise ValueError("`neg` must leave at least one candidate to each anchor; some row is -inf throughout.")
    return torch.nn.functional.softplus(torch.logsumexp(neg - pos[:, None], dim=1), threshold=EXACT)
