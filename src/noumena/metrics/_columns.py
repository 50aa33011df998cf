"""Column algebra shared by the metrics: whitening and correlations."""

from typing import NamedTuple

import numpy as np

from ._rows import ROUNDING, standardise


class Whitening(NamedTuple):
    """The affine map that gave its rows orthonormal columns, one for each direction in which they vary."""

    mean: np.ndarray
    transform: np.ndarray  # (k, rank)

    @property
    def rank(self) -> int:
        return self.transform.shape[1]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return (x - self.mean) @ self.transform


def whitening(x: np.ndarray, precision: float) -> Whitening:
    """Fit to `x`; constant and collinear columns add no direction.

    A direction counts as variation if its singular value, with columns of unit scale, exceeds ten times what rounding
    at the relative `precision` of the data leaves in one that is not there.
    """
    mean = x.mean(axis=0)
    centred = x - mean
    scale = np.sqrt(np.square(centred).mean(axis=0))
    scale[scale <= ROUNDING * np.abs(x).max(axis=0)] = np.inf
    # The triangle of QR has the singular values of the tall matrix at a fraction of the cost.
    _, singular, directions = np.linalg.svd(np.linalg.qr(centred / scale, mode="r"), full_matrices=False)
    kept = singular > 10 * precision * np.sqrt(x.shape[1]) * singular.max(initial=0.0)
    return Whitening(mean, directions[kept].T / singular[kept] / scale[:, None])


def correlation_matrix(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pearson correlation of every column of `a` with every column of `b`; 0 where one of them is constant."""
    return np.clip(standardise(a).T @ standardise(b) / len(a), -1.0, 1.0)


def correlations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pearson correlation of each column of `a` with the same column of `b`; 0 where one of them is constant."""
    return np.clip((standardise(a) * standardise(b)).mean(axis=0), -1.0, 1.0)
