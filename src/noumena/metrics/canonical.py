"""Recovery up to linear maps, in either number of dimensions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from ._columns import correlations, whitening
from ._resampling import interval, permutation_mean
from ._rows import halves, require_variation, standardised_rows
from .base import AbstractFittedMetric, MetricResult


@dataclass(frozen=True, kw_only=True)
class CCAMCC(AbstractFittedMetric):
    """Mean canonical correlation: MCC after the best linear alignment of both sides.

    The score to compare embeddings of any width with the truth up to linear maps on *both* sides; also called weak
    MCC. Linear canonical correlation analysis pairs directions of z with directions of h. Held out, the directions
    come from one half and the signed correlations of the pairs from the other, so h without information scores 0 on
    average; in sample it is at least 0, and `chance` is the mean of ten random orders of the rows of h.

    The value is the mean over the directions in which z varies (d of them, unless its coordinates are linearly
    dependent). If h has fewer, those left over count 0: three perfect columns for ten latents score 0.3. If it
    has more, the surplus is not used. A constant true coordinate is refused.

    It weighs every direction of z alike, where `LinearR2` weighs coordinates: a direction that hardly varies counts
    as much as the widest. `per_coordinate` holds the canonical correlations in fitted order, largest first; they
    belong to directions, not to coordinates.

    Args:
        held_out: Align on one half, correlate on the other (see `AbstractFittedMetric` for the split).
        bootstrap, confidence, seed: See `AbstractMetric`. The directions stay fixed.
    """

    ignores: ClassVar[str] = "injective affine maps"

    @property
    def name(self) -> str:
        return self._named("cca_mcc")

    def __call__(self, z: ArrayLike | Tensor, h: ArrayLike | Tensor) -> MetricResult:
        fit, score = halves(standardised_rows(z, h, self.held_out), self.held_out, self.seed)
        require_variation(fit.z, f"the {len(fit.z)} rows aligned", "correlation")
        require_variation(score.z, f"the {len(score.z)} rows scored", "correlation")
        z_white, h_white = whitening(fit.z, fit.precision), whitening(fit.h, fit.precision)
        if z_white.rank + h_white.rank >= len(fit.z):
            raise ValueError(
                f"`z` and `h` must together have fewer independent columns than the fit has rows, {len(fit.z)}; got "
                f"{z_white.rank} and {h_white.rank}: some directions would correlate perfectly whatever the data. "
                "Give more rows or fewer columns."
            )
        z_fit, h_fit = z_white(fit.z), h_white(fit.h)
        left, _, right = np.linalg.svd(z_fit.T @ h_fit, full_matrices=False)
        z_paired, h_paired = z_white(score.z) @ left, h_white(score.h) @ right.T

        def paired(index: np.ndarray | slice) -> np.ndarray:
            return correlations(z_paired[index], h_paired[index])

        def shuffled(order: np.ndarray) -> float:
            return float(np.linalg.svd(z_fit.T @ h_fit[order], compute_uv=False).sum()) / z_white.rank

        per_pair = np.zeros(z_white.rank)
        per_pair[: z_paired.shape[1]] = paired(slice(None))
        return MetricResult(
            value=float(per_pair.mean()),
            chance=0.0 if self.held_out else permutation_mean(self, len(fit.z), shuffled),
            held_out=self.held_out,
            per_coordinate=per_pair,
            interval=interval(self, len(score.z), lambda index: float(paired(index).sum()) / z_white.rank),
        )


def cca_mcc(z: ArrayLike | Tensor, h: ArrayLike | Tensor, *, held_out: bool = True, seed: int = 0) -> float:
    """The value of `CCAMCC`: the mean canonical correlation of true `z` (n, d) and recovered `h` (n, k)."""
    return CCAMCC(held_out=held_out, seed=seed)(z, h).value
