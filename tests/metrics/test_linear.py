import numpy as np
import pytest

from noumena.metrics import LinearR2, linear_r2
from tests.contracts.metrics import MetricContract, affine, bent, folded, noisy, relabelled, repeated, sheared, world
from tests.statistics import z_score


def reference_r2(z, h, fit, score):
    """R² of each true coordinate: least squares by the textbook, one coordinate at a time."""
    scores = []
    for j in range(z.shape[1]):
        design = np.column_stack([np.ones(len(h)), h])
        weights = np.linalg.lstsq(design[fit], z[fit, j], rcond=None)[0]
        unexplained = sum((z[i, j] - design[i] @ weights) ** 2 for i in score)
        mean = sum(z[i, j] for i in score) / len(score)
        scores.append(1 - unexplained / sum((z[i, j] - mean) ** 2 for i in score))
    return scores


class TestLinearR2(MetricContract):
    ignored = (affine, relabelled, repeated, sheared)
    seen = (bent, folded, noisy)

    def make(self, **options):
        return LinearR2(**options)

    def reference(self, z, h, fit, score):
        return np.mean(reference_r2(z, h, fit, score))


def test_thirty_rows_of_noise_in_ten_dimensions_are_no_recovery():
    """In sample such noise reads 10 / 29 on average; held out it must read below 0. |z| < 5: once in 1.7 million."""
    held_out, in_sample = [], []
    for seed in range(200):
        rng = np.random.default_rng([5, seed])
        z, h = rng.standard_normal((30, 10)), rng.standard_normal((30, 10))
        held_out.append(linear_r2(z, h))
        in_sample.append(linear_r2(z, h, held_out=False))
    assert np.median(held_out) < -0.5 and max(held_out) < 0.29
    assert abs(z_score(in_sample, 10 / 29)) < 5
    assert z_score(in_sample, 0.0) > 5


def test_chance_is_the_average_over_all_orders_of_the_rows():
    z, h = world(400)
    h = np.exp(2 * h)  # long tails, where a formula for normal latents would be off
    rng = np.random.default_rng(6)
    for held_out in (True, False):
        metric = LinearR2(held_out=held_out)
        shuffled = [metric(z[rng.permutation(len(z))], h) for _ in range(300)]
        if held_out:
            # The split is of positions, so the rows of h, and with them the stated chance, are the same each time.
            assert len({result.chance for result in shuffled}) == 1
        assert abs(z_score([result.value for result in shuffled], metric(z, h).chance)) < 5


def test_each_coordinate_has_its_own_score():
    rng = np.random.default_rng(7)
    z = rng.standard_normal((2000, 3))
    per_coordinate = LinearR2()(z, z[:, :2] @ rng.standard_normal((2, 2))).per_coordinate
    np.testing.assert_allclose(per_coordinate[:2], 1)
    assert abs(per_coordinate[2]) < 0.02


def test_single_precision_copies_add_no_directions():
    z, h = (x.astype(np.float32) for x in world())
    copied = np.column_stack([h, h[:, 0] + h[:, 1] / 3, np.float32(0.1) * h[:, 2]])
    assert LinearR2()(z, copied).chance == pytest.approx(LinearR2()(z, h).chance, rel=1e-4)


def test_a_fit_through_every_row_is_refused():
    z, _ = world(40)
    wide = np.random.default_rng(8).standard_normal((40, 25))
    with pytest.raises(ValueError, match="Give more rows or fewer columns"):
        linear_r2(z, wide)
    assert linear_r2(z, np.column_stack([z] * 20)) == pytest.approx(1)  # wide, but three directions only


def test_far_from_the_origin_and_tiny():
    z, h = world()
    expected = linear_r2(z, h)
    assert linear_r2(1e6 + z, h - 1e6) == pytest.approx(expected, abs=1e-7)
    assert linear_r2(z * 1e-200, h * 1e-250) == pytest.approx(expected, abs=1e-12)
