"""Pairs whose columns have mean 0 and variance 1."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from ..batch import PairBatch
from ..pairs import AbstractPairSource


class Standardised(AbstractPairSource):
    """(x - mean) / scale of another source's observations.

    Taken in float64 before they are cast: a column of large mean and small variance has no digits left in float32.

    Args:
        source: Draws the pairs.
        mean, scale: Of each column.
    """

    def __init__(self, source: AbstractPairSource, mean: np.ndarray, scale: np.ndarray) -> None:
        self.source = source
        self.mean, self.scale = torch.from_numpy(mean), torch.from_numpy(scale)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        batch = self.source.draw(n, generator, torch.float64)
        return replace(batch, x=self._standardise(batch.x).to(dtype), x_pos=self._standardise(batch.x_pos).to(dtype))

    def _standardise(self, x: Tensor) -> Tensor:
        return (x - self.mean.to(x.device)) / self.scale.to(x.device)
