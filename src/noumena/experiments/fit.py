"""How well a trained loss is met: its value on fresh pairs, and the least that any encoder can reach."""

import torch

from ..losses import InfoNCE
from ..theory import loss_floor
from ..training import BatchGrowth, embed
from .build import Experiment

PAIRS = 2**24  # anchors times candidates that a value may look at; at least two batches are drawn


@torch.no_grad()
def fresh_loss(experiment: Experiment) -> dict[str, float]:
    """Mean and standard error of the loss over fresh batches of the last size, the encoder in evaluation mode."""
    encoder, loss, n = experiment.encoder, experiment.loss, _batch_size(experiment)
    assert loss is not None
    encoder.eval()
    dtype = next(encoder.parameters()).dtype
    values = [
        loss(embed(encoder, experiment.source.draw(n, experiment.streams.eval, dtype), loss)).total.double()
        for _ in range(_batches(n))
    ]
    return {"value": float(torch.stack(values).mean()), "error": float(torch.stack(values).std() / len(values) ** 0.5)}


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
