"""The pairs that `fit` and `score` are given: two arrays, or one in the order of time."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from .. import _checks
from ..pairs import AbstractPairSource, Given, Temporal
from ..pairs.temporal import anchors

FLOATS: Any = (np.float64, np.float32)  # kept as they are; other numbers become the first
FEWEST = 10  # held-out pairs that are worth listening to
BLOCKS = 100
APART = 10  # lags between two anchors that are contrasted when frames are scored


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows and who is paired with whom.

    Attributes:
        x: Anchors, or frames in the order of time.
        x_pos: Positives; None if a frame's positive is the one `lag` frames later.
        lag, episodes: See `Temporal`; without meaning for given pairs.
    """

    x: np.ndarray
    x_pos: np.ndarray | None
    lag: int = 1
    episodes: np.ndarray | None = None

    @property
    def anchors(self) -> np.ndarray:
        """The rows of `x` that have a positive."""
        return np.arange(len(self.x)) if self.x_pos is not None else anchors(len(self.x), self.lag, self.episodes)

    def source(self, among: np.ndarray) -> AbstractPairSource:
        """The pairs of these anchors, without a copy."""
        if self.x_pos is not None:
            return Given(self.x, self.x_pos, among=among)
        return Temporal(self.x, self.lag, self.episodes, among=among)

    @property
    def spacing(self) -> int:
        """Rows between two anchors that a score may contrast; see `nats`."""
        return 1 if self.x_pos is not None else APART * self.lag

    def pairs(self, among: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """These anchors and their positives."""
        return self.x[among], self.x[among + self.lag] if self.x_pos is None else self.x_pos[among]

    def split(self, fraction: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Anchors to train on, and anchors held out; none are held out where they would be fewer than `FEWEST`.

        Given pairs are held out at random. Frames are held out in whole stretches, one after another in random order,
        and pairs that share a frame with them are dropped: a frame's neighbours would otherwise have been trained on.
        """
        every = self.anchors
        if fraction * len(every) < FEWEST:
            return every, every[:0]
        if self.x_pos is not None:
            shuffled = generator.permutation(every)
            held = round(fraction * len(every))
            return np.sort(shuffled[held:]), np.sort(shuffled[:held])
        # Stretches of at least ten lags where there are enough frames, so that little is dropped between them.
        blocks = np.array_split(every, max(math.ceil(1 / fraction), min(BLOCKS, len(every) // (APART * self.lag))))
        chosen = generator.permutation(len(blocks))[: max(1, round(fraction * len(blocks)))]
        held = np.concatenate([blocks[i] for i in chosen])
        seen = np.zeros(len(self.x), dtype=bool)
        seen[held] = seen[held + self.lag] = True
        return every[~(seen[every] | seen[every + self.lag])], held


def read(estimator: BaseEstimator, X: Any, y: Any, X_pos: Any, groups: Any, *, lag: int, reset: bool) -> Rows:
    """The arguments of `fit` and `score`, checked; `reset` says whether the estimator takes note of the columns."""
    x: Any = validate_data(estimator, X, dtype=FLOATS, ensure_min_samples=2, reset=reset)
    if X_pos is None and y is not None and np.asarray(y).ndim > 1:
        X_pos = y
    if X_pos is None:
        return Rows(x, None, _checks.count("lag", lag), None if groups is None else np.asarray(groups))
    if groups is not None:
        raise ValueError("`groups` says where sequences end, and given positives need none; leave it out.")
    x_pos: Any = check_array(X_pos, dtype=FLOATS, input_name="X_pos")
    if x_pos.shape != x.shape:
        raise ValueError(
            f"`X_pos` must have the shape of `X`, {x.shape}, a positive for each row; got {x_pos.shape}. "
            "A second argument with two axes is taken as positives; targets have one axis."
        )
    validate_data(estimator, X_pos, reset=False, skip_check_array=True)  # refuses columns of other names
    return Rows(x, x_pos)
