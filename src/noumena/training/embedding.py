"""A batch as the loss may see it."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..batch import PairBatch, PairEmbeddings
from ..losses.base import AbstractLoss


def embed(encoder: nn.Module, batch: PairBatch, loss: AbstractLoss) -> PairEmbeddings:
    """Embeddings of a batch, with latents and observations only for a loss that says it uses them.

    Everything is encoded in one call, so that a layer with batch statistics sees one batch.
    """
    views = views_of(batch)
    return seen_by(loss, batch, encoder(torch.cat(views)).split([len(view) for view in views]))


def views_of(batch: PairBatch) -> list[Tensor]:
    """What there is to encode: anchors, positives, and drawn negatives, one after another, if there are any."""
    views = [batch.x, batch.x_pos]
    if batch.x_neg is not None:
        views.append(batch.x_neg.reshape(-1, *batch.x.shape[1:]))
    return views


def seen_by(loss: AbstractLoss, batch: PairBatch, embeddings: Sequence[Tensor]) -> PairEmbeddings:
    """The batch with the embeddings of its `views_of`."""
    h, h_pos, *rest = embeddings
    h_neg = None
    if batch.x_neg is not None:
        leading = batch.x_neg.shape[: batch.x_neg.ndim - batch.x.ndim + 1]
        h_neg = rest[0].reshape(*leading, -1)
    z, z_pos = (batch.z, batch.z_pos) if loss.uses_latents else (None, None)
    x, x_pos = (batch.x, batch.x_pos) if loss.uses_observations else (None, None)
    return PairEmbeddings(
        h, h_pos, h_neg, z=z, z_pos=z_pos, x=x, x_pos=x_pos, group_size=batch.group_size, processes=batch.processes
    )
