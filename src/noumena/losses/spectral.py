"""The spectral contrast: squared similarities of negatives, at linear cost."""

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from .base import AbstractLoss, LossOutput, check_embeddings, wide
from .gather import Gather
from .kernels import DotKernel
from .scores import AbstractScore


class Spectral(AbstractLoss):
    """-w mean s(h, h+) + mean s(h, h-)^2 for an inner-product score s, averaged over anchors.

    A square of inner products is a quadratic form in the second moments of the candidates, so no pair of rows is
    ever formed: time and memory grow as n d^2. Negatives are the drawn ones if the batch carries any, else the
    anchor's view of the other items, itself left out.

    Args:
        score: `Dot`, or `WeightedDot` as in TriCL.
        positive_weight: w; 2 makes the loss a low-rank factorisation of the density ratio of positives, plus a
            constant.
        gather: Contrast with the embeddings of all processes (torch.distributed), with the exact gradient.
    """

    def __init__(self, score: AbstractScore, *, positive_weight: float = 2.0, gather: bool = False) -> None:
        super().__init__()
        self.score = _checks.kind("score", score, AbstractScore, "Pass a score such as `Dot()`.")
        if not isinstance(score.kernel, DotKernel):
            raise ValueError(f"`score` must be an inner product, `Dot` or `WeightedDot`; got `{type(score).__name__}`.")
        self.positive_weight = _checks.positive("positive_weight", positive_weight)
        self.gather = _checks.kind("gather", gather, bool)

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        gather = Gather(self.gather)
        scale = gather.mean_scale(embeddings.h)
        with torch.autocast(embeddings.h.device.type, enabled=False):
            h = wide(embeddings.h)
            pos = -self.positive_weight * self.score(h, wide(embeddings.h_pos))
            neg = self._negatives(h, embeddings, gather)
            per_anchor = pos + neg
            parts = {"alignment": scale * pos.detach().sum(), "uniformity": scale * neg.detach().sum()}
            return LossOutput(scale * per_anchor.sum(), per_anchor, parts)

    def _negatives(self, h: Tensor, embeddings: PairEmbeddings, gather: Gather) -> Tensor:
        """Each anchor's mean squared score with its negatives."""
        anchors, h_neg = self.score.fold(h), embeddings.h_neg
        if h_neg is not None and h_neg.ndim == 3:
            scores = self.score.fold_candidates(wide(h_neg)) @ anchors[:, :, None]
            return scores.square().mean(dim=(1, 2))
        if h_neg is not None:
            drawn = self.score.fold_candidates(wide(gather(h_neg, "drawn")))
            return _sum_of_squares(anchors, drawn) / len(drawn)
        everyone = self.score.fold_candidates(wide(gather(embeddings.h)))
        if len(everyone) == 1:
            raise ValueError(
                "`h` has one row, which leaves no negative: give a larger batch or drawn negatives (`h_neg`)."
            )
        own = self.score(h, h).square()
        return (_sum_of_squares(anchors, everyone) - own) / (len(everyone) - 1)


def _sum_of_squares(anchors: Tensor, candidates: Tensor) -> Tensor:
    """sum_j (a_i . c_j)^2 = a_i^T (sum_j c_j c_j^T) a_i."""
    return (anchors @ (candidates.mT @ candidates) * anchors).sum(dim=1)
