"""The von Mises-Fisher law from Bessel functions and quadrature."""

import numpy as np
from scipy import integrate, special, stats


def log_density(x, mean, kappa):
    """Rows of unit vectors; from scipy's exponentially scaled Bessel function, so for moderate d only."""
    d = x.shape[1]
    v = d / 2 - 1
    log_normaliser = d / 2 * np.log(2 * np.pi) + np.log(special.ive(v, kappa)) + kappa - v * np.log(kappa)
    return kappa * np.einsum("nd,nd->n", x, mean) - log_normaliser


def versine(x, mean):
    """1 - cosine of the angle between unit rows, without the cancellation of 1 - x.mean."""
    return ((x - mean) ** 2).sum(1) / 2


def versine_cdf(kappa: float, d: int):
    """Distribution function of 1 - cosine for d > 1: quadrature of exp(-kappa (1 - cos a)) sin(a)^(d-2) over angles."""

    def log_weight(angle):
        weight = -2 * kappa * np.sin(angle / 2) ** 2
        return weight + (d - 2) * np.log(np.sin(angle)) if d > 2 else weight

    rough = (
        np.unique(np.concatenate([np.geomspace(1e-6, 1, 20_000), np.linspace(1e-6, 1, 20_000)])) * np.pi * (1 - 1e-12)
    )
    level = log_weight(rough)
    kept = rough[level > level.max() - 45]
    low = 0.0 if kept[0] == rough[0] else kept[0]
    angles = np.linspace(low, kept[-1], 40_001)
    with np.errstate(divide="ignore"):
        cumulative = integrate.cumulative_simpson(np.exp(log_weight(angles) - level.max()), x=angles, initial=0)
    return lambda t: np.interp(2 * np.arcsin(np.sqrt(np.clip(t, 0, 2) / 2)), angles, cumulative / cumulative[-1])


def fit(x, mean, kappa: float) -> float:
    """p-value that rows `x` were drawn about rows `mean`, d > 2: the angle, and the direction away from the mean."""
    d = x.shape[1]
    angle = stats.kstest(versine_cdf(kappa, d)(versine(x, mean)), "uniform").pvalue
    axis = np.eye(d)[0] - mean[:, :1] * mean
    away = x - mean * np.einsum("nd,nd->n", x, mean)[:, None]
    cosine = np.einsum("nd,nd->n", axis, away) / np.linalg.norm(axis, axis=1) / np.linalg.norm(away, axis=1)
    # A coordinate of a uniform direction of R^(d-1) is a Beta law on [-1, 1]; for d = 3 it is the arcsine law.
    direction = stats.kstest((1 + cosine) / 2, stats.beta((d - 2) / 2, (d - 2) / 2).cdf).pvalue
    return float(min(1.0, 2 * min(angle, direction)))
