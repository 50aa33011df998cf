"""The supervised bound."""

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from .base import AbstractLoss, LossOutput, check_embeddings, wide
from .gather import Gather


class Regression(AbstractLoss):
    """Mean squared error of embeddings to the true latents: what the encoder reaches when it is shown the answer.

    Printed beside contrastive rows as their upper bound. Positives count like anchors if the batch carries their
    latents. The mean is taken over rows, coordinates and views.

    Args:
        gather: Average over the batches of all processes (torch.distributed), which matters where their lengths
            differ.
    """

    uses_latents = True

    def __init__(self, *, gather: bool = False) -> None:
        super().__init__()
        self.gather = _checks.kind("gather", gather, bool)

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        h = embeddings.h
        if embeddings.z is None:
            raise ValueError(
                "`z` must hold the latents of the anchors, got None; regression needs a source that knows them."
            )
        errors = {"anchors": _squared_error("h", h, "z", embeddings.z)}
        if embeddings.z_pos is not None:
            errors["positives"] = _squared_error("h_pos", embeddings.h_pos, "z_pos", embeddings.z_pos)
        per_anchor = torch.stack(list(errors.values())).mean(dim=0)
        scale = Gather(self.gather).mean_scale(h)
        parts = {name: scale * error.detach().sum() / len(errors) for name, error in errors.items()}
        return LossOutput(scale * per_anchor.sum(), per_anchor, parts)


def _squared_error(name: str, h: Tensor, latents_name: str, z: Tensor) -> Tensor:
    _checks.matrix(latents_name, z)
    _checks.same_shape(name, h, latents_name, z)
    # Under autocast embeddings are in half precision and latents are not.
    _checks.same_kind(latents_name, wide(z), name, wide(h))
    return (wide(h) - wide(z)).square().mean(dim=1)
