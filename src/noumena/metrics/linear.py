"""Recovery up to linear maps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from ._regression import r2, regress
from ._resampling import interval
from ._rows import halves, standardised_rows
from .base import AbstractFittedMetric, MetricResult


@dataclass(frozen=True, kw_only=True)
class LinearR2(AbstractFittedMetric):
    """R² of the true coordinates regressed on the recovered ones: ordinary least squares with intercept.

    The score when theory promises recovery up to an invertible linear (or affine) map; the value is the plain mean
    over true coordinates. Held out, h without information scores slightly below 0, by about k / n_fit; in sample, as
    Zimmermann et al. (2021) and the papers after them report, it scores k / (n - 1). `h` may have more or fewer
    columns than `z`; constant and collinear ones change nothing. A constant true coordinate is refused.

    Args:
        held_out: Fit on one half, score on the other (see `AbstractFittedMetric` for the split).
        bootstrap, confidence, seed: See `AbstractMetric`. The fitted map stays fixed.
    """

    ignores: ClassVar[str] = "injective affine maps"

    @property
    def name(self) -> str:
        return self._named("linear_r2")

    def __call__(self, z: ArrayLike | Tensor, h: ArrayLike | Tensor) -> MetricResult:
        fit, score = halves(standardised_rows(z, h, self.held_out), self.held_out, self.seed)
        fitted = regress(fit, score)

        def resampled(index: np.ndarray) -> float:
            return float(r2(fitted.z[index], fitted.residual[index]).mean())

        per_coordinate = r2(fitted.z, fitted.residual)
        return MetricResult(
            value=float(per_coordinate.mean()),
            chance=fitted.chance,
            held_out=self.held_out,
            per_coordinate=per_coordinate,
            interval=interval(self, len(fitted.z), resampled),
        )


def linear_r2(z: ArrayLike | Tensor, h: ArrayLike | Tensor, *, held_out: bool = True, seed: int = 0) -> float:
    """The value of `LinearR2`: how well a linear map takes recovered `h` (n, k) to true `z` (n, d); 1 is perfect."""
    return LinearR2(held_out=held_out, seed=seed)(z, h).value
