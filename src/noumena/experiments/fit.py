"""How well a trained loss is met: its value on fresh pairs, and the least that any encoder can reach."""

import math

import torch

from ..batch import PairEmbeddings
from ..losses import InfoNCE
from ..losses.base import AbstractLoss
from ..losses.gather import Gather
from ..theory import loss_floor
from ..training import BatchGrowth, embed
from .build import Experiment

PAIRS = 2**24  # anchors times candidates that a value may look at; at least two batches are drawn


@torch.no_grad()
def fresh_loss(experiment: Experiment) -> dict[str, float]:
    """Mean and standard error of the loss over fresh batches of the last size, the encoder in evaluation mode.

    For InfoNCE with the number of `negatives` of an anchor: losses compare after subtracting its logarithm.
    """
    encoder, loss, n = experiment.encoder, experiment.loss, _batch_size(experiment)
    assert loss is not None
    encoder.eval()
    head = dict(encoder.named_children()).get("head")
    if loss.uses_observations and head is not None:
        head.train()  # such a loss wants the variances, which are said in training alone
    dtype = next(encoder.parameters()).dtype
    values, negatives = [], {}
    for _ in range(_batches(n)):
        seen = embed(encoder, experiment.source.draw(n, experiment.streams.eval, dtype), loss)
        values.append(loss(seen).total.cpu().double())  # to the CPU first: not every device knows float64
        negatives = _negatives(loss, seen)
    encoder.eval()
    value, error = torch.stack(values).mean(), torch.stack(values).std() / len(values) ** 0.5
    return {"value": float(value), "error": float(error), **negatives}


def _negatives(loss: AbstractLoss, seen: PairEmbeddings) -> dict[str, float]:
    """How many candidates an anchor has besides its positive, each as often as it counts."""
    if not isinstance(loss, InfoNCE):
        return {}
    segments = loss.candidates.contrast(seen, Gather(False)).segments
    counts = [
        math.exp(one.layout.log_weight) * (one.candidates.shape[1] - (one.layout.excluded is not None))
        for one in segments
    ]
    return {"negatives": sum(counts)}


def floor(experiment: Experiment) -> dict[str, float] | None:
    """The Bayes-optimal loss and its standard error; None where no density ratio tells it."""
    loss, source, n = experiment.loss, experiment.source, _batch_size(experiment)
    if not isinstance(loss, InfoNCE):
        return None
    try:
        found = loss_floor(source, loss, n, generator=experiment.streams.eval, batches=_batches(n))  # pyright: ignore
    except (TypeError, ValueError):
        return None
    return found._asdict()


def _batch_size(experiment: Experiment) -> int:
    assert experiment.training is not None
    size = experiment.training["batch_size"]
    return size.end if isinstance(size, BatchGrowth) else size


def _batches(n: int) -> int:
    return max(2, min(50, PAIRS // n**2))
