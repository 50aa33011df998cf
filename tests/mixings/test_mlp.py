import numpy as np
import pytest
import torch
from scipy import stats

from noumena.mixings import InvertibleMLP
from tests.contracts.mixings import MixingContract
from tests.statistics import ALARM

POOL = 500  # a small pool for the laws; the default one has a test of its own


def _make(dim=4, layers=3, seed=0, pool=POOL, **arguments):
    return InvertibleMLP(dim, layers, generator=torch.Generator().manual_seed(seed), pool=pool, **arguments)


class TestLeaky(MixingContract):
    def make(self, seed=0):
        return _make(seed=seed)

    def activation(self, v):
        return v if v > 0 else 0.2 * v

    def reference(self, z):
        weights = self.make().weights.numpy()
        rows = []
        for point in z:
            values = [sum(w * v for w, v in zip(line, point, strict=True)) for line in weights[0]]
            for weight in weights[1:]:
                values = [self.activation(v) for v in values]
                values = [sum(w * v for w, v in zip(line, values, strict=True)) for line in weight]
            rows.append(values)
        return np.array(rows)


class TestSmooth(TestLeaky):
    def make(self, seed=0):
        return _make(seed=seed, activation="smooth_leaky_relu")

    def activation(self, v):
        return 0.2 * v + 0.8 * np.log(1 + np.exp(v))


class TestOrthogonal(TestLeaky):
    def make(self, seed=0):
        return _make(seed=seed, weights="orthogonal", layers=5)


class TestStoredInSinglePrecision(TestLeaky):
    def make(self, seed=0):
        return _make(seed=seed, dtype=torch.float32)

    def reference(self, z):
        return super().reference(z)  # products of Python floats with float32 weights are float64


@pytest.mark.parametrize("quantile", [0.0, 0.25, 1.0])
def test_columns_have_unit_norm_and_layers_meet_the_threshold(quantile):
    mixing = _make(layers=6, quantile=quantile)
    norms = np.sqrt((mixing.weights.numpy() ** 2).sum(axis=1))
    np.testing.assert_allclose(norms, 1, atol=1e-14)
    expected = [np.linalg.cond(weight) for weight in mixing.weights.numpy()]
    np.testing.assert_allclose(mixing.condition_numbers.numpy(), expected, rtol=1e-10)
    assert (mixing.condition_numbers <= mixing.threshold * (1 + 1e-12)).all()


def test_the_default_pool():
    mixing = InvertibleMLP(10, generator=torch.Generator().manual_seed(0))
    # Two runs of the published code, with the same pool, logged 3.35 and 3.61; an unconditioned layer has about 30.
    assert mixing.threshold < 4.5
    assert (mixing.condition_numbers <= mixing.threshold).all()


def test_orthogonal_weights():
    mixing = _make(6, weights="orthogonal")
    torch.testing.assert_close(mixing.weights @ mixing.weights.mT, torch.eye(6).double().expand(3, 6, 6))
    assert mixing.threshold == float("inf")


def test_a_leaky_mlp_is_homogeneous_and_slope_one_is_linear(generator):
    z = torch.randn(20, 4, generator=generator, dtype=torch.float64)
    mixing, linear = _make(), _make(slope=1.0)
    torch.testing.assert_close(mixing(3 * z), 3 * mixing(z))
    torch.testing.assert_close(linear(-z), -linear(z))
    assert (mixing(-z) + mixing(z)).norm() > 0.1


@pytest.mark.parametrize("slope", [1e-3, 0.2, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_numerical_inverse_converges_to_round_off(slope, dtype):
    mixing = _make(activation="smooth_leaky_relu", slope=slope)
    size = torch.logspace(-8, 4, 200, dtype=dtype)
    target = torch.cat([-size, size]).unsqueeze(1)
    error = (mixing._activate(mixing._deactivate(target)) - target).abs()
    assert (error <= 16 * torch.finfo(dtype).eps * (1 + target.abs())).all()


# The law of the conditioning. Published: sort the condition numbers of a pool, take the threshold from them, and
# redraw a layer until it does not exceed it. A pool of 20 makes the plain loop affordable.


def _numpy_draws(rng, count, dim=3):
    draws = rng.uniform(-1, 1, (count, dim, dim))
    for draw in draws:
        for column in range(dim):
            draw[:, column] /= np.sqrt((draw[:, column] ** 2).sum())
    return np.linalg.cond(draws)


def _published_law(count, pool, quantile):
    """Condition numbers of first layers, by looking up one long sequence of draws at random places."""
    rng = np.random.default_rng(7)
    supply = _numpy_draws(rng, 50_000)
    accepted = []
    while len(accepted) < count:
        threshold = np.sort(rng.choice(supply, pool))[int(pool * quantile)]
        while (draw := supply[rng.integers(len(supply))]) > threshold:
            pass
        accepted.append(draw)
    return np.array(accepted)


def _same_law(first, second):
    return stats.ks_2samp(first, second, method="asymp").pvalue


@pytest.fixture(scope="module")
def first_layers():
    """Condition numbers of 400 one-layer mixings for two quantiles."""
    return {
        quantile: np.array(
            [float(_make(3, 1, seed, pool=20, quantile=quantile).condition_numbers) for seed in range(400)]
        )
        for quantile in (0.0, 0.25)
    }


@pytest.mark.parametrize("quantile", [0.0, 0.25])
def test_layers_follow_the_published_law(first_layers, quantile):
    assert _same_law(first_layers[quantile], _published_law(400, 20, quantile)) > ALARM


def test_the_law_is_neither_unconditioned_nor_the_best_of_a_pool(first_layers):
    rng = np.random.default_rng(8)
    unconditioned = _numpy_draws(rng, 400)
    best_of_a_pool = _numpy_draws(rng, 400 * 20).reshape(400, 20).min(1)
    for mutant in (unconditioned, best_of_a_pool):
        assert _same_law(mutant, _published_law(400, 20, 0.0)) < ALARM
        assert _same_law(mutant, first_layers[0.0]) < ALARM


def test_the_threshold_is_the_quantile_it_says():
    threshold = _make(3, 1, pool=10_000, quantile=0.25).threshold
    draws = _numpy_draws(np.random.default_rng(9), 100_000)
    share = (draws <= threshold).mean()
    error = np.sqrt(0.25 * 0.75 * (1 / 10_000 + 1 / 100_000))
    assert abs(share - 0.25) < 5 * error
    assert abs((draws <= 1.2 * threshold).mean() - 0.25) > 5 * error  # the mutant: a threshold that is a fifth too high


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"dim": 0}, ValueError, "`dim` must be at least 1"),
        ({"layers": 0}, ValueError, "`layers` must be at least 1"),
        ({"slope": 0.0}, ValueError, "`slope` must be positive"),
        ({"slope": 1.5}, ValueError, "`slope` must be at most 1"),
        ({"activation": "leaky_rel"}, ValueError, "`activation` cannot be 'leaky_rel'; did you mean"),
        ({"weights": "normal"}, ValueError, "`weights` cannot be 'normal'"),
        ({"pool": 0}, ValueError, "`pool` must be at least 1"),
        ({"quantile": 1.1}, ValueError, "`quantile` must lie between 0 and 1"),
    ],
)
def test_refusals(arguments, error, words):
    with pytest.raises(error, match=words):
        _make(**arguments)
