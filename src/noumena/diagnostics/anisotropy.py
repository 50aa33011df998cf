"""How unevenly do positives vary, by direction."""

import torch
from scipy.special import fdtrc, ndtri
from torch import Tensor

from .fitted import Fitted
from .reading import CONFIDENCE, Reading, band
from .sample import Sample

TOLERANCE = 1.25  # of the largest precision over the smallest: less is even enough


def read(sample: Sample, law: Fitted | None) -> Reading:
    number = "Λ of the direction that moves least over Λ of the one that moves most, of those that move"
    if law is None or len(law.precision) < 2:
        return Reading("anisotropy", number, None, None, "ok", "Too few directions move for Λ to vary.")
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    error = law.covariance.diagonal().sqrt()
    p_value = _equal(law.precision, law.covariance, len(sample.measure.h))
    ratio, interval = _spread(law, quantile)
    uneven = p_value < sample.level and ratio >= TOLERANCE
    shown = f"Λ runs from {float(law.precision[-1]):.3g} to {float(law.precision[0]):.3g}"
    unit = {"sphere": "radius 1", "box": "sides of 1", "free": "unit variance"}[law.kind]
    labels = ("direction, most precise first", f"Λ (unit: {unit})")
    lines = [(law.precision + sign * quantile * error).tolist() for sign in (0, -1, 1)]
    places = [float(j + 1) for j in range(len(error))]
    return Reading(
        name="anisotropy",
        number=number,
        value=ratio,
        interval=interval,
        verdict="warning" if uneven else "ok",
        sentence=(
            f"Positives vary unevenly: {shown} ({unit})."
            if uneven
            else f"Positives vary about as much in every direction that moves: {shown} ({unit})."
        ),
        advice=(
            f"Learn a precision for each coordinate: `InfoNCE(AnisotropicScore(dim={sample.dim}))`. One temperature "
            "for all directions favours the most precise ones."
            if uneven
            else ""
        ),
        test=(
            "Null: all Λ are equal. Wald test of their differences, with the sandwich covariance of score matching and "
            f"Hotelling's correction. Ratios below {TOLERANCE:g} are even enough."
        ),
        p_value=p_value,
        details={
            "precision": law.precision.tolist(),
            "standard_error": error.tolist(),
            "unit": unit,
            "axes": law.axes.mT.tolist(),
        },
        curves=band("Λ", places, lines, labels),
    )


def _equal(precision: Tensor, covariance: Tensor, n: int) -> float:
    """p-value of the Wald test that all are equal."""
    m = len(precision)
    contrast = torch.eye(m, dtype=precision.dtype)[1:] - torch.eye(m, dtype=precision.dtype)[0]
    gap = contrast @ precision
    wald = float(gap @ torch.linalg.lstsq(contrast @ covariance @ contrast.mT, gap[:, None]).solution[:, 0])
    # With an estimated covariance this is Hotelling's T^2 rather than chi-square.
    return float(fdtrc(m - 1, n - m + 1, max(wald, 0.0) * (n - m + 1) / ((m - 1) * (n - 1))))


def _spread(law: Fitted, quantile: float) -> tuple[float, tuple[float, float]]:
    """Of the first direction over the last, an order that the even rows chose; so it is not inflated by choosing."""
    first, last = float(law.precision[0]), float(law.precision[-1])
    if last <= 0:
        return float("inf"), (0.0, float("inf"))
    gradient = torch.zeros_like(law.precision)
    gradient[0], gradient[-1] = 1 / first, -1 / last
    width = quantile * float((gradient @ law.covariance @ gradient).clamp(min=0).sqrt())
    ratio = first / last
    return ratio, (ratio * float(torch.tensor(-width).exp()), ratio * float(torch.tensor(width).exp()))
