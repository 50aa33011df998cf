"""Components that only tables of the tests name, by their importable path."""

from dataclasses import dataclass

import torch

from noumena.diagnostics import AbstractDiagnostic, Subject
from noumena.finding import Curve, Finding
from noumena.losses import AbstractLoss, LossOutput
from noumena.losses.base import check_embeddings
from noumena.spaces import AbstractSpace
from noumena.theory import AbstractComputation


@dataclass(frozen=True)
class PairDistance(AbstractDiagnostic):
    """Mean squared distance of pairs, in the world where scores are measured and in the one trained on."""

    n: int = 256

    @property
    def names(self) -> tuple[str, ...]:
        return ("distance", "trained_distance")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        sources = (subject.source, subject.trained_on)
        batches = [source.draw(self.n, generator) for source in sources]
        apart = [float((batch.z - batch.z_pos).square().sum(dim=1).mean()) for batch in batches]  # pyright: ignore
        return Finding(
            dict(zip(self.names, apart, strict=True)), {"apart": Curve([0.0, 1.0], apart, "world", "distance")}
        )


class Dimension(AbstractComputation):
    """Of the space, and a draw."""

    def __init__(self, space: AbstractSpace, power: int = 1) -> None:
        self.space, self.power = space, power

    @property
    def names(self) -> tuple[str, ...]:
        return ("dimension", "draw")

    def __call__(self, generator: torch.Generator) -> Finding:
        return Finding(
            {"dimension": float(self.space.dim**self.power), "draw": float(torch.rand(1, generator=generator))}
        )


class Nearness(AbstractLoss):
    """Mean squared distance of pairs; knows nothing of other processes."""

    def forward(self, embeddings):
        check_embeddings(embeddings)
        apart = (embeddings.h - embeddings.h_pos).square().sum(dim=1)
        return LossOutput(apart.mean(), apart, {})
