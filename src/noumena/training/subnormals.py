"""Numbers too small for the hardware's fast path."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def flushed() -> Iterator[None]:
    """Take subnormal numbers as 0 within the block, and leave the setting as it was found.

    Tight pairs fill the sums of a loss with them, and processors are tens of times slower on them.
    """
    tiny = torch.finfo(torch.float64).tiny
    before = float(torch.tensor(tiny, dtype=torch.float64) / 2) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
