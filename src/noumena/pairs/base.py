"""Who is paired with whom."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch

from .. import _checks
from ..batch import PairBatch


class AbstractPairSource(ABC):
    """An endless supply of batches of pairs. Subclasses define `_draw`, which sees checked arguments only."""

    @torch.no_grad()
    def draw(self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> PairBatch:
        """`n` pairs, on the generator's device; the generator alone decides which."""
        return self._draw(_checks.count("n", n), _checks.generator(generator), _checks.dtype(dtype))

    def draw_parts(
        self, n: int, size: int, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Iterator[PairBatch]:
        """`n` pairs in parts of at most `size`, for observations that do not fit into memory together."""
        _checks.generator(generator)
        return self._draw_parts(_checks.count("n", n), _checks.count("size", size), generator, _checks.dtype(dtype))

    def _draw_parts(self, n: int, size: int, generator: torch.Generator, dtype: torch.dtype) -> Iterator[PairBatch]:
        """Draws one after another; a source that draws without replacement minds its parts."""
        for begin in range(0, n, size):
            yield self.draw(min(size, n - begin), generator, dtype)

    @abstractmethod
    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch: ...
