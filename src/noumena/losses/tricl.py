"""TriCL, the contrastive loss with a learned importance of features."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from .base import AbstractLoss, LossOutput, check_embeddings, wide
from .candidates import InBatch
from .gather import Gather
from .infonce import InfoNCE
from .scores import AbstractScore, Dot, WeightedDot
from .spectral import Spectral
from .streaming import BLOCK


class TriCL(AbstractLoss):
    """Contrast under the similarity h^T S h', S = diag(importance), with decorrelated features (Zhang et al., 2023).

    Where InfoNCE leaves a rotation free, the importance orders the features. A baseline that AnInfoNCE is compared
    with: its weights stand in an inner product instead of a squared distance. The loss is a contrast,

        spectral:  -2 mean h^T S h+  +  mean (h^T S h-)^2    (`Spectral`),
        infonce:   InfoNCE of h^T S h' / tau, both views of all items being anchors and candidates,

    plus `decorrelation` times |mean h h^T - I|^2, the sum of squared entries, with the mean over both views. The
    spectral form takes drawn negatives if the batch carries any; the InfoNCE form contrasts within the batch. Inputs
    are never normalised, which the published code does first.

    Args:
        dim: Number of coordinates.
        form: "spectral" or "infonce".
        tau: Temperature, for form="infonce" alone.
        importance: (Initial) importance, a number or one for each coordinate; by default the softplus of 0.
        learnable: Whether the importance is trained, as the softplus of a free parameter.
        decorrelation: Weight of the decorrelation term; 0 leaves it out.
        convention: "paper", or "published" as in the public code: the positive counts once in the spectral form;
            in the InfoNCE form the importance weighs the scores of the first view's anchors alone; the decorrelation
            term is the mean of the squared entries.
        gather: Contrast and decorrelate over all processes (torch.distributed), with the exact gradient.
        block: How many scores are held at once, for form="infonce".
    """

    def __init__(
        self,
        dim: int,
        form: Literal["spectral", "infonce"] = "spectral",
        *,
        tau: float = 1.0,
        importance: float | Sequence[float] | Tensor = math.log(2),
        learnable: bool = True,
        decorrelation: float = 1.0,
        convention: Literal["paper", "published"] = "paper",
        gather: bool = False,
        block: int = BLOCK,
    ) -> None:
        super().__init__()
        self.form = _checks.choice("form", form, ("spectral", "infonce"))
        published = _checks.choice("convention", convention, ("paper", "published")) == "published"
        if form == "spectral" and tau != 1:
            raise ValueError(f'`tau` must be 1 for form="spectral", which has no temperature; got {tau!r}.')
        self.decorrelation = _checks.at_least("decorrelation", decorrelation, 0.0)
        self.mean_entry = published
        self.gather = _checks.kind("gather", gather, bool)
        score = WeightedDot(importance, dim, tau=tau, learnable=learnable)
        if form == "spectral":
            self.contrast = Spectral(score, positive_weight=1.0 if published else 2.0, gather=gather)
        elif published:
            self.contrast = _FirstViewWeighted(score, gather, block)
        else:
            self.contrast = InfoNCE(score, InBatch(anchors="both", views="both"), gather=gather, block=block)

    @property
    def importance(self) -> Float[Tensor, " d"]:
        """The diagonal of S; carries a gradient when it is trained."""
        return self.contrast.score.importance  # pyright: ignore[reportAttributeAccessIssue, reportReturnType]

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        contrast = self.contrast(embeddings)
        term = self.decorrelation * self._decorrelation(embeddings)
        parts = contrast.parts | {"decorrelation": term.detach()}
        # The term belongs to no anchor in particular: each carries it whole, so that their mean is the total.
        return LossOutput(contrast.total + term, contrast.per_anchor + term, parts)

    def _decorrelation(self, embeddings: PairEmbeddings) -> Tensor:
        """Of all processes together: each has the same value, so their mean is that of the whole batch."""
        with torch.autocast(embeddings.h.device.type, enabled=False):
            rows = wide(Gather(self.gather)(torch.cat([embeddings.h, embeddings.h_pos])))
            moments = rows.mT @ rows / len(rows)
            squares = (moments - torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device)).square()
            return squares.mean() if self.mean_entry else squares.sum()


class _FirstViewWeighted(AbstractLoss):
    """The public code's InfoNCE form: both views are anchors, and only those of the first are weighted."""

    def __init__(self, score: WeightedDot, gather: bool, block: int) -> None:
        super().__init__()
        candidates = InBatch(anchors="first", views="both")
        self.first = InfoNCE(score, candidates, gather=gather, block=block)
        self.second = InfoNCE(Dot(score.tau), candidates, gather=gather, block=block)

    @property
    def score(self) -> AbstractScore:
        return self.first.score

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        outputs = [
            self.first(embeddings),
            self.second(replace(embeddings, h=embeddings.h_pos, h_pos=embeddings.h)),
        ]
        return LossOutput(
            torch.stack([output.total for output in outputs]).mean(),
            torch.cat([output.per_anchor for output in outputs]),
            {name: (outputs[0].parts[name] + outputs[1].parts[name]) / 2 for name in outputs[0].parts},
        )
