"""How often an interval holds what it is an interval for."""

import numpy as np
import pytest

from noumena.metrics import MCC, AngleError, LinearR2
from tests.statistics import ALARM

RHO = 0.8
REPLICATES = 500


def pair(n, rng):
    """Normal latents in one dimension, recovered with correlation RHO."""
    z = rng.standard_normal((n, 1))
    return z, RHO * z + np.sqrt(1 - RHO**2) * rng.standard_normal((n, 1))


def angle_target():
    """E |z z' - h h'| / 2, from a million pairs."""
    rng = np.random.default_rng(11)
    (z, h), (other_z, other_h) = pair(1_000_000, rng), pair(1_000_000, rng)
    return np.abs(z * other_z - h * other_h).mean() / 2


def plausible(hits):
    """Bounds for a coverage between 0.92 and 0.96: below and above them lies less than the false-alarm rate."""
    from scipy.stats import binom

    return binom.cdf(hits, REPLICATES, 0.92) > ALARM and binom.sf(hits - 1, REPLICATES, 0.96) > ALARM


@pytest.mark.parametrize(
    "metric, n, target", [(MCC, 300, lambda: RHO), (LinearR2, 300, lambda: RHO**2), (AngleError, 80, angle_target)]
)
def test_intervals_cover_the_population_score(metric, n, target):
    target = target()
    hits, narrow, wide = 0, 0, 0
    for seed in range(REPLICATES):
        low, high = metric(bootstrap=40, seed=seed)(*pair(n, np.random.default_rng([12, seed]))).interval
        middle, half = (low + high) / 2, (high - low) / 2
        hits += low <= target <= high
        narrow += abs(target - middle) <= 0.6 * half
        wide += abs(target - middle) <= 2.2 * half
    assert plausible(hits)
    # The mutants: intervals that forget part of the spread, or count it twice.
    assert not plausible(narrow) and not plausible(wide)
