"""Why published precisions come out contracted: with both views as anchors the truth is not the optimum.

Second views are not uniform when positives vary unevenly, and the normaliser of their law depends on the anchor; a
score without either fits better once content is stretched against style. With first views alone as anchors and
candidates both terms cancel, and the truth is a stationary point.
"""

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.conditionals import Anisotropic
from noumena.losses import AnisotropicScore, InBatch, InfoNCE
from noumena.marginals import Uniform
from noumena.pairs import Synthetic
from noumena.spaces import Sphere
from tests.statistics import z_score

PRECISION = [25.0] * 5 + [5.0] * 5  # content and style, as in the paper's main figure
DIRECTION = torch.tensor([0.5] * 5 + [-0.5] * 5, dtype=torch.float64)


def slopes(candidates: InBatch, precision: list[float], batches: int = 40) -> list[float]:
    """By batch: how the loss changes as true latents are stretched by exp(t DIRECTION), at t = 0."""
    source = Synthetic(Uniform(Sphere(10)), Anisotropic(PRECISION, half=True))
    loss = InfoNCE(AnisotropicScore(precision, half=True, learnable=False), candidates)
    generator = torch.Generator().manual_seed(12)
    found = []
    for _ in range(batches):
        batch = source.draw(600, generator, torch.float64)
        assert batch.z is not None and batch.z_pos is not None
        t = torch.zeros((), dtype=torch.float64, requires_grad=True)
        stretched = [torch.nn.functional.normalize(z * (t * DIRECTION).exp(), dim=1) for z in (batch.z, batch.z_pos)]
        (slope,) = torch.autograd.grad(loss(PairEmbeddings(*stretched)).total, t)
        found.append(float(slope))
    return found


@pytest.mark.slow
def test_two_sided_anchors_want_content_stretched():
    assert z_score(slopes(InBatch(anchors="both", views="own"), PRECISION, batches=120), 0.0) < -5


def test_first_views_alone_are_at_rest_at_the_truth():
    assert abs(z_score(slopes(InBatch(), PRECISION), 0.0)) < 4
    # The mutant: precisions that do not match are not at rest.
    assert abs(z_score(slopes(InBatch(), [23.0] * 5 + [5.5] * 5, batches=30), 0.0)) > 5
