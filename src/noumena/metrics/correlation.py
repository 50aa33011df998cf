"""Recovery up to permutation and scale of the coordinates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from .. import _checks
from ._columns import correlation_matrix, correlations
from ._resampling import interval, permutation_mean
from ._rows import halves, require_variation, standardise, standardised_rows
from .base import AbstractFittedMetric, MetricResult

_PAD = 3  # the stream of noise, beside those of splits, permutations and resamples


@dataclass(frozen=True, kw_only=True)
class MCC(AbstractFittedMetric):
    """Mean correlation coefficient: true and recovered coordinates are matched one to one, then correlated.

    The score when theory promises every coordinate by itself. The matching maximises the sum of absolute correlations
    (exactly, as a linear assignment); each pair counts with its sign as fitted, and the value is the mean over *true*
    coordinates. Held out, matching and signs come from one half and the correlations from the other, so h without
    information scores 0 on average, and single values may be negative; in sample it is the published score, at
    least 0 and high by chance when rows are few, as `chance` tells (the mean of ten random orders of the rows of h).

    With fewer recovered than true coordinates, those left over count 0 and have assignment -1; with more, the
    surplus is not used. A constant recovered column correlates 0 with everything. A constant true one is refused.
    It is no measure of linear recovery: a random rotation of independent latents scores about 0.83 in three
    dimensions and 0.59 in ten.

    Args:
        correlation: "pearson" ignores the scale and offset of each coordinate; "spearman" compares ranks (the mean
            rank for ties) and ignores any strictly monotonic map of each.
        noise: Columns of independent normal noise that are matched beside the true coordinates and not counted, drawn
            by `seed`. The published scores of KITTI Masks have seven, beside three factors, for ten recovered
            coordinates; a true coordinate then gets its second best partner where noise takes the best by chance.
        held_out: Match on one half, correlate on the other (see `AbstractFittedMetric` for the split).
        bootstrap, confidence, seed: See `AbstractMetric`. The matching stays fixed; resamples are ranked anew.
    """

    correlation: str = "pearson"
    noise: int = 0
    ignores: ClassVar[str] = "permutations, signs, scales and offsets of coordinates (spearman: monotonic maps of each)"

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.choice("correlation", self.correlation, ("pearson", "spearman"))
        _checks.count("noise", self.noise, low=0)

    @property
    def name(self) -> str:
        name = "mcc" if self.correlation == "pearson" else "mcc_spearman"
        return self._named(f"{name}_padded" if self.noise else name)

    def __call__(self, z: ArrayLike | Tensor, h: ArrayLike | Tensor) -> MetricResult:
        fit, score = halves(standardised_rows(z, h, self.held_out), self.held_out, self.seed)
        require_variation(fit.z, f"the {len(fit.z)} rows matched", "correlation")
        require_variation(score.z, f"the {len(score.z)} rows scored", "correlation")
        d = fit.z.shape[1]
        true, recovered, matrix = self._matched(fit.z, fit.h)
        signs = np.where(matrix[true, recovered] < 0, -1.0, 1.0)
        z_matched, h_matched = score.z[:, true], signs * score.h[:, recovered]

        def matched(index: np.ndarray | slice) -> np.ndarray:
            return correlations(self._prepared(z_matched[index]), self._prepared(h_matched[index]))

        per_coordinate, assignment = np.zeros(d), np.full(d, -1)
        per_coordinate[true], assignment[true] = matched(slice(None)), recovered
        return MetricResult(
            value=float(per_coordinate.mean()),
            chance=0.0 if self.held_out else self._chance(fit.z, fit.h),
            held_out=self.held_out,
            per_coordinate=per_coordinate,
            assignment=assignment,
            interval=interval(self, len(score.z), lambda index: float(matched(index).sum()) / d),
        )

    def _matched(self, z: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Matched true and recovered coordinates, and the correlations behind them."""
        matrix = correlation_matrix(self._prepared(self._padded(z)), self._prepared(h))
        true, recovered = match(matrix)
        counted = true < z.shape[1]
        return true[counted], recovered[counted], matrix

    def _padded(self, z: np.ndarray) -> np.ndarray:
        if not self.noise:
            return z
        return np.column_stack([z, np.random.default_rng([self.seed, _PAD]).standard_normal((len(z), self.noise))])

    def _prepared(self, x: np.ndarray) -> np.ndarray:
        if self.correlation == "pearson":
            return x
        from scipy.stats import rankdata  # here, because importing it takes a third of a second

        return rankdata(x, axis=0)

    def _chance(self, z: np.ndarray, h: np.ndarray) -> float:
        d = z.shape[1]
        z, h = standardise(self._prepared(self._padded(z))), standardise(self._prepared(h))

        def shuffled(order: np.ndarray) -> float:
            matrix = np.abs(z.T @ h[order]) / len(z)
            true, recovered = match(matrix)
            return float(matrix[true, recovered][true < d].sum()) / d

        return permutation_mean(self, len(z), shuffled)


def match(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The one-to-one pairing of rows and columns with the largest sum of absolute entries."""
    from scipy.optimize import linear_sum_assignment  # here, because importing it takes a third of a second

    return linear_sum_assignment(np.abs(matrix), maximize=True)


def mcc(
    z: ArrayLike | Tensor,
    h: ArrayLike | Tensor,
    *,
    correlation: str = "pearson",
    held_out: bool = True,
    seed: int = 0,
) -> float:
    """The value of `MCC`: how well each true coordinate of `z` (n, d) is one recovered of `h` (n, k); 1 is perfect."""
    return MCC(correlation=correlation, held_out=held_out, seed=seed)(z, h).value
