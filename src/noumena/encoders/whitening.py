"""Observations brought to mean 0 and covariance I."""

import torch
from torch import Tensor, nn

from .. import _checks

RANK = 1e-6  # variances below this share of the largest count as none: they are rounding, and would be blown up


class Whitening(nn.Module):
    """x -> C^(-1/2) (x - m), with mean m and covariance C of the first batch seen in training mode.

    A mixing stretches some directions tens of times more than others, and a network spends most of its training on
    undoing that; this undoes it at once. Nothing is learned afterwards: an encoder behind it is what it was, with
    another first layer. Directions without variance are dropped. Several processes each take their own first batch,
    unless buffers are broadcast, as DistributedDataParallel does.

    Args:
        dim: Coordinates.
        device: Of the buffers.
    """

    mean: Tensor
    matrix: Tensor
    fitted: Tensor

    def __init__(self, dim: int, device: torch.device | None = None) -> None:
        super().__init__()
        dim = _checks.count("dim", dim)
        self.register_buffer("mean", torch.zeros(dim, device=device))
        self.register_buffer("matrix", torch.eye(dim, device=device))
        self.register_buffer("fitted", torch.tensor(False, device=device))

    def forward(self, x: Tensor) -> Tensor:
        if self.training and not bool(self.fitted):
            self._fit(x.detach())
        return (x - self.mean) @ self.matrix

    @torch.no_grad()
    def _fit(self, x: Tensor) -> None:
        if len(x) <= x.shape[1]:
            raise ValueError(
                f"`x` must have more rows than its {x.shape[1]} columns in the first batch of a whitened encoder, got "
                f"{len(x)}; give a larger first batch."
            )
        wide = x.double()
        mean = wide.mean(dim=0)
        variance, directions = torch.linalg.eigh(torch.cov(wide.mT).reshape(len(mean), -1))
        kept = variance > RANK * variance[-1]
        scale = torch.where(kept, variance.clamp(min=torch.finfo(variance.dtype).tiny).rsqrt(), 0.0)
        self.mean.copy_(mean)
        self.matrix.copy_((directions * scale) @ directions.mT)
        self.fitted.fill_(True)
