"""Square matrices for mixings: well-conditioned by rejection, or orthogonal."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from .. import _rng

_ENTRIES = 2**22  # of one batch of draws: 32 MB in float64
_PATIENCE = 50  # pools' worth of rejected draws before the pool itself is drawn again


class Conditioned(NamedTuple):
    """Matrices (count, dim, dim) whose condition numbers are at most `threshold`."""

    matrices: Tensor
    threshold: float


def conditioned(dim: int, count: int, generator: torch.Generator, pool: int, quantile: float) -> Conditioned:
    """Matrices with unit columns, of entries Uniform(-1, 1) before scaling, accepted below one shared threshold.

    The threshold is the given quantile of the condition numbers of `pool` draws, and each matrix is drawn until it
    does not exceed it. For quantile 0 (the pool's smallest) the waiting time is heavy-tailed: it exceeds m pools with
    probability 1 / (m + 1) for one matrix, and has no mean. Most waits are a few pools; after 50 everything starts
    again with a new pool. So the law is the published one given a shorter wait, which is nearer to it than about
    count / 50 in total variation, and the same for quantiles that are not extreme.

    Keeping the best of a pool for each matrix has bounded cost and is another law: the best of `pool` draws falls at
    the quantile 1 / pool on average, a draw accepted below the best of `pool` at half of that.
    """
    while True:
        conditions = torch.cat([_condition_numbers(batch) for batch in _batches(dim, pool, generator)])
        threshold = float(conditions.sort().values[min(int(pool * quantile), pool - 1)])
        kept: list[Tensor] = []
        for _ in range(_PATIENCE):
            for batch in _batches(dim, pool, generator):
                kept += _below(threshold, batch)[:count]
            if len(kept) >= count:
                return Conditioned(torch.stack(kept[:count]), threshold)


def orthogonal(dim: int, count: int, generator: torch.Generator) -> Tensor:
    """Orthogonal matrices (count, dim, dim) from the uniform (Haar) law, in float64."""
    q, r = torch.linalg.qr(_rng.normal((count, dim, dim), generator, torch.float64))
    # QR leaves the signs of R's diagonal to the algorithm; fixing them makes the law of Q uniform.
    return q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)


def _batches(dim: int, total: int, generator: torch.Generator) -> Iterator[Tensor]:
    """`total` draws, in batches of bounded memory."""
    most = max(1, _ENTRIES // dim**2)
    for start in range(0, total, most):
        shape = (min(most, total - start), dim, dim)
        entries = torch.empty(shape, dtype=torch.float64, device=generator.device).uniform_(-1, 1, generator=generator)
        yield entries / torch.linalg.vector_norm(entries, dim=1, keepdim=True)


def _condition_numbers(matrices: Tensor) -> Tensor:
    values = torch.linalg.svdvals(matrices)
    return values[:, 0] / values[:, -1]


def _below(threshold: float, matrices: Tensor) -> Tensor:
    """Those of `matrices` whose condition number is at most `threshold`, in order."""
    # Kantorovich's inequality for the eigenvalues of W'W, whose mean is 1: a condition number of at most t implies
    # |W^-1|^2 <= dim (t + 1/t)^2 / 4 in the Frobenius norm. An inverse is far cheaper than singular values, and turns
    # away nearly all of the draws that would fail.
    dim = matrices.shape[-1]
    size = torch.linalg.inv_ex(matrices).inverse.square().sum((1, 2))
    rounding = math.sqrt(torch.finfo(size.dtype).eps)
    likely = matrices[size <= dim * (threshold + 1 / threshold) ** 2 / 4 * (1 + rounding)]
    return likely[_condition_numbers(likely) <= threshold]
