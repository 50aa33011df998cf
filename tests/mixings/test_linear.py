import numpy as np
import pytest
import torch
from scipy import stats

from noumena.mixings import InjectiveLinear
from tests.contracts.mixings import MixingContract
from tests.statistics import ALARM, fits_cdf


def _make(dim_in=3, dim_out=7, seed=0, **arguments):
    return InjectiveLinear(dim_in, dim_out, generator=torch.Generator().manual_seed(seed), **arguments)


def _loops(matrix, bias, z):
    x = np.zeros((len(z), len(matrix)))
    for row in range(len(z)):
        for i in range(len(matrix)):
            x[row, i] = bias[i] + sum(matrix[i, j] * z[row, j] for j in range(matrix.shape[1]))
    return x


class TestDrawn(MixingContract):
    def make(self, seed=0):
        return _make(seed=seed)

    def reference(self, z):
        mixing = self.make()
        return _loops(mixing.matrix.numpy(), mixing.bias.numpy(), z)


class TestSquare(TestDrawn):
    def make(self, seed=0):
        return _make(4, 4, seed)


class TestGiven(MixingContract):
    random = False
    matrix = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    bias = np.array([0.1, 0.2, -0.3])

    def make(self, seed=0):
        return InjectiveLinear.from_matrix(torch.tensor(self.matrix), torch.tensor(self.bias))

    def reference(self, z):
        return _loops(self.matrix, self.bias, z)


def test_the_published_construction():
    mixing = _make(10, 70)
    top = mixing.matrix[:10]
    assert torch.equal(top, torch.diag(top.diagonal()))
    assert ((top.diagonal() > 0) & (top.diagonal() < 1)).all()
    assert mixing.bias.abs().max() <= 10**-0.5
    values = np.linalg.svd(mixing.matrix.numpy(), compute_uv=False)
    np.testing.assert_allclose(mixing.singular_values.numpy(), values, rtol=1e-12)


def test_entries_follow_their_laws():
    mixing = _make(300, 700)
    assert fits_cdf(mixing.matrix[:300].diagonal(), stats.uniform.cdf) > ALARM
    assert fits_cdf(mixing.matrix[300:], stats.norm.cdf) > ALARM  # 120 000 draws
    assert fits_cdf(mixing.bias * 300**0.5, stats.uniform(-1, 2).cdf) > ALARM
    # The mutants: a standard deviation of 1.05, and a bias scaled by the number of observations.
    assert fits_cdf(1.05 * mixing.matrix[300:], stats.norm.cdf) < ALARM
    assert fits_cdf(mixing.bias * 700**0.5, stats.uniform(-1, 2).cdf) < ALARM


def test_without_bias_the_map_is_linear(generator):
    mixing = _make(bias=False)
    assert not mixing.bias.any()
    assert torch.equal(mixing.matrix, _make().matrix)
    assert not mixing(torch.zeros(1, 3)).any()


def test_the_inverse_is_the_least_squares_one(generator):
    mixing, x = _make(), torch.randn(20, 7, generator=generator, dtype=torch.float64)
    expected = (x - mixing.bias).numpy() @ np.linalg.pinv(mixing.matrix.numpy()).T
    np.testing.assert_allclose(mixing.inverse(x).numpy(), expected, atol=1e-10)


def test_from_matrix_copies():
    matrix = torch.eye(2)
    mixing = InjectiveLinear.from_matrix(matrix)
    matrix[0, 0] = 5.0
    assert torch.equal(mixing(torch.ones(1, 2)), torch.ones(1, 2))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: _make(4, 3), ValueError, "`dim_out` must be at least `dim_in`, 4"),
        (lambda: _make(0, 3), ValueError, "`dim_in` must be at least 1"),
        (lambda: InjectiveLinear(2, 3, generator=None), TypeError, "`generator` must be a torch.Generator"),
        (lambda: InjectiveLinear.from_matrix(torch.ones(3, 2)), ValueError, "rank 2.*got 1"),
        (lambda: InjectiveLinear.from_matrix(torch.ones(2, 3)), ValueError, "as many rows as columns; got 2 x 3"),
        (lambda: InjectiveLinear.from_matrix(torch.eye(2), torch.zeros(3)), ValueError, "`bias` must have one entry"),
        (lambda: InjectiveLinear.from_matrix(torch.eye(2), torch.zeros(2).double()), TypeError, "dtype of `matrix`"),
    ],
)
def test_refusals(unchecked_shapes, call, error, words):
    with pytest.raises(error, match=words):
        call()
