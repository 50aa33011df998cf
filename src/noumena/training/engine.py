"""The training loop: a generator of records."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from .. import _checks
from ..batch import PairBatch, PairEmbeddings
from ..losses.base import AbstractLoss, LossOutput
from ..pairs.base import AbstractPairSource
from .record import Record


@dataclass(frozen=True)
class Schedule:
    """Learning rates over a run: a linear warm-up, then half a cosine down to zero.

    Args:
        warmup: Share of the steps spent warming up.
    """

    warmup: float = 0.02

    def __post_init__(self) -> None:
        _checks.within("warmup", self.warmup, 0.0, 1.0)

    def factor(self, step: int, steps: int) -> float:
        """What the learning rate is multiplied by at `step` of `steps`."""
        warm = self.warmup * steps
        if step < warm:
            return (step + 1) / (warm + 1)
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1.0, steps - warm)))


def train(
    source: AbstractPairSource,
    encoder: nn.Module,
    loss: AbstractLoss,
    *,
    optimizer: torch.optim.Optimizer,
    steps: int,
    batch_size: int,
    generator: torch.Generator,
    schedule: Schedule | None = None,
    every: int = 100,
    measure: Callable[[], dict[str, float]] | None = None,
) -> Iterator[Record]:
    """Train, and yield a record every `every` steps. Stop whenever you like: leave the loop.

    Args:
        source: Draws the batches, `batch_size` pairs each.
        encoder: Any module from observations to embeddings.
        loss: Its learned values (temperature, precision) are trained if the optimiser holds them.
        optimizer: Over the parameters of encoder and loss.
        steps, batch_size: How long, and how many pairs a step.
        generator: The stream of training pairs.
        schedule: Learning rates; constant by default.
        every: Steps between records.
        measure: Called for each record, with the model as it stands; returns named numbers.
    """
    _checks.kind("source", source, AbstractPairSource, "Pass one such as `Given(x, x_pos)`.")
    _checks.kind("encoder", encoder, nn.Module, "Pass one such as `MLP(dim_in, dim_out, generator=generator)`.")
    _checks.kind("loss", loss, AbstractLoss, "Pass one such as `InfoNCE(Dot(tau=0.1))`.")
    _checks.kind("optimizer", optimizer, torch.optim.Optimizer)
    _checks.count("steps", steps)
    _checks.count("batch_size", batch_size)
    _checks.generator(generator)
    _checks.count("every", every)
    if not any(parameter.requires_grad for parameter in encoder.parameters()):
        raise ValueError("`encoder` must have parameters to train, got none.")
    return _steps(source, encoder, loss, optimizer, steps, batch_size, generator, schedule, every, measure)


def _steps(
    source: AbstractPairSource,
    encoder: nn.Module,
    loss: AbstractLoss,
    optimizer: torch.optim.Optimizer,
    steps: int,
    batch_size: int,
    generator: torch.Generator,
    schedule: Schedule | None,
    every: int,
    measure: Callable[[], dict[str, float]] | None,
) -> Iterator[Record]:
    """The loop itself, apart so that a wrong call fails where it stands and not where its records are read."""
    base_rates = [group["lr"] for group in optimizer.param_groups]
    dtype = next(encoder.parameters()).dtype
    seconds, since, losses, parts = 0.0, time.perf_counter(), 0.0, dict[str, float]()
    covered = 0
    for step in range(1, steps + 1):
        if schedule is not None:
            factor = schedule.factor(step - 1, steps)
            for group, rate in zip(optimizer.param_groups, base_rates, strict=True):
                group["lr"] = rate * factor
        output = loss(embed(encoder, source.draw(batch_size, generator, dtype), loss))
        optimizer.zero_grad(set_to_none=True)
        output.total.backward()
        optimizer.step()
        covered += 1
        losses += _finite_loss(output, step)
        for name, part in output.parts.items():
            parts[name] = parts.get(name, 0.0) + float(part)
        if step % every == 0 or step == steps:
            seconds += time.perf_counter() - since
            means = {name: total / covered for name, total in parts.items()}
            yield Record(step, seconds, losses / covered, means, {} if measure is None else measure())
            since, losses, parts, covered = time.perf_counter(), 0.0, {}, 0


def embed(encoder: nn.Module, batch: PairBatch, loss: AbstractLoss) -> PairEmbeddings:
    """A batch as the loss may see it: embeddings, and latents only for a loss that says it uses them.

    Everything is encoded in one call, so that a layer with batch statistics sees one batch.
    """
    views = [batch.x, batch.x_pos]
    if batch.x_neg is not None:
        views.append(batch.x_neg.reshape(-1, *batch.x.shape[1:]))
    h, h_pos, *rest = encoder(torch.cat(views)).split([len(view) for view in views])
    h_neg = None
    if batch.x_neg is not None:
        leading = batch.x_neg.shape[: batch.x_neg.ndim - batch.x.ndim + 1]
        h_neg = rest[0].reshape(*leading, -1)
    seen = (batch.z, batch.z_pos) if loss.uses_latents else (None, None)
    return PairEmbeddings(h, h_pos, h_neg, z=seen[0], z_pos=seen[1], group_size=batch.group_size)


def _finite_loss(output: LossOutput, step: int) -> float:
    value = float(output.total.detach())
    if not math.isfinite(value):
        raise ArithmeticError(
            f"the loss is {value} at step {step}: training diverged. Lower the learning rate, or raise the temperature."
        )
    return value
