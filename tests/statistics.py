"""Statistical tests with stated false-alarm rates. Each p-value is exact or conservative for the sizes used."""

import numpy as np
from scipy import stats

ALARM = 1e-6  # false-alarm rate of one test; the project's promise is at most 1e-5


def uniform_p_value(values) -> float:
    """Kolmogorov-Smirnov p-value of `values` against the uniform law on [0, 1]."""
    return float(stats.kstest(np.asarray(values, dtype=np.float64).ravel(), "uniform").pvalue)


def fits_cdf(values, cdf) -> float:
    """p-value that `values` were drawn from the continuous law with distribution function `cdf`."""
    return uniform_p_value(cdf(np.asarray(values, dtype=np.float64).ravel()))


def fits_counts(counts, probabilities) -> float:
    """Chi-square p-value of `counts` against cell probabilities; cells expecting under 10 are pooled."""
    counts, probabilities = np.asarray(counts, float), np.asarray(probabilities, float)
    expected = probabilities / probabilities.sum() * counts.sum()
    order = np.argsort(expected)
    counts, expected = counts[order], expected[order]
    small = int(np.searchsorted(np.cumsum(expected), 10.0)) if expected[0] < 10 else 0
    if small:
        counts = np.concatenate([[counts[: small + 1].sum()], counts[small + 1 :]])
        expected = np.concatenate([[expected[: small + 1].sum()], expected[small + 1 :]])
    return float(stats.chisquare(counts, expected).pvalue)


def z_score(values, mean: float) -> float:
    """How many standard errors the average of `values` lies from `mean`; |z| < 5 alarms once in 1.7 million."""
    values = np.asarray(values, dtype=np.float64).ravel()
    return float((values.mean() - mean) / (values.std(ddof=1) / np.sqrt(values.size)))
