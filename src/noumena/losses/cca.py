"""Covariance contrast: the canonical correlations of positives, at linear cost."""

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from .base import AbstractLoss, LossOutput, check_embeddings, wide
from .gather import Gather


class CovarianceContrast(AbstractLoss):
    """-tr(C^-1 K): C the covariance of both views pooled, K the cross-covariance of anchors and positives.

    For pairs too noisy for InfoNCE: where a batch says little about which positive is whose, it still says how
    embeddings covary. Every pair is used, no two items are compared, time grows as n d^2, and there is no temperature
    to match. An anchor's share is -(h - m)^T C^-1 (h+ - m), m the mean of both views; their mean is the loss, which
    lies between -d and d.

    The optimum over all encoders spans the d slowest functions of the pair law (nonlinear CCA). On a sphere with
    uniform latents and vMF positives of any concentration these are the latents themselves, up to an invertible
    matrix, and up to a rotation if embeddings have one length (`SphereHead`). `docs/covariance_contrast.md` proves
    this, and says where it fails: boxes come back bent, slow factors may crowd out fast ones, and a factor that all
    pairs share takes every coordinate. The loss is the same for B h + b, B any invertible matrix: end the encoder in
    a `SphereHead`, or scale is free to drift.

    Drawn negatives are not looked at. At a fixed encoder the mean loss exceeds that of an infinite batch by about
    d(1 - r^2)(1 + (d + 1)r) / 2n for Gaussian embeddings whose positives correlate by r, so n should be many times d.

    Parts: `alignment`, half the mean squared distance |h - h+|^2 in the metric C^-1, and `rank`, minus tr(C^-1 C),
    which is -d without a ridge.

    Args:
        ridge: Adds ridge * tr(C) / d to the diagonal of C, so that fewer than d directions may vary. It pulls the
            loss towards 0, that of narrow directions most, and ends the invariance to B: spread is worth something,
            most so along slow functions. At 0, the default, embeddings that do not vary in every direction are
            refused.
        centre: Whether m is subtracted. Without it the constant function, which no noise can disturb, counts as the
            slowest: for encoders whose embeddings average to zero by construction, odd ones under a symmetric law.
        gather: Take m and C over all processes (torch.distributed), with the exact gradient. Rows are not exchanged.
    """

    def __init__(self, *, ridge: float = 0.0, centre: bool = True, gather: bool = False) -> None:
        super().__init__()
        self.ridge = _checks.at_least("ridge", ridge, 0.0)
        self.centre = _checks.kind("centre", centre, bool)
        self.gather = gather

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        gather = Gather(self.gather)
        scale = gather.mean_scale(embeddings.h)
        n = round(gather.world / scale)
        if n == 1:
            raise ValueError("`h` has one row, which has no covariance: give a larger batch.")
        dtype = wide(embeddings.h).dtype
        with torch.autocast(embeddings.h.device.type, enabled=False):
            # In float64: a covariance squares the condition number of the rows, and costs nothing beside an encoder.
            views = torch.stack([embeddings.h, embeddings.h_pos]).double()
            if self.centre:
                mean = gather.sum(views.sum(dim=(0, 1))) / (2 * n)
                views = views - mean
            else:
                mean = views.new_zeros(views.shape[2])
            rows = views.flatten(0, 1)
            covariance = gather.sum(rows.mT @ rows) / (2 * n)
            # With C = L L^T, rows times L^-T are white: their inner product is the metric C^-1.
            factor = self._factor(covariance, mean.detach(), n, embeddings.h.dtype)
            identity = torch.eye(len(factor), dtype=factor.dtype, device=factor.device)
            h, h_pos = views @ torch.linalg.solve_triangular(factor, identity, upper=False).mT
            per_anchor = -(h * h_pos).sum(dim=1)
            parts = {
                "alignment": (scale / 2) * (h - h_pos).detach().square().sum(),
                "rank": -(scale / 2) * (h.square() + h_pos.square()).detach().sum(),
            }
            total = scale * per_anchor.sum()
            return LossOutput(total.to(dtype), per_anchor.to(dtype), {k: v.to(dtype) for k, v in parts.items()})

    def _factor(self, covariance: Tensor, mean: Tensor, n: int, dtype: torch.dtype) -> Tensor:
        """The lower Cholesky factor of C and its ridge, whose squared pivots are what each coordinate adds."""
        variance = covariance.diagonal()
        factor, failed = torch.linalg.cholesky_ex(covariance + torch.diag(self.ridge * variance.mean().expand_as(mean)))
        pivots, variance = factor.detach().diagonal().square(), variance.detach()
        # What a coordinate that adds nothing may still seem to add: the rounding of C, of its own entries, and of m.
        eps = 16 * torch.finfo(torch.float64).eps
        own = max(eps, torch.finfo(dtype).eps) ** 2 / 12 * (variance + mean.square())
        dead = pivots <= len(mean) * eps * variance + own
        if failed:
            # Beyond the first pivot that is no positive number, nothing has been factored.
            dead[failed - 1 :] = True
        if dead.any():
            first = int(dead.nonzero()[0])
            raise ValueError(
                f"`h` and `h_pos` must vary in all of their {len(mean)} directions, got {n} pairs in which coordinate "
                f"{first} is constant or follows from those before it. Give more pairs, embeddings of fewer "
                "coordinates, or a `ridge`."
            )
        return factor
