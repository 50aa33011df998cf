"""Embeddings laid over the latents by the maps that a metric allows."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Aligned:
    """Embeddings after a fitted map.

    Attributes:
        h: (n, d), a column for each true coordinate; NaN where no recovered coordinate is left for it.
        how: The map, in words.
    """

    h: np.ndarray
    how: str


def align(z: np.ndarray, h: np.ndarray, metric: str) -> Aligned:
    """Embeddings `h` (n, k) over latents `z` (n, d), by the largest family of maps that leaves `metric` as it is.

    The map is fitted on the rows that are shown, so that a picture flatters a little where rows are few.
    """
    if metric.startswith("mcc"):
        return Aligned(_matched(z, h), "matched one to one, each with a sign, a scale and an offset of its own")
    if metric.startswith("angle_error") and z.shape[1] == h.shape[1]:
        return Aligned(turned(z, h), "turned onto the latents by the best rotation or reflection")
    inputs = np.column_stack([h, np.ones(len(h))])
    return Aligned(inputs @ np.linalg.lstsq(inputs, z, rcond=None)[0], "taken to the latents by the best affine map")


def turned(z: np.ndarray, h: np.ndarray) -> np.ndarray:
    """`h` after the orthogonal map that brings it closest to `z` (Procrustes)."""
    left, _, right = np.linalg.svd(h.T @ z)
    return h @ left @ right


def _matched(z: np.ndarray, h: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    centred, recovered = z - z.mean(axis=0), h - h.mean(axis=0)
    sizes = np.linalg.norm(centred, axis=0)[:, None] * np.linalg.norm(recovered, axis=0)
    correlation = np.divide(centred.T @ recovered, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    result = np.full(z.shape, np.nan)
    for true, found in zip(*linear_sum_assignment(-np.abs(correlation)), strict=True):
        power = recovered[:, found] @ recovered[:, found]
        slope = centred[:, true] @ recovered[:, found] / power if power > 0 else 0.0
        result[:, true] = z[:, true].mean() + slope * recovered[:, found]
    return result
