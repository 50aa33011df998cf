"""An encoder on fresh draws -> metrics."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .. import _checks
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
    mode: str = "eval",
    part: int | None = None,
) -> dict[str, MetricResult]:
    """Score an encoder on `n` fresh anchors, by name of the metric.

    Args:
        source: Must know its latents.
        encoder: Any module from observations to embeddings; its mode and its buffers are restored afterwards.
        metrics: What to measure.
        n: Anchors to draw; half of them fit and half score where a metric is held out.
        generator: Draws them; a generator of its own keeps measurement from changing training.
        mode: "eval", or "train" for embeddings by the statistics of the batch and with dropout, as some published
            scores were measured.
        part: Anchors that are drawn and encoded at a time, for observations that do not fit into memory together;
            all at once by default. In mode "train" it is the batch whose statistics count.
    """
    _checks.kind("source", source, AbstractPairSource, "Pass one such as `Given(x, x_pos, z)`.")
    _checks.kind("encoder", encoder, nn.Module, "Pass one such as `MLP(dim_in, dim_out, generator=generator)`.")
    for i, metric in enumerate(_checks.sequence("metrics", metrics)):
        _checks.kind(f"metrics[{i}]", metric, AbstractMetric, "Pass metrics such as `MCC()`.")
    _checks.choice("mode", mode, ("eval", "train"))
    z, h = _latents_and_embeddings(source, encoder, n, generator, mode, part)
    return {metric.name: metric(z, h) for metric in metrics}


@dataclass(frozen=True)
class Evaluation:
    """`evaluate`, ready for `train(measure=...)`: an encoder -> the value of each metric on fresh draws.

    A score of named blocks gives one number for each besides its value, as in "block_r2/content"; any score of single
    coordinates does so where these have names. Without metrics nothing is drawn.

    Args:
        coordinates: Names of the true coordinates; none by default.

    Other arguments as in `evaluate`. Pass `streams={"eval": generator}` too where the run keeps a checkpoint.
    """

    source: AbstractPairSource
    metrics: Sequence[AbstractMetric]
    n: int
    generator: torch.Generator
    mode: str = "eval"
    part: int | None = None
    coordinates: Sequence[str] = ()

    def __call__(self, encoder: nn.Module) -> dict[str, float]:
        if not self.metrics:
            return {}
        options: dict[str, Any] = {"n": self.n, "generator": self.generator, "mode": self.mode, "part": self.part}
        scores = evaluate(self.source, encoder, self.metrics, **options)
        return {key: value for name, score in scores.items() for key, value in self._numbers(name, score).items()}

    def _numbers(self, name: str, score: MetricResult) -> dict[str, float]:
        parts = dict(score.per_block or {})
        if score.per_block is None and score.per_coordinate is not None and self.coordinates:
            parts = dict(zip(self.coordinates, map(float, score.per_coordinate), strict=True))
        return {name: float(score), **{f"{name}/{part}": value for part, value in parts.items()}}


def _latents_and_embeddings(
    source: AbstractPairSource, encoder: nn.Module, n: int, generator: torch.Generator, mode: str, part: int | None
) -> tuple[Tensor, Tensor]:
    latents, embeddings = [], []
    with _in_mode(encoder, mode, generator):
        for batch in source.draw_parts(n, part or n, generator, _dtype(encoder)):
            if batch.z is None:
                raise ValueError("`source` has no latents to compare with; give `Given` the true factors as `z`.")
            latents.append(batch.z)
            embeddings.append(_encoded(encoder, batch.x) if mode == "eval" else encoder(batch.x))
    return torch.cat(latents), _checks.finite("h", torch.cat(embeddings))


@contextmanager
def _in_mode(encoder: nn.Module, mode: str, generator: torch.Generator) -> Iterator[None]:
    """The encoder in `mode`, and afterwards as it was: what layers keep of the batches that they see in training, and
    the global random state that dropout draws from, are those of training alone."""
    was_training = encoder.training
    kept = [buffer.clone() for buffer in encoder.buffers()] if mode == "train" else []
    encoder.train(mode == "train")
    devices = [generator.device] if generator.device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices, enabled=mode == "train"):
            if mode == "train":
                torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator, device=generator.device)))
            yield
    finally:
        encoder.train(was_training)
        for buffer, value in zip(encoder.buffers(), kept, strict=bool(kept)):
            buffer.copy_(value)


def _encoded(encoder: nn.Module, x: Tensor) -> Tensor:
    """In blocks of observations: thousands of images at once would fill the memory with what lies between layers."""
    rows = max(1, ENTRIES // max(1, x[:1].numel()))
    return torch.cat([encoder(block) for block in x.split(rows)])


def _dtype(encoder: nn.Module) -> torch.dtype:
    return next((p.dtype for p in encoder.parameters() if p.is_floating_point()), torch.float32)
