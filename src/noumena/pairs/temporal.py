"""Pairs of neighbouring frames."""

import numpy as np
import torch

from .. import _checks
from ..batch import PairBatch
from .base import AbstractPairSource
from .given import Given, Rows


class Temporal(AbstractPairSource):
    """Rows are frames in their order, and a frame's positive is the one `lag` frames later.

    For sequences whose factors move a little from frame to frame. No frame is drawn twice as an anchor of one batch,
    and no pair reaches from one episode into another. Frames are indexed, never copied, so memory-mapped files stay
    on disk.

    What the theory asks of pairs it asks of a frame and its successor here: the law of a frame (over the whole
    recording) is the marginal, and the law of a step is the conditional.

    Args:
        x: Frames (rows, ...), a NumPy array or a tensor.
        lag: Frames from an anchor to its positive, at least 1.
        episodes: A label for each frame, numbers or strings: consecutive frames of one label are one episode (a
            session, a trial, a file). By default all frames are one episode.
        z: The true factors (rows, d), where known.
        among: The anchors that may be drawn, by row; all with a positive by default.
    """

    def __init__(
        self,
        x: Rows,
        lag: int = 1,
        episodes: np.ndarray | None = None,
        z: Rows | None = None,
        *,
        among: np.ndarray | None = None,
    ) -> None:
        self.anchors = anchors(len(x), lag, episodes)
        if among is not None and not np.isin(among, self.anchors).all():
            strangers = np.setdiff1d(among, self.anchors)
            raise ValueError(
                f"`among` must name frames with a positive {lag} frames later in their episode; {len(strangers)} of "
                f"{len(among)} have none, the first is row {strangers[0]}."
            )
        chosen = self.anchors if among is None else among
        if z is not None and len(z) != len(x):
            raise ValueError(f"`z` must have {len(x)} rows, one for each frame of `x`; got {len(z)}.")
        # Shifted against itself, a sequence is two arrays whose rows belong together; slices are views, not copies.
        factors = (None, None) if z is None else (z[:-lag], z[lag:])
        self.pairs = Given(x[:-lag], x[lag:], *factors, among=chosen)
        self.lag = lag

    def __len__(self) -> int:
        """The number of pairs that may be drawn."""
        return len(self.pairs)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        return self.pairs._draw(n, generator, dtype)


def anchors(rows: int, lag: int, episodes: np.ndarray | None = None) -> np.ndarray:
    """The frames, of `rows`, that have a positive `lag` frames later in their own episode; refused if none has."""
    _checks.count("lag", lag)
    first = np.arange(max(0, rows - lag))
    where = f"{rows} frames"
    if episodes is not None:
        _checks.kind("episodes", episodes, np.ndarray, "numpy.asarray converts lists.")
        if episodes.shape != (rows,):
            raise ValueError(
                f"`episodes` must have the shape ({rows},), a label for each frame; got {tuple(episodes.shape)}."
            )
        # A label that comes back after another one begins an episode anew.
        number = np.concatenate([[0], np.cumsum(episodes[1:] != episodes[:-1])])
        first = first[number[first] == number[first + lag]]
        where += f" in {number[-1] + 1} episodes"
    if len(first) == 0:
        raise ValueError(
            f"`lag` must be less than the frames of some episode, got {lag} for {where}; lower it or give longer "
            "sequences."
        )
    return first
