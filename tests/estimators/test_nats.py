"""The score, against loops over pairs."""

import math

import numpy as np
import pytest
import torch

from noumena.estimators import nats as module
from noumena.estimators.nats import critic, nats
from noumena.losses import CovarianceContrast, Dot, InfoNCE, Lp


def loops(h, h_pos, score, batch):
    """log B less both views' InfoNCE within one batch, candidates the other view of every pair."""
    total = 0.0
    for i in batch:
        for own, other in ((h, h_pos), (h_pos, h)):
            weights = [math.exp(score(own[i], other[j])) for j in batch]
            total += math.log(len(batch)) + math.log(math.exp(score(own[i], other[i])) / sum(weights))
    return total / 2


@pytest.fixture
def pairs(generator):
    h = torch.randn(23, 3, generator=generator, dtype=torch.float64)
    return h, h + 0.3 * torch.randn(23, 3, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(
    ("score", "plain"),
    [
        (Dot(0.5), lambda a, b: float(np.dot(a, b)) / 0.5),
        (Lp(1.0, 0.7), lambda a, b: -float(np.abs(a - b).sum()) / 0.7),
    ],
)
def test_one_batch_and_spaced_batches_agree_with_loops(score, plain, pairs):
    h, h_pos = (one.numpy() for one in pairs)
    assert nats(*pairs, score) == pytest.approx(loops(h, h_pos, plain, range(23)) / 23, abs=1e-10)
    spaced = sum(loops(h, h_pos, plain, range(first, 23, 5)) for first in range(5)) / 23
    assert nats(*pairs, score, spacing=5) == pytest.approx(spaced, abs=1e-10)
    # However wide the spacing, a batch keeps two pairs.
    assert math.isfinite(nats(*pairs, score, spacing=100))


def test_batches_are_bounded_and_cover_every_pair(pairs, monkeypatch):
    monkeypatch.setattr(module, "CANDIDATES", 10)
    sizes = []
    forward = InfoNCE.forward

    def watched(self, embeddings):
        sizes.append(len(embeddings.h))
        return forward(self, embeddings)

    monkeypatch.setattr(InfoNCE, "forward", watched)
    nats(*pairs, Dot())
    assert sum(sizes) == 23 and max(sizes) <= 10


def test_chance_is_zero_and_the_top_is_log_b(generator):
    h = torch.nn.functional.normalize(torch.randn(200, 8, generator=generator), dim=1)
    same = torch.ones_like(h)
    assert nats(same, same, Dot(1.0)) == pytest.approx(0, abs=1e-6)
    assert nats(h, h, Dot(1e-3)) == pytest.approx(math.log(200), abs=1e-6)


def test_consecutive_frames_do_not_meet_themselves(generator):
    """A slow walk at the score that fits it: in one batch each frame is also the positive of the frame before."""
    walk = (0.3 * torch.randn(400, 3, generator=generator, dtype=torch.float64)).cumsum(0)
    sharp = Lp(2.0, 2 * 0.3**2)
    together = nats(walk[:-1], walk[1:], sharp)
    apart = nats(walk[:-1], walk[1:], sharp, spacing=10)
    assert apart > math.log(40) / 2 and apart > together + 0.1


def test_the_covariance_contrast_gets_the_best_temperature(generator):
    h = torch.nn.functional.normalize(torch.randn(500, 3, generator=generator, dtype=torch.float64), dim=1)
    h_pos = torch.nn.functional.normalize(h + 0.4 * torch.randn(500, 3, generator=generator).double(), dim=1)
    found = critic(CovarianceContrast(), h, h_pos)
    grid = max(nats(h, h_pos, Dot(tau)) for tau in np.geomspace(0.01, 10, 200))
    assert nats(h, h_pos, found) == pytest.approx(grid, abs=1e-3)
    loss = InfoNCE(Dot(0.3))
    assert critic(loss, h, h_pos) is loss.score
