import numpy as np
import pytest
from scipy.linalg import eigh

from noumena.metrics import CCAMCC, cca_mcc
from tests.contracts.metrics import MetricContract, affine, bent, folded, noisy, relabelled, repeated, sheared, world
from tests.metrics.test_correlation import reference_pearson


class TestCCAMCC(MetricContract):
    ignored = (affine, relabelled, repeated, sheared)
    seen = (bent, folded, noisy)

    def make(self, **options):
        return CCAMCC(**options)

    def reference(self, z, h, fit, score):
        """Hotelling's eigenproblem on the covariances; direction by direction."""
        d, k = z.shape[1], h.shape[1]
        joint = np.cov(np.column_stack([z[fit], h[fit]]).T)
        zz, zh, hh = joint[:d, :d], joint[:d, d:], joint[d:, d:]
        _, directions = eigh(zh @ np.linalg.inv(hh) @ zh.T, zz)
        total = 0.0
        for direction in directions.T[::-1][: min(d, k)]:
            partner = np.linalg.inv(hh) @ zh.T @ direction
            total += reference_pearson(z[score] @ direction, h[score] @ partner)
        return total / d


def test_maps_of_the_truth_are_ignored_too():
    z, h = world()
    rng = np.random.default_rng(1)
    assert cca_mcc(affine(z, rng), h) == pytest.approx(cca_mcc(z, h), abs=1e-10)


def test_directions_not_recovered_count_nothing():
    z, _ = world(n=300, d=5)
    result = CCAMCC()(z, z[:, :2] @ np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(result.per_coordinate, [1, 1, 0, 0, 0])
    assert result.value == pytest.approx(0.4)
    assert cca_mcc(z[:, :2], z) == pytest.approx(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linearly_dependent_latents_count_their_directions(dtype):
    z, _ = world(n=300, d=3)
    shares = np.column_stack([z, 1 - z.sum(axis=1)]).astype(dtype)  # sum to one
    result = CCAMCC()(shares, shares[:, :3])
    assert result.per_coordinate.shape == (3,)
    assert result.value == pytest.approx(1)


def test_too_few_rows_for_the_directions_are_refused():
    rng = np.random.default_rng(2)
    with pytest.raises(ValueError, match="fewer independent columns than the fit has rows, 15; got 10 and 10"):
        cca_mcc(rng.standard_normal((30, 10)), rng.standard_normal((30, 10)))
