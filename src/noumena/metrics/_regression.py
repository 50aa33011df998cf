"""Least squares of true on recovered coordinates, and how much of each coordinate it explains."""

from typing import NamedTuple

import numpy as np

from ._columns import whitening
from ._rows import ROUNDING, Rows, require_variation


class Regression(NamedTuple):
    """Scoring rows of the true coordinates, what the fitted map leaves of them, and the R² of an unrelated `h`."""

    z: np.ndarray
    residual: np.ndarray
    chance: float


def regress(fit: Rows, score: Rows, coordinates: np.ndarray | None = None) -> Regression:
    """Ordinary least squares with intercept of z on h, fitted to `fit` and applied to `score`.

    `coordinates` are the names that errors give to the columns of z.

    The chance level is the ratio of what unexplained and total sum of squares average over all orders of the rows of
    z, which is known in closed form: the fitted values of the scoring rows are L z with rows of L that sum to 1, so
    the unexplained sum averages (n_score + ||L||²) sample variances, and the total n_score - 1. In sample this is
    rank / (n - 1), exactly.
    """
    held_out = fit is not score
    n_fit, n_score = len(fit.z), len(score.z)
    require_variation(fit.z, f"the {n_fit} rows of the fit", "R²", coordinates)
    require_variation(score.z, f"the {n_score} rows scored", "R²", coordinates)
    white = whitening(fit.h, fit.precision)
    if white.rank >= n_fit - 1:
        raise ValueError(
            f"`h` must have fewer independent columns than the fit has rows to spare, {n_fit} - 1; got {white.rank}: "
            "least squares would pass through every row. Give more rows or fewer columns."
        )
    mean = fit.z.mean(axis=0)
    coefficients = white(fit.h).T @ (fit.z - mean)
    design = white(score.h)
    residual = score.z - mean - design @ coefficients
    weights = n_score / n_fit + float(np.square(design).sum())
    chance = -(1 + weights) / (n_score - 1) if held_out else white.rank / (n_fit - 1)
    return Regression(score.z, residual, chance)


def r2(z: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """The share of each column's variation about its own mean that `residual` leaves out.

    Columns that a bootstrap resample has made constant leave nothing to explain and count 0.
    """
    total = np.square(z - z.mean(axis=0)).sum(axis=0)
    flat = total <= len(z) * ROUNDING**2
    return np.where(flat, 0.0, 1 - np.square(residual).sum(axis=0) / np.where(flat, 1.0, total))
