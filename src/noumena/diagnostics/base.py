"""What a diagnostic looks at, and what it says."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from .. import _checks
from ..batch import PairBatch
from ..finding import Finding
from ..losses.base import AbstractLoss


@runtime_checkable
class Source(Protocol):
    """Draws pairs, as `pairs.AbstractPairSource` does."""

    def draw(self, n: int, generator: torch.Generator, dtype: torch.dtype = ...) -> PairBatch: ...


@dataclass(frozen=True, eq=False)
class Subject:
    """A learner and its world.

    Attributes:
        source: Where scores are measured.
        encoder: As it ended; in evaluation mode.
        loss: That it was trained with; None where nothing was trained.
        trained_on: The source of its training pairs; `source` itself unless a table says otherwise.
    """

    source: Source
    encoder: nn.Module
    loss: AbstractLoss | None
    trained_on: Source


class AbstractDiagnostic(ABC):
    """A reader of more than embeddings against latents, which `metrics` are for: of the pairs, the loss, the laws.

    Subclasses are frozen dataclasses of options and define `_read`.
    """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Of the numbers it gives, so that a table can report them."""

    @torch.no_grad()
    def __call__(self, subject: Subject, generator: torch.Generator) -> Finding:
        """Numbers and curves; the generator decides every draw."""
        _checks.kind("subject", subject, Subject, "Write Subject(source, encoder, loss, trained_on).")
        was_training = subject.encoder.training
        subject.encoder.eval()
        try:
            found = self._read(subject, _checks.generator(generator))
        finally:
            subject.encoder.train(was_training)
        assert set(found.values) <= set(self.names), "a diagnostic must name its numbers"
        return found

    @abstractmethod
    def _read(self, subject: Subject, generator: torch.Generator) -> Finding: ...
