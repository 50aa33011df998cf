"""Several losses at once."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from .. import _checks
from ..batch import PairEmbeddings
from .base import AbstractLoss, LossOutput


class Ensemble(AbstractLoss):
    """Weighted sum of losses, each on its own coordinates of the embedding, or on pairs of its own.

    One generating process leaves the coordinates of equal precision free to rotate among themselves. Processes that
    share the mixing and differ in their precisions remove that freedom: sum one loss for each, every one with its
    own score and fed the pairs of its own process (ensembles of AnInfoNCE).

    Give `forward` one `PairEmbeddings` that all losses share, or a sequence with one for each loss; a batch of several
    processes (`pairs.Processes`) is taken apart, block i for loss i. `per_anchor` is
    the weighted sum of the losses' where these have one length; else all of them one after another, each weighted
    so that the mean of the whole is `total`. A loss's parts carry its index, as in "0/alignment", and its weight.

    Args:
        losses: At least one.
        weights: A positive number for each loss; all 1 by default.
        coordinates: For each loss the indices of the coordinates that it sees, or None for all. Latents stay whole.
    """

    def __init__(
        self,
        losses: Sequence[AbstractLoss],
        weights: Sequence[float] | None = None,
        coordinates: Sequence[Sequence[int] | None] | None = None,
    ) -> None:
        super().__init__()
        losses = _checks.sequence("losses", losses)
        if len(losses) == 0:
            raise ValueError("`losses` must name at least one loss, got none.")
        for i, loss in enumerate(losses):
            _checks.kind(f"losses[{i}]", loss, AbstractLoss, "Pass losses such as `InfoNCE(Dot(tau=0.1))`.")
        self.losses = nn.ModuleList(losses)
        weights = [1.0] * len(losses) if weights is None else weights
        coordinates = [None] * len(losses) if coordinates is None else coordinates
        for name, given in {"weights": weights, "coordinates": coordinates}.items():
            if len(_checks.sequence(name, given)) != len(losses):
                raise ValueError(f"`{name}` must have one entry for each of {len(losses)} losses, got {len(given)}.")
        self.weights = [_checks.positive(f"weights[{i}]", weight) for i, weight in enumerate(weights)]
        self.coordinates = [None if chosen is None else _indices(i, chosen) for i, chosen in enumerate(coordinates)]
        self.uses_latents = any(loss.uses_latents for loss in losses)
        self.uses_observations = any(loss.uses_observations for loss in losses)
        self.gather = all(loss.gather for loss in losses)

    def forward(self, embeddings: PairEmbeddings | Sequence[PairEmbeddings]) -> LossOutput:
        _checks.kind("embeddings", embeddings, (PairEmbeddings, Sequence))
        batches = self._shares(embeddings) if isinstance(embeddings, PairEmbeddings) else list(embeddings)
        if len(batches) != len(self.losses):
            raise ValueError(
                f"`embeddings` must be one PairEmbeddings, or one for each of {len(self.losses)} losses; "
                f"got {len(batches)}."
            )
        outputs = [
            loss(batch if chosen is None else _select(batch, chosen))
            for loss, batch, chosen in zip(self.losses, batches, self.coordinates, strict=True)
        ]
        weighted = list(zip(self.weights, outputs, strict=True))
        return LossOutput(
            torch.stack([weight * output.total for weight, output in weighted]).sum(),
            _per_anchor([weight * output.per_anchor for weight, output in weighted]),
            {f"{i}/{name}": w * part for i, (w, output) in enumerate(weighted) for name, part in output.parts.items()},
        )

    def _shares(self, embeddings: PairEmbeddings) -> list[PairEmbeddings]:
        """What each loss sees of one batch: its own block, or all of it."""
        count = embeddings.processes
        return [embeddings] * len(self.losses) if count is None else _blocks(embeddings, count)


def _indices(i: int, chosen: Sequence[int]) -> list[int]:
    chosen = _checks.sequence(f"coordinates[{i}]", chosen)
    indices = [_checks.count(f"coordinates[{i}]", index, low=0) for index in chosen]
    if not indices or len(set(indices)) != len(indices):
        raise ValueError(f"`coordinates[{i}]` must name different coordinates, at least one; got {indices}.")
    return indices


def _blocks(embeddings: PairEmbeddings, count: int) -> list[PairEmbeddings]:
    if len(embeddings.h) % _checks.count("processes", count):
        raise ValueError(f"`processes` must divide the {len(embeddings.h)} rows of `h`, got {count}.")
    h_neg, z, z_pos = embeddings.h_neg, embeddings.z, embeddings.z_pos
    size = len(embeddings.h) // count
    blocks = [slice(start, start + size) for start in range(0, len(embeddings.h), size)]
    return [
        replace(
            embeddings,
            h=embeddings.h[rows],
            h_pos=embeddings.h_pos[rows],
            # Private negatives belong to their anchors, shared ones to everybody.
            h_neg=h_neg[rows] if h_neg is not None and h_neg.ndim == 3 else h_neg,
            z=None if z is None else z[rows],
            z_pos=None if z_pos is None else z_pos[rows],
            processes=None,
        )
        for rows in blocks
    ]


def _select(embeddings: PairEmbeddings, chosen: list[int]) -> PairEmbeddings:
    h_neg = embeddings.h_neg
    dim = embeddings.h.shape[-1]
    if max(chosen) >= dim:
        raise ValueError(f"`coordinates` must lie below {dim}, the coordinates of `h`; got {max(chosen)}.")
    return replace(
        embeddings,
        h=embeddings.h[:, chosen],
        h_pos=embeddings.h_pos[:, chosen],
        h_neg=None if h_neg is None else h_neg[..., chosen],
    )


def _per_anchor(shares: list[Tensor]) -> Tensor:
    if len({len(share) for share in shares}) == 1:
        return torch.stack(shares).sum(dim=0)
    anchors = sum(len(share) for share in shares)
    return torch.cat([share * (anchors / len(share)) for share in shares])
