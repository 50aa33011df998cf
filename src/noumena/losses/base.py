"""What every loss takes and gives."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks
from ..batch import PairEmbeddings


class LossOutput(NamedTuple):
    """A loss and what it is made of.

    Attributes:
        total: The scalar to minimise. With `gather`, the mean of `total` over the processes is the loss of the
            whole batch, and the mean of their gradients (what DDP and Fabric take) is its gradient.
        per_anchor: Each local anchor's share, (n,), or (2n,) where both views are anchors; their mean is `total`
            (over all processes, with `gather`).
        parts: Named, detached summands of `total`, for logs.
    """

    total: Float[Tensor, ""]
    per_anchor: Float[Tensor, " a"]
    parts: dict[str, Tensor]


class AbstractLoss(nn.Module, ABC):
    """PairEmbeddings -> LossOutput. Learned values (temperature, precision) are its parameters.

    Attributes:
        uses_latents: Whether the loss needs `z` in its embeddings: true for supervised losses alone.
        uses_observations: Whether the loss needs `x` and `x_pos`: true for losses that rebuild them.
        gather: Whether `total` is of the batches of all processes, as `LossOutput` says; several processes train with
            such losses alone.
    """

    uses_latents: bool = False
    uses_observations: bool = False
    gather: bool = False

    @abstractmethod
    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        """Begins with `check_embeddings`."""


def check_embeddings(embeddings: PairEmbeddings) -> None:
    """Refuse, with a reason, what no loss can mean: empty or unpaired batches, NaN, mixed dtypes or devices."""
    _checks.kind(
        "embeddings", embeddings, PairEmbeddings, "Write PairEmbeddings(h=..., h_pos=...), from noumena.batch."
    )
    h, h_pos, h_neg = embeddings.h, embeddings.h_pos, embeddings.h_neg
    _checks.matrix("h", h)
    _checks.floating("h_pos", h_pos)
    _checks.same_shape("h_pos", h_pos, "h", h)
    _checks.same_kind("h_pos", h_pos, "h", h)
    _checks.finite("h_pos", h_pos)
    if h_neg is not None:
        _checks.floating("h_neg", h_neg)
        n, d = h.shape
        private = h_neg.ndim == 3 and h_neg.shape[0] == n
        if h_neg.ndim not in (2, 3) or h_neg.shape[-1] != d or (h_neg.ndim == 3 and not private):
            raise ValueError(f"`h_neg` must have the shape (m, {d}) or ({n}, m, {d}); got {tuple(h_neg.shape)}.")
        if h_neg.shape[-2] == 0:
            raise ValueError("`h_neg` must hold at least one negative; pass None to contrast within the batch.")
        _checks.same_kind("h_neg", h_neg, "h", h)
        _checks.finite("h_neg", h_neg)


def wide(h: Tensor) -> Tensor:
    """Half precision in float32: it keeps three digits, too few for a sum over thousands."""
    return h.float() if h.dtype in (torch.float16, torch.bfloat16) else h
