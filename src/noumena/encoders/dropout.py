"""Dropout that a seed fixes."""

import torch
from torch import Tensor, nn

from .. import _checks
from .._draws import Draws


class Dropout(nn.Module):
    """In training, entries are zero with probability `p` and the others grow by 1 / (1 - p); in evaluation nothing is.

    `torch.nn.Dropout` draws from the global generator, which no checkpoint of a run could bring back. This one has
    `Draws` of its own.

    Args:
        p: Probability, at least 0, below 1.
        generator: Gives the seed of the masks.
    """

    def __init__(self, p: float, *, generator: torch.Generator) -> None:
        super().__init__()
        if not 0 <= _checks.number("p", p) < 1:
            raise ValueError(f"`p` must be at least 0 and below 1, got {p!r}.")
        self.p = float(p)
        self.draws = Draws(generator)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        # Drawn in float32 whatever the dtype, so that a seed means one mask.
        draw = torch.rand(x.shape, generator=self.draws.next(x.device), dtype=torch.float32, device=x.device)
        return x * (draw >= self.p) / (1 - self.p)
