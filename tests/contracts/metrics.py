"""Laws of every metric."""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noumena.metrics import AbstractMetric
from tests.statistics import z_score


def invertible(d, rng):
    """A well-conditioned matrix without structure: singular values between 0.5 and 2."""
    left, right = rotation(d, rng), rotation(d, rng)
    return left @ np.diag(np.linspace(0.5, 2.0, d)) @ right


def rotation(d, rng):
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))


def affine(h, rng):
    return h @ invertible(h.shape[1], rng) + rng.standard_normal(h.shape[1])


def isometry(h, rng):
    reflection = np.diag([-1.0] + [1.0] * (h.shape[1] - 1))
    return h @ rotation(h.shape[1], rng) @ reflection


def relabelled(h, rng):
    """Permuted, scaled over many orders of magnitude, flipped and shifted, each coordinate by itself."""
    k = h.shape[1]
    scales = 10.0 ** rng.uniform(-30, 30, k) * rng.choice([-1.0, 1.0], k)
    return (h * scales + scales * rng.standard_normal(k))[:, rng.permutation(k)]


def repeated(h, rng):
    """The same information, with a constant column and collinear ones beside it."""
    return np.column_stack([np.full(len(h), 0.1), h, h[:, 0], h.sum(axis=1)])


def sheared(h, rng):
    return h @ (np.eye(h.shape[1]) + np.eye(h.shape[1], k=1))


def scaled(h, rng):
    return 1.5 * h


def bent(h, rng):
    """Monotonic in each coordinate, and far from linear."""
    return np.sinh(2 * h)


def folded(h, rng):
    return np.abs(h)


def noisy(h, rng):
    return h + rng.standard_normal(h.shape)


def world(n=240, d=3, k=4, seed=0):
    """True latents, uniform on an interval, and recovered ones that tell part of them."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, k))
    z = rng.uniform(-1, 1, (n, d))
    h = z @ mixing + 0.5 * rng.standard_normal((n, k))
    return z, h


class MetricContract:
    """`ignored` maps leave the score of any `h` alone; `seen` maps take the truth away from its score."""

    truth = 1.0
    ignored: tuple = ()
    seen: tuple = ()
    fits = True  # something is fitted, so the score can be held out
    needs_variation = True  # a constant true coordinate leaves the score undefined

    def make(self, **options) -> AbstractMetric:
        raise NotImplementedError

    def reference(self, z: np.ndarray, h: np.ndarray, fit: np.ndarray, score: np.ndarray) -> float:
        """The score in plain float64, fitted to the rows `fit` and scored on the rows `score`."""
        raise NotImplementedError

    def variants(self):
        return [self.make(held_out=True), self.make(held_out=False)] if self.fits else [self.make()]

    @staticmethod
    def split(n, metric):
        """The documented split, written again."""
        if not getattr(metric, "held_out", False):
            return np.arange(n), np.arange(n)
        order = np.random.default_rng([metric.seed, 0]).permutation(n)
        return order[: n - n // 2], order[n - n // 2 :]

    @pytest.mark.parametrize("n, d, k", [(61, 3, 3), (60, 2, 4), (60, 4, 2), (50, 1, 1)])
    def test_agrees_with_the_reference(self, n, d, k):
        z, h = world(n, d, k, seed=n + d)
        for metric in self.variants():
            expected = self.reference(z, h, *self.split(n, metric))
            assert float(metric(z, h)) == pytest.approx(expected, abs=1e-10)

    def test_the_truth_scores_best(self):
        z, _ = world()
        for metric in self.variants():
            assert float(metric(z, z)) == pytest.approx(self.truth, abs=1e-12)
        assert self.truth == (1.0 if self.make().larger_is_better else 0.0)

    def test_ignored_maps_change_nothing(self):
        z, h = world()
        rng = np.random.default_rng(1)
        for change in self.ignored:
            for metric in self.variants():
                for recovered in (z, h):
                    before, after = metric(z, recovered).value, metric(z, change(recovered, rng)).value
                    assert after == pytest.approx(before, abs=1e-9), change.__name__

    def test_other_maps_are_seen(self):
        z, _ = world()
        rng = np.random.default_rng(2)
        for change in self.seen:
            for metric in self.variants():
                assert abs(metric(z, change(z, rng)).value - self.truth) > 0.01, change.__name__

    def test_independent_noise_averages_at_the_stated_chance(self):
        """1e5 rows of noise for each variant; |z| < 5 alarms once in 1.7 million."""
        variants = self.variants()
        over_chance = {metric: [] for metric in variants}
        informed, leaked = [], []
        for seed in range(250):
            rng = np.random.default_rng([77, seed])
            z, h = rng.standard_normal((400, 3)), rng.standard_normal((400, 3))
            results = {metric: metric(z, h) for metric in variants}
            for metric, result in results.items():
                over_chance[metric].append(result.value - result.chance)
            if seed < 100:
                faint = variants[0](z, h + 0.3 * z)
                informed.append(faint.value - faint.chance)
                leaked.append(results[variants[-1]].value - results[variants[0]].chance)
        for differences in over_chance.values():
            assert abs(z_score(differences, 0.0)) < 5
        # The mutants: a recovery with a little information, and a score taken on the rows that were fitted.
        assert abs(z_score(informed, 0.0)) > 5
        if self.fits:
            assert z_score(leaked, 0.0) > 5

    def test_inputs_of_every_kind_agree(self):
        z, h = world()
        metric = self.make()
        expected = metric(z, h).value
        assert metric(z.tolist(), h.tolist()).value == expected
        assert metric(torch.from_numpy(z), torch.from_numpy(h).requires_grad_()).value == expected
        assert metric(np.asfortranarray(z), h[:, ::-1][:, ::-1]).value == pytest.approx(expected, abs=1e-12)
        single = metric(z.astype(np.float32), h.astype(np.float32)).value
        assert metric(torch.from_numpy(z).float(), torch.from_numpy(h).float()).value == single
        assert single == pytest.approx(expected, abs=1e-5)
        halved = metric(torch.from_numpy(z).bfloat16(), torch.from_numpy(h).bfloat16()).value
        assert halved == pytest.approx(expected, abs=0.02)  # three significant digits
        assert math.isfinite(metric(np.arange(240).reshape(80, 3) ** 2 % 7, h[:80]).value)

    def test_order_of_the_rows_matters_only_to_the_split(self):
        z, h = world()
        rng = np.random.default_rng(3)
        for metric in self.variants():
            fit, score = self.split(len(z), metric)
            order = np.arange(len(z))
            order[fit] = rng.permutation(fit)
            order[score] = order[fit] if fit is score or not getattr(metric, "held_out", False) else score[::-1]
            assert sorted(order) == list(range(len(z)))
            assert metric(z[order], h[order]).value == pytest.approx(metric(z, h).value, abs=1e-10)

    def test_same_call_same_result_and_inputs_are_left_alone(self):
        z, h = world()
        z_before, h_before, state = z.copy(), h.copy(), copy.deepcopy(np.random.get_state())
        metric = self.make(bootstrap=40)
        first, again = metric(z, h), metric(z, h)
        assert (first.value, first.chance, first.interval) == (again.value, again.chance, again.interval)
        assert np.array_equal(z, z_before) and np.array_equal(h, h_before)
        assert all(np.array_equal(a, b) for a, b in zip(state, np.random.get_state(), strict=True))

    def test_seed_changes_the_split_and_no_more_than_it_should(self):
        z, h = world()
        first, other = self.make(seed=0)(z, h), self.make(seed=1)(z, h)
        assert (first.value != other.value) == self.fits
        assert first.value == pytest.approx(other.value, abs=0.2)

    def test_result_is_complete(self):
        z, h = world()
        for metric in self.variants():
            result = metric(z, h)
            assert float(result) == result.value and math.isfinite(result.value) and math.isfinite(result.chance)
            assert result.interval is None
            assert result.held_out == (metric.held_out if self.fits else True)
            assert metric.name and metric.ignores
        assert len({metric.name for metric in self.variants()}) == len(self.variants())

    def test_interval_holds_the_value_and_shrinks_with_rows(self):
        few, many = (self.make(bootstrap=100)(*world(n)) for n in (200, 3200))
        assert few.value == self.make()(*world(200)).value
        for result in (few, many):
            low, high = result.interval
            assert low < result.value < high
        # Sixteen times the rows give a quarter of the width; the range allows for 100 resamples.
        ratio = (many.interval[1] - many.interval[0]) / (few.interval[1] - few.interval[0])
        assert 0.15 < ratio < 0.4
        narrow = self.make(bootstrap=100, confidence=0.5)(*world(200)).interval
        assert few.interval[0] < narrow[0] < narrow[1] < few.interval[1]

    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.differing_executors])
    @given(n=st.integers(40, 90), d=st.integers(1, 5), k=st.integers(1, 6), seed=st.integers(0, 999))
    def test_any_shape_gives_a_finite_score(self, n, d, k, seed):
        z, h = world(n, d, k, seed)
        h[:, seed % k] = 0.1  # constant, and not exactly its own mean
        for metric in self.variants():
            result = metric(z, h)
            assert math.isfinite(result.value) and math.isfinite(result.chance)
            assert result.value <= 1 if metric.larger_is_better else result.value >= 0
            if result.per_coordinate is not None:
                assert result.per_coordinate.shape == (d,)
                assert result.value == pytest.approx(result.per_coordinate.mean(), abs=1e-12)

    def test_wrong_arrays_are_refused(self, unchecked_shapes):
        z, h = world(40)
        metric = self.make()
        bad = h.copy()
        for entry in (math.nan, math.inf, 1e200):
            bad[7, 1] = entry
            with pytest.raises(ValueError, match="`h` must be finite .* 1 of 160 entries"):
                metric(z, bad)
        with pytest.raises(ValueError, match="`h` must have the rows of `z`, 40; got 39"):
            metric(z, h[:39])
        with pytest.raises(ValueError, match=r"`z` must have the shape \(n, d\).*reshape"):
            metric(z[:, 0], h)
        with pytest.raises(ValueError, match=r"got \(40, 4, 1\)"):
            metric(z, h[:, :, None])
        with pytest.raises(ValueError, match="`z` must not be empty"):
            metric(z[:, :0], h)
        with pytest.raises(ValueError, match="at least .* rows, got 1"):
            metric(z[:1], h[:1])
        with pytest.raises(ValueError, match="`h` must have rows of equal length"):
            metric(z, [[1.0, 2.0], [3.0]])
        for kind in (None, "latents", h + 1j, torch.from_numpy(h + 1j), [["a", "b"]] * 40):
            with pytest.raises(TypeError, match="`h` must"):
                metric(z, kind)

    def test_constant_true_coordinates(self):
        z, h = world(40)
        z[:, 1] = 0.1
        if self.needs_variation:
            with pytest.raises(ValueError, match=r"coordinates \[1\] are constant"):
                self.make()(z, h)
        else:
            assert math.isfinite(self.make()(z, h).value)

    def test_wrong_options_are_refused(self, unchecked_shapes):
        for options, error in [
            ({"bootstrap": -1}, ValueError),
            ({"bootstrap": 38}, ValueError),  # too few for a percentile of 2.5
            ({"bootstrap": 20.5}, TypeError),
            ({"bootstrap": True}, TypeError),
            ({"confidence": 1.0}, ValueError),
            ({"confidence": 0.0}, ValueError),
            ({"confidence": math.nan}, ValueError),
            ({"seed": -1}, ValueError),
            ({"seed": None}, TypeError),
            *([({"held_out": "yes"}, TypeError)] if self.fits else []),
        ]:
            with pytest.raises(error, match=f"`{next(iter(options))}`"):
                self.make(**options)
        with pytest.raises(ValueError, match="`bootstrap` needs at least 20 rows"):
            self.make(bootstrap=50)(*world(19))
