import numpy as np
import pytest
import torch

from noumena.mixings._weights import _batches, _below, orthogonal
from tests.statistics import z_score


@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("quantile", [0.01, 0.3, 0.99])
def test_the_quick_filter_loses_no_draw(generator, dim, quantile):
    (draws,) = _batches(dim, 5_000, generator)
    conditions = np.linalg.cond(draws.numpy())
    threshold = float(np.quantile(conditions, quantile)) * (1 + 1e-12)
    expected = draws[torch.as_tensor(conditions <= threshold)]
    assert torch.equal(_below(threshold, draws), expected)


def test_batches_add_up(generator):
    sizes = [len(batch) for batch in _batches(1500, 4, generator)]
    assert sizes == [1, 1, 1, 1]  # the memory of one batch is bounded, whatever the dimension


def test_orthogonal_matrices_are_uniform(generator):
    matrices = orthogonal(3, 100_000, generator)
    assert float((matrices @ matrices.mT - torch.eye(3).double()).abs().max()) < 1e-14
    # Under the uniform law entries have mean 0 and square 1/3, and both orientations are equally likely.
    for entry in (matrices[:, 0, 0], matrices[:, 2, 1], torch.linalg.det(matrices)):
        assert abs(z_score(entry, 0.0)) < 5
    assert abs(z_score(matrices[:, 1, 2].square(), 1 / 3)) < 5
    mutant = torch.linalg.qr(torch.randn(100_000, 3, 3, generator=generator, dtype=torch.float64)).Q
    assert abs(z_score(mutant[:, 0, 0], 0.0)) > 5  # signs left to the algorithm
