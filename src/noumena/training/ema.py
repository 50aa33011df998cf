"""An average of an encoder over its past."""

import copy
from dataclasses import dataclass

import torch
from torch import nn

from .. import _checks


@dataclass(frozen=True)
class EMA:
    """Evaluate, and end with, an exponential moving average of the parameters: less noise at a constant rate.

    Args:
        decay: Weight of the past in each step, at least 0, below 1. Early on it is at most (1 + step) / (10 + step),
            so that the initial values are soon forgotten.
    """

    decay: float = 0.999

    def __post_init__(self) -> None:
        if not 0 <= _checks.number("decay", self.decay) < 1:
            raise ValueError(f"`decay` must be at least 0 and below 1, got {self.decay!r}.")


class Averaged:
    """The average itself. Buffers, such as the statistics of a batch normalisation, are those of the last step."""

    def __init__(self, ema: EMA, encoder: nn.Module) -> None:
        self.ema = ema
        self.encoder = copy.deepcopy(encoder).requires_grad_(False)

    @torch.no_grad()
    def update(self, encoder: nn.Module, step: int) -> None:
        """Move towards `encoder`, which has taken `step` steps."""
        decay = min(self.ema.decay, (1 + step) / (10 + step))
        for average, latest in zip(self.encoder.parameters(), encoder.parameters(), strict=True):
            average.lerp_(latest, 1 - decay)
        _copy(encoder.buffers(), self.encoder.buffers())

    @torch.no_grad()
    def copy_to(self, encoder: nn.Module) -> None:
        _copy(self.encoder.parameters(), encoder.parameters())
        _copy(self.encoder.buffers(), encoder.buffers())


def _copy(sources, targets) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)
