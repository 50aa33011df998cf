"""Bootstrap resamples and row permutations, each from its own stream of the metric's seed."""

from collections.abc import Callable, Iterator

import numpy as np

from .base import AbstractMetric

# Scores that average over coordinates need few: the mean of ten moves by about a tenth of one row's noise.
PERMUTATIONS = 10
_PERMUTE, _BOOTSTRAP = 1, 2  # 0 is the split


def permutation_mean(metric: AbstractMetric, n: int, statistic: Callable[[np.ndarray], float]) -> float:
    """The average of `statistic` over row orders drawn at random."""
    generator = stream(metric)
    return float(np.mean([statistic(generator.permutation(n)) for _ in range(PERMUTATIONS)]))


def stream(metric: AbstractMetric) -> np.random.Generator:
    """The random stream behind the chance level."""
    return np.random.default_rng([metric.seed, _PERMUTE])


def resamples(metric: AbstractMetric, n: int) -> Iterator[np.ndarray]:
    """Rows drawn with replacement, `metric.bootstrap` times."""
    if n < 20:
        raise ValueError(f"`bootstrap` needs at least 20 rows to resample, got {n}; give more rows or ask for none.")
    generator = np.random.default_rng([metric.seed, _BOOTSTRAP])
    for _ in range(metric.bootstrap):
        yield generator.integers(n, size=n)


def interval(metric: AbstractMetric, n: int, statistic: Callable[[np.ndarray], float]) -> tuple[float, float] | None:
    """Percentile interval of `statistic` over resampled rows, if the metric asks for one."""
    if not metric.bootstrap:
        return None
    return percentiles(metric, np.array([statistic(index) for index in resamples(metric, n)]))


def percentiles(metric: AbstractMetric, values: np.ndarray) -> tuple[float, float]:
    # Ranks out of one more than there are resamples: the usual quantiles make short intervals of few resamples.
    levels = [(1 - metric.confidence) / 2, (1 + metric.confidence) / 2]
    low, high = np.quantile(values, levels, method="weibull")
    return float(low), float(high)
