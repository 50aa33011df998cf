"""Recovered against true."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class MetricResult:
    """One score with what it is made of. `float(result)` is its value.

    Attributes:
        value: The score.
        per_coordinate: Its parts, one for each true latent coordinate, where the score has such parts.
        assignment: For each true coordinate, the recovered one matched to it (-1 for none), where there is a matching.
        chance: What recovered latents independent of the truth score on average, at this sample size.
        interval: Bootstrap interval (low, high) of the value, if one was asked for.
        held_out: Whether the value was computed on rows that fitted nothing.
    """

    value: float
    chance: float
    held_out: bool
    per_coordinate: np.ndarray | None = None
    assignment: np.ndarray | None = None
    interval: tuple[float, float] | None = None

    def __float__(self) -> float:
        return self.value


class AbstractMetric(ABC):
    """A score of recovered latents `h` against true ones `z`. Subclasses are frozen dataclasses of options.

    Attributes:
        name: What the score is called in records and tables.
        larger_is_better: The direction.
        ignores: The maps of `h` that leave the score unchanged, in words.
    """

    name: str
    larger_is_better: bool = True
    ignores: str

    @abstractmethod
    def __call__(self, z: ArrayLike, h: ArrayLike) -> MetricResult:
        """Score recovered `h` (n, k) against true `z` (n, d): NumPy arrays or torch tensors."""
