"""Who is paired with whom."""

from abc import ABC, abstractmethod

import torch

from ..batch import PairBatch


class AbstractPairSource(ABC):
    """An endless supply of batches of pairs."""

    @abstractmethod
    def draw(self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> PairBatch:
        """`n` pairs, on the generator's device; the generator alone decides which."""
