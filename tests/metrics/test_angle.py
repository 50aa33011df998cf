import numpy as np
import pytest

from noumena.metrics import AngleError, angle_error
from noumena.metrics.angle import BLOCK
from tests.contracts.metrics import MetricContract, bent, folded, isometry, noisy, relabelled, scaled, sheared, world
from tests.statistics import z_score


def reference_error(z, h):
    n = len(z)
    inner = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for rows in (z, h) for a in rows]
    return sum(abs(inner[i][j] - inner[n + i][j]) for i in range(n) for j in range(n)) / (2 * n * n)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def padded(h, rng):
    return np.column_stack([h, np.zeros(len(h))])


def stretched_rows(h, rng):
    return h * rng.uniform(0.5, 2.0, (len(h), 1))


class TestAsGiven(MetricContract):
    truth = 0.0
    fits = False
    needs_variation = False
    ignored = (isometry, padded)
    seen = (scaled, sheared, bent, folded, noisy, stretched_rows, relabelled)

    def make(self, **options):
        return AngleError(**options)

    def reference(self, z, h, fit, score):
        return reference_error(z, h)


class TestNormalised(MetricContract):
    truth = 0.0
    fits = False
    needs_variation = False
    ignored = (isometry, padded, scaled, stretched_rows)
    seen = (sheared, bent, folded, noisy)

    def make(self, **options):
        return AngleError(normalise=True, **options)

    def reference(self, z, h, fit, score):
        return reference_error(unit(z), unit(h))

    def test_any_shape_gives_a_finite_score(self):
        """In one dimension the contract's constant column is the embedding, of which every row has one direction."""
        assert angle_error(*world(60, 1, 1), normalise=True) >= 0


def test_opposite_ends_of_the_range():
    """Unit vectors: 0 for a rotation; between a collapsed and an alternating set every other pair is off by 2."""
    collapsed, alternating = np.ones((10, 1)), np.array([[1.0], [-1.0]] * 5)
    assert angle_error(alternating, -alternating) == 0
    assert angle_error(alternating, collapsed) == pytest.approx(0.5)


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
def test_tiles_cover_every_pair_once(n):
    z, h = world(n)
    assert angle_error(z, h) == pytest.approx(np.abs(z @ z.T - h @ h.T).sum() / (2 * n * n), rel=1e-12)


def test_resampled_pairs_equal_resampled_rows():
    z, h = world(BLOCK + 50)
    low, high = AngleError(bootstrap=40, confidence=0.5, seed=9)(z, h).interval
    generator = np.random.default_rng([9, 2])
    scores = [angle_error(z[index], h[index]) for index in (generator.integers(len(z), size=len(z)) for _ in range(40))]
    np.testing.assert_allclose([low, high], np.quantile(scores, [0.25, 0.75], method="weibull"), rtol=1e-10)


def test_chance_is_the_average_over_orders_of_the_rows():
    """Few rows, so that the pairs of a row with itself matter. |z| < 5 alarms once in 1.7 million; the stated chance
    is itself drawn, with a standard error of half a percent."""
    z, h = world(12)
    rng = np.random.default_rng(10)
    orders = [rng.permutation(12) for _ in range(5000)]
    scores = np.array([np.abs(z @ z.T - h[order] @ h[order].T).mean() / 2 for order in orders])
    chance = AngleError()(z, h).chance
    assert abs(scores.mean() - chance) < 0.025 * chance + 5 * scores.std() / np.sqrt(len(scores))
    assert abs(z_score(scores, 1.1 * chance)) > 5


def test_zero_rows_have_no_direction():
    z, h = world(30)
    h[4] = 0
    with pytest.raises(ValueError, match="`h` must have no zero rows .* row 4 is zero"):
        angle_error(z, h, normalise=True)
    assert angle_error(z, h) > 0
