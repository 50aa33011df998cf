import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.spatial import cKDTree

from noumena.conditionals import GeneralizedNormal
from noumena.data import InMemory
from noumena.marginals import Uniform
from noumena.pairs import Nearest, ivf
from noumena.pairs.nearest import BLOCK, Exact
from noumena.spaces import Box
from tests.contracts.pairs import PairSourceContract
from tests.statistics import ALARM

BOX = Box(3, -1, 1)
MARGINAL, LAPLACE = Uniform(BOX), GeneralizedNormal(1, 0.1)


def table(n: int = 1500, dim: int = 3, **known) -> InMemory:
    """Each image holds the number of its row, in two bytes."""
    factors = np.random.default_rng(8).uniform(-1, 1, (n, dim))
    numbers = np.stack([np.arange(n) // 256, np.arange(n) % 256], axis=1).astype(np.uint8)
    return InMemory(numbers.reshape(n, 2, 1, 1), **({"factors": factors} | known))


def rows(images: torch.Tensor) -> np.ndarray:
    high, low = (images[:, :, 0, 0].double() * 255).round().long().T.numpy()
    return 256 * high + low


class TestNearest(PairSourceContract):
    def make(self):
        return Nearest(table(), MARGINAL, LAPLACE)


def test_rows_are_those_that_a_loop_finds(generator):
    """The nearest to z; the nearest to z', or the second where that is the anchor. float64 throughout."""
    few = table(200)
    factors = few.factors.numpy()
    again = torch.Generator().manual_seed(20260)
    batch = Nearest(few, MARGINAL, LAPLACE).draw(300, generator, torch.float64)
    z = MARGINAL.sample(300, generator=again, dtype=torch.float64)
    z_pos = LAPLACE.on(BOX).sample(z, generator=again).numpy()
    same = 0
    for i, (a, b) in enumerate(zip(z.numpy(), z_pos, strict=True)):
        anchor = min(range(200), key=lambda r: float(((factors[r] - a) ** 2).sum()))
        first, second = sorted(range(200), key=lambda r: float(((factors[r] - b) ** 2).sum()))[:2]
        same += first == anchor
        assert rows(batch.x)[i] == anchor and rows(batch.x_pos)[i] == (second if first == anchor else first)
    assert same > 30, "the rule for equal rows was tried"
    assert np.array_equal(batch.z, factors[rows(batch.x)]) and np.array_equal(batch.z_pos, factors[rows(batch.x_pos)])


@pytest.mark.parametrize("n", [2, 3, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_exact_index_agrees_with_a_tree(n, dtype):
    generator = np.random.default_rng(n)
    # Far from the origin, where squared distances from products lose digits.
    points = 50 + generator.uniform(-1, 1, (n, 4))
    queries = 50 + generator.uniform(-1.2, 1.2, (400, 4))
    points, queries = (torch.from_numpy(part).to(dtype) for part in (points, queries))
    index = Exact(points)
    _, expected = cKDTree(points.double().numpy()).query(queries.double().numpy(), k=2)
    first = index.nearest(queries)
    second = index.nearest(queries, other_than=first)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-11
    for found, wanted in ((first, expected[:, 0]), (second, expected[:, 1])):
        apart = [(queries - points[torch.as_tensor(which)]).double().norm(dim=1) for which in (found, wanted)]
        assert torch.allclose(*apart, atol=tolerance)
    assert bool((first != second).all())


def brute_force(n: int, seed: int, scale: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Factors of pairs drawn with NumPy and scipy alone: a truncated Laplace law by its distribution function."""
    generator = np.random.default_rng(seed)
    factors = table().factors.numpy()
    z = generator.uniform(-1, 1, (n, 3))
    law = stats.laplace(z, scale)
    low, high = law.cdf(-1.0), law.cdf(1.0)
    z_pos = law.ppf(low + (high - low) * generator.uniform(size=z.shape))
    near = cKDTree(factors)
    anchors = near.query(z)[1]
    first, second = near.query(z_pos, k=2)[1].T
    return factors[anchors], factors[np.where(first == anchors, second, first)]


def same_law(z, z_pos, others) -> float:
    """The least p-value, for three tests, of marginals and steps."""
    mine = [z[:, 0], (z_pos - z)[:, 1], np.linalg.norm(z_pos - z, axis=1)]
    theirs = [others[0][:, 0], (others[1] - others[0])[:, 1], np.linalg.norm(others[1] - others[0], axis=1)]
    return 3 * min(stats.ks_2samp(a, b, method="asymp").pvalue for a, b in zip(mine, theirs, strict=True))


def test_pairs_have_the_law_of_brute_force(generator):
    batch = Nearest(table(), MARGINAL, LAPLACE).draw(20_000, generator, torch.float64)
    drawn = batch.z.numpy(), batch.z_pos.numpy()
    assert same_law(*drawn, brute_force(20_000, seed=1)) > ALARM
    assert same_law(*drawn, brute_force(20_000, seed=1, scale=0.11)) < ALARM, "a scale 10 % off must be seen"


needs_faiss = pytest.mark.skipif(find_spec("faiss") is None, reason="faiss is not installed")


@needs_faiss
@pytest.mark.parametrize("lists", [16, pytest.param(ivf.LISTS, marks=pytest.mark.slow)])
def test_the_published_index_finds_what_the_exact_one_finds(lists, generator, monkeypatch):
    monkeypatch.setattr(ivf, "LISTS", lists)
    monkeypatch.setattr(ivf, "FEWEST", 39 * lists)
    points = torch.rand(39 * lists, 3, generator=generator)
    queries = torch.rand(2000, 3, generator=generator)
    ours, exact = ivf.IVF(points), Exact(points)
    first = exact.nearest(queries)
    assert float((ours.nearest(queries) == first).float().mean()) > 0.99
    second = ours.nearest(queries, other_than=first)
    assert bool((second != first).all())
    assert float((second == exact.nearest(queries, other_than=first)).float().mean()) > 0.99
    again = ivf.IVF(points).nearest(queries, other_than=first)
    assert torch.equal(again, second), "two indices of one table are the same"


@needs_faiss
def test_few_rows_need_no_lists():
    with pytest.raises(ValueError, match=f"`index` 'ivf' needs {ivf.FEWEST} rows or more, got 1500"):
        Nearest(table(), MARGINAL, LAPLACE, index="ivf")


def test_without_faiss_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install noumena\[faiss\]`, or use 'exact'"):
        Nearest(table(), MARGINAL, LAPLACE, index="ivf")


def test_wrong_calls_are_refused(unchecked_shapes):
    with pytest.raises(ValueError, match="`table` must have factors to be near to"):
        Nearest(table(factors=None), MARGINAL, LAPLACE)
    with pytest.raises(ValueError, match="`marginal` must draw 4 latents, the factors of `images`; it draws 3"):
        Nearest(table(dim=4), MARGINAL, LAPLACE)
    with pytest.raises(ValueError, match="must live where the factors of `images` lie; [0-9]+ of 1500 rows"):
        Nearest(table(), Uniform(Box(3)), LAPLACE)
    with pytest.raises(ValueError, match="`index` cannot be 'flat'"):
        Nearest(table(), MARGINAL, LAPLACE, index="flat")
    with pytest.raises(ValueError, match="at least two rows"):
        Nearest(table(1), MARGINAL, LAPLACE)
    with pytest.raises(TypeError, match="`marginal` must be a `AbstractMarginal`"):
        Nearest(table(), LAPLACE, LAPLACE)
