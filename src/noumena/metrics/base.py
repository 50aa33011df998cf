"""Recovered against true."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from .. import _checks


@dataclass(frozen=True, eq=False)
class MetricResult:
    """One score with what it is made of. `float(result)` is its value.

    Attributes:
        value: The score.
        chance: What recovered latents independent of the truth score on average, at this sample size.
        held_out: Whether the value was computed on rows that fitted nothing.
        per_coordinate: Its parts, one for each true coordinate (`CCAMCC`: one for each canonical pair), where the
            score has such parts; NaN for a coordinate that was not asked for.
        per_block: Its parts, one for each named block, for scores of blocks.
        assignment: For each true coordinate, the recovered one matched to it (-1 for none), where there is a matching.
        interval: Bootstrap interval (low, high) of the value, if one was asked for.
    """

    value: float
    chance: float
    held_out: bool
    per_coordinate: np.ndarray | None = None
    per_block: Mapping[str | int, float] | None = None
    assignment: np.ndarray | None = None
    interval: tuple[float, float] | None = None

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, kw_only=True)
class AbstractMetric(ABC):
    """A score of recovered latents `h` against true ones `z`. Subclasses are frozen dataclasses of options.

    Rows are samples; they are taken to be independent. Everything is computed in float64, on the CPU, from the given
    values and `seed` alone: the same call gives the same number, and no global random state is read or moved.

    Args:
        bootstrap: Resamples behind the interval, 200 for most uses; 0 gives none. The scoring rows are resampled with
            replacement and what was fitted stays fixed, so the interval says how far the score of *this* fit could
            move on new rows. At 95 % it covers about 94 % (normal latents, 80 to 300 scoring rows).
        confidence: Level of that interval, between its two percentiles.
        seed: Of the split, of the permutations behind a chance level, and of the bootstrap; each has its own stream.

    Attributes:
        name: What the score is called in records and tables; options that change its meaning are part of it.
        larger_is_better: The direction; the truth scores 1 if so and 0 if not.
        ignores: The maps of `h` that leave the score unchanged, in words.
    """

    bootstrap: int = 0
    confidence: float = 0.95
    seed: int = 0

    larger_is_better: ClassVar[bool] = True
    ignores: ClassVar[str]

    def __post_init__(self) -> None:
        if not 0 < _checks.number("confidence", self.confidence) < 1:
            raise ValueError(f"`confidence` must lie strictly between 0 and 1, got {self.confidence!r}.")
        # With fewer, the two percentiles would lie beyond the smallest and the largest resample.
        enough = max(20, math.ceil(2 / (1 - self.confidence) - 1e-6) - 1)
        if 0 < _checks.count("bootstrap", self.bootstrap, low=0) < enough:
            raise ValueError(
                f"`bootstrap` must be 0 for no interval, or at least {enough} for a confidence of "
                f"{self.confidence:g}; got {self.bootstrap}."
            )
        _checks.count("seed", self.seed, low=0)

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def __call__(self, z: ArrayLike | Tensor, h: ArrayLike | Tensor) -> MetricResult:
        """Score recovered `h` (n, k) against true `z` (n, d): NumPy arrays, torch tensors or lists of rows."""


@dataclass(frozen=True, kw_only=True)
class AbstractFittedMetric(AbstractMetric):
    """A metric that first fits something (a map, a matching), and so is scored on rows that fitted nothing.

    Args:
        held_out: Fit on one half of the rows and score on the other. The rows are put in the order of
            `numpy.random.default_rng([seed, 0]).permutation(n)`; the first n - n // 2 fit and the others score.
            False fits and scores all rows, as published scores do: it flatters, and more so the fewer the rows.
    """

    held_out: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.kind("held_out", self.held_out, bool)

    def _named(self, name: str) -> str:
        return name if self.held_out else f"{name}_in_sample"
