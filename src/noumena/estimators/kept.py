"""Which encoder of a run is kept: the one that tells held-out pairs best."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

from ..losses import AbstractLoss
from ..training import Record
from .nats import critic, nats

LOOKED_AT = 4096  # held-out pairs; the score of so many is good to about a hundredth of a nat
SCORE = "score"


class Measure:
    """For `train(measure=...)`: an encoder -> its score on held-out pairs, the same ones at every record.

    Args:
        x, x_pos: Standardised anchors and positives.
        loss: What is trained; its score is the score's.
        spacing: See `nats`.
    """

    def __init__(self, x: Tensor, x_pos: Tensor, loss: AbstractLoss, spacing: int) -> None:
        self.x, self.x_pos, self.loss, self.spacing = x, x_pos, loss, spacing

    @torch.no_grad()
    def __call__(self, encoder: nn.Module) -> dict[str, float]:
        h, h_pos = encoder(self.x), encoder(self.x_pos)
        return {SCORE: nats(h, h_pos, critic(self.loss, h, h_pos, self.spacing), self.spacing)}


class Kept:
    """The state of encoder and loss at the record of best score; at the latest, where nothing is measured.

    Attributes:
        records: All that were seen.
        best: The one whose state is kept; None before the first.
    """

    def __init__(self, encoder: nn.Module, loss: nn.Module) -> None:
        self.modules = (encoder, loss)
        self.records: list[Record] = []
        self.best: Record | None = None
        self.states: list[dict] = []

    def add(self, record: Record) -> None:
        """Take note of a record, whose encoder is the present one."""
        self.records.append(record)
        if self.best is None or not record.metrics or record.metrics[SCORE] > self.best.metrics[SCORE]:
            self.best = record
            self.states = [copy.deepcopy(module.state_dict()) for module in self.modules]

    def restored(self) -> tuple[Any, Any]:
        """Encoder and loss as they were then; as they are now, if no record has come."""
        for module, state in zip(self.modules, self.states, strict=False):
            module.load_state_dict(state)
        return self.modules
