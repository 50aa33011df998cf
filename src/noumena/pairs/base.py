"""Who is paired with whom."""

from abc import ABC, abstractmethod

import torch

from .. import _checks
from ..batch import PairBatch


class AbstractPairSource(ABC):
    """An endless supply of batches of pairs. Subclasses define `_draw`, which sees checked arguments only."""

    @torch.no_grad()
    def draw(self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> PairBatch:
        """`n` pairs, on the generator's device; the generator alone decides which."""
        return self._draw(_checks.count("n", n), _checks.generator(generator), _checks.dtype(dtype))

    @abstractmethod
    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch: ...
