"""An encoder on fresh draws -> metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from .. import _checks
from ..batch import PairBatch
from ..metrics.base import AbstractMetric, MetricResult
from ..pairs.base import AbstractPairSource

ENTRIES = 2**23  # of observations that are encoded at once: 682 images of 3 x 64 x 64


@torch.no_grad()
def evaluate(
    source: AbstractPairSource,
    encoder: nn.Module,
    metrics: Sequence[AbstractMetric],
    *,
    n: int,
    generator: torch.Generator,
) -> dict[str, MetricResult]:
    """Score an encoder on `n` fresh anchors, in evaluation mode, by name of the metric.

    Args:
        source: Must know its latents.
        encoder: Any module from observations to embeddings; its mode is restored afterwards.
        metrics: What to measure.
        n: Anchors to draw; half of them fit and half score where a metric is held out.
        generator: Draws them; a generator of its own keeps measurement from changing training.
    """
    _checks.kind("source", source, AbstractPairSource, "Pass one such as `Given(x, x_pos, z)`.")
    _checks.kind("encoder", encoder, nn.Module, "Pass one such as `MLP(dim_in, dim_out, generator=generator)`.")
    for i, metric in enumerate(_checks.sequence("metrics", metrics)):
        _checks.kind(f"metrics[{i}]", metric, AbstractMetric, "Pass metrics such as `MCC()`.")
    batch = source.draw(n, generator, _dtype(encoder))
    return {metric.name: metric(*_latents_and_embeddings(batch, encoder)) for metric in metrics}


@dataclass(frozen=True)
class Evaluation:
    """`evaluate`, ready for `train(measure=...)`: an encoder -> the value of each metric on fresh draws.

    A score of named blocks gives one number for each besides its value, as in "block_r2/content".

    Arguments as in `evaluate`. Pass `streams={"eval": generator}` too where the run keeps a checkpoint.
    """

    source: AbstractPairSource
    metrics: Sequence[AbstractMetric]
    n: int
    generator: torch.Generator

    def __call__(self, encoder: nn.Module) -> dict[str, float]:
        scores = evaluate(self.source, encoder, self.metrics, n=self.n, generator=self.generator)
        return {key: value for name, score in scores.items() for key, value in _numbers(name, score).items()}


def _numbers(name: str, score: MetricResult) -> dict[str, float]:
    return {name: float(score), **{f"{name}/{block}": value for block, value in (score.per_block or {}).items()}}


def _latents_and_embeddings(batch: PairBatch, encoder: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    if batch.z is None:
        raise ValueError("`source` has no latents to compare with; give `Given` the true factors as `z`.")
    was_training = encoder.training
    encoder.eval()
    try:
        h = _encoded(encoder, batch.x)
    finally:
        encoder.train(was_training)
    return batch.z, _checks.finite("h", h)


def _encoded(encoder: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """In blocks of observations: thousands of images at once would fill the memory with what lies between layers."""
    rows = max(1, ENTRIES // max(1, x[:1].numel()))
    return torch.cat([encoder(block) for block in x.split(rows)])


def _dtype(encoder: nn.Module) -> torch.dtype:
    return next((p.dtype for p in encoder.parameters() if p.is_floating_point()), torch.float32)
