"""How much of the pairing embeddings tell: the score of held-out pairs."""

import math

import torch
from torch import Tensor

from ..batch import PairEmbeddings
from ..losses import AbstractLoss, AbstractScore, Dot, InfoNCE
from .objective import contrast

CANDIDATES = 1024  # the same for every estimator, so that scores compare whatever batches were trained on


@torch.no_grad()
def nats(h: Tensor, h_pos: Tensor, score: AbstractScore, spacing: int = 1) -> float:
    """log(B) minus InfoNCE in batches of B pairs, at most `CANDIDATES`, averaged over the pairs; in nats.

    0 for embeddings that tell nothing of who belongs to whom, at most log(B), and on fresh pairs at most the mutual
    information of a pair, in expectation (van den Oord et al., 2018).

    Args:
        h, h_pos: Embeddings of anchors and positives, (n, d).
        score: How alike two embeddings are.
        spacing: Rows from one anchor of a batch to the next, at least; above 1 for pairs in the order of time. Where
            batches are drawn at random a frame meets itself as a candidate, the positive of the frame before, and a
            sharp score is punished for being right. At 1 batches are a fixed shuffle.
    """
    n = len(h)
    batches = max(math.ceil(n / CANDIDATES), min(spacing, n // 2))
    order = torch.arange(n) if spacing > 1 else torch.randperm(n, generator=torch.Generator().manual_seed(0))
    loss, total = contrast(score), 0.0
    for first in range(batches):
        rows = order[first::batches].to(h.device)
        value = loss(PairEmbeddings(h[rows], h_pos[rows])).total
        total += len(rows) * (math.log(len(rows)) - float(value))
    return total / n


def critic(loss: AbstractLoss, h: Tensor, h_pos: Tensor, spacing: int = 1) -> AbstractScore:
    """What says how alike two embeddings are: the score a loss was trained with.

    The covariance contrast has none; it gets an inner product at the temperature that suits these embeddings best.
    """
    if isinstance(loss, InfoNCE):
        return loss.score
    from scipy.optimize import minimize_scalar

    h, h_pos = h[: 2 * CANDIDATES], h_pos[: 2 * CANDIDATES]
    best = minimize_scalar(
        lambda log_tau: -nats(h, h_pos, Dot(math.exp(log_tau)), spacing),
        bounds=(math.log(1e-4), math.log(1e2)),
        method="bounded",
        options={"xatol": 0.02},  # the score is flat at its top: two percent of a temperature cannot be seen
    )
    return Dot(math.exp(best.x))
