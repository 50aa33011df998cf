"""Rejection, in batches that shrink to the anchors still waiting."""

from collections.abc import Callable

import torch
from torch import Tensor


def first_accepted(
    z: Tensor, propose: Callable[[Tensor], tuple[Tensor, Tensor]], max_rounds: int | None = None
) -> tuple[Tensor, Tensor]:
    """The first accepted proposal for each row of `z`, and the rows still without one after `max_rounds`.

    Args:
        propose: From the indices of rows (k,), which may repeat, to one proposal each (k, d) and whether it is
            accepted (k,).
    """
    n, d = z.shape
    drawn, waiting, rounds = torch.empty_like(z), torch.arange(n, device=z.device), 0
    while len(waiting) and rounds != max_rounds:
        # Few rows cost what many do, so the last ones get several proposals at a time.
        each = min(64, n // len(waiting))
        x, accepted = propose(waiting.repeat_interleave(each))
        accepted = accepted.reshape(-1, each)
        done, first = accepted.any(dim=1), accepted.to(torch.uint8).argmax(dim=1)
        drawn[waiting[done]] = x.reshape(-1, each, d)[done, first[done]]
        waiting, rounds = waiting[~done], rounds + 1
    return drawn, waiting
