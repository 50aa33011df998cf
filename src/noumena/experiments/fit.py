"""How well a trained loss is met: its value on fresh pairs, and the least that any encoder can reach."""

import math
from dataclasses import replace
from typing import NamedTuple

import torch

from ..batch import PairBatch, PairEmbeddings
from ..losses import InfoNCE
from ..losses.base import AbstractLoss
from ..losses.gather import Gather
from ..theory import loss_floor
from ..training import BatchGrowth, embed
from .build import Experiment

PAIRS = 2**22  # anchors times candidates that a value may look at; at least two batches are drawn


class Fit(NamedTuple):
    """What a trained loss has come to.

    Attributes:
        fresh: Its `value` and standard `error` over fresh batches of the last size, the encoder in evaluation mode; for
            InfoNCE with the number of `negatives` of an anchor, since losses compare after subtracting its logarithm.
        floor: The Bayes-optimal `value` and `error` on the same draws, so that their difference, the gap, is known far
            better than either; None where no floor is known.
        no_floor: Why there is none.
    """

    fresh: dict[str, float]
    floor: dict[str, float] | None
    no_floor: str | None


def fit(experiment: Experiment) -> Fit:
    """Measure the loss on fresh pairs, beside its floor."""
    if experiment.mixing is None:
        why = "the laws of stored images are not known, or not those that they were looked up by."
        return Fit(_fresh_loss(experiment), None, why)
    draws = experiment.streams.eval
    state = draws.get_state()
    fresh = _fresh_loss(experiment)
    after = draws.get_state()
    draws.set_state(state)
    n = _batch_size(experiment)
    try:
        found = loss_floor(experiment.source, experiment.loss, n, generator=draws, batches=_batches(n))  # pyright: ignore
    except (TypeError, ValueError) as error:
        return Fit(fresh, None, str(error))
    finally:
        draws.set_state(after)
    return Fit(fresh, found._asdict(), None)


@torch.no_grad()
def _fresh_loss(experiment: Experiment) -> dict[str, float]:
    encoder, loss, n = experiment.encoder, experiment.loss, _batch_size(experiment)
    assert loss is not None
    encoder.eval()
    head = dict(encoder.named_children()).get("head")
    if loss.uses_observations and head is not None:
        head.train()  # such a loss wants the variances, which are said in training alone
    dtype = next(encoder.parameters()).dtype
    values, negatives = [], {}
    for _ in range(_batches(n)):
        # A floor draws in float64, from the same stream.
        drawn = dtype if experiment.mixing is None else torch.float64
        batch = experiment.source.draw(n, experiment.streams.eval, drawn)
        seen = embed(encoder, _cast(batch, dtype), loss)
        values.append(loss(seen).total.cpu().double())  # to the CPU first: not every device knows float64
        negatives = _negatives(loss, seen)
    encoder.eval()
    value, error = torch.stack(values).mean(), torch.stack(values).std() / len(values) ** 0.5
    return {"value": float(value), "error": float(error), **negatives}


def _cast(batch: PairBatch, dtype: torch.dtype) -> PairBatch:
    names = ("x", "x_pos", "x_neg", "z", "z_pos", "z_neg")
    present = {name: rows for name in names if (rows := getattr(batch, name)) is not None}
    return replace(batch, **{name: rows.to(dtype) for name, rows in present.items()})


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


def _batch_size(experiment: Experiment) -> int:
    assert experiment.training is not None
    size = experiment.training["batch_size"]
    return size.end if isinstance(size, BatchGrowth) else size


def _batches(n: int) -> int:
    return max(2, min(50, PAIRS // n**2))
