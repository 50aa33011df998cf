"""First and second moments of pairs, in one pass over arrays that need not fit into memory."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from . import arrays
from .arrays import Rows

GROUPS = 16  # row i belongs to group i mod 16: groups are exchangeable, and jackknives leave one out
ALL = tuple(range(GROUPS))
FIND = ALL[::2]  # the even rows; what is found on them is measured on the odd ones


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over each group, about an origin near the mean, so that squares do not cancel.

    Attributes:
        count: Pairs of each group.
        anchor, positive: Sums of rows.
        anchors, positives, differences: Sums of outer products; of `h_pos - h` for the last.
        origin: What rows are counted from.
        low, high: Extremes of each coordinate over both views.
        shortest, longest: Extremes of the length of rows.
    """

    count: Float[Tensor, " g"]
    anchor: Float[Tensor, "g d"]
    positive: Float[Tensor, "g d"]
    anchors: Float[Tensor, "g d d"]
    positives: Float[Tensor, "g d d"]
    differences: Float[Tensor, "g d d"]
    origin: Float[Tensor, " d"]
    low: Float[Tensor, " d"]
    high: Float[Tensor, " d"]
    shortest: float
    longest: float

    def difference(self, groups: Sequence[int] = ALL) -> Float[Tensor, "d d"]:
        """Half the mean outer product of `h_pos - h`: the covariance itself where positives ignore their anchors."""
        return self.differences[list(groups)].sum(dim=0) / (2 * self._n(groups))

    def mean(self, groups: Sequence[int] = ALL) -> Float[Tensor, " d"]:
        """Over both views."""
        chosen = list(groups)
        return self.origin + (self.anchor[chosen] + self.positive[chosen]).sum(dim=0) / (2 * self._n(groups))

    def covariance(self, groups: Sequence[int] = ALL) -> Float[Tensor, "d d"]:
        """Of both views pooled."""
        chosen = list(groups)
        second = (self.anchors[chosen] + self.positives[chosen]).sum(dim=0) / (2 * self._n(groups))
        shift = self.mean(groups) - self.origin
        return second - torch.outer(shift, shift)

    def of_anchors(self) -> tuple[Float[Tensor, " d"], Float[Tensor, "d d"]]:
        """Mean of the anchors alone, and mean of their outer products, about zero."""
        n = self._n(ALL)
        mean = self.anchor.sum(dim=0) / n
        second = self.anchors.sum(dim=0) / n
        cross = torch.outer(mean, self.origin)
        return self.origin + mean, second + cross + cross.mT + torch.outer(self.origin, self.origin)

    def rescaled(self, offset: Tensor, scale: Tensor) -> "Moments":
        """Those of (h - offset) * scale. Lengths of rows are left as they are."""
        return replace(
            self,
            anchor=self.anchor * scale,
            positive=self.positive * scale,
            **{
                name: getattr(self, name) * torch.outer(scale, scale)
                for name in ("anchors", "positives", "differences")
            },
            origin=(self.origin - offset) * scale,
            low=(self.low - offset) * scale,
            high=(self.high - offset) * scale,
        )

    def _n(self, groups: Sequence[int]) -> Tensor:
        return self.count[list(groups)].sum()


def accumulate(h: Rows, h_pos: Rows, progress: Callable[[float], None]) -> Moments:
    """Moments of all rows; `progress` is told the share that was read."""
    d = h.shape[1]
    sums = {name: torch.zeros(GROUPS, d, dtype=torch.float64) for name in ("anchor", "positive")}
    squares = {name: torch.zeros(GROUPS, d, d, dtype=torch.float64) for name in ("anchors", "positives", "differences")}
    count = torch.zeros(GROUPS, dtype=torch.float64)
    origin, low, high = (torch.full((d,), value, dtype=torch.float64) for value in (0.0, math.inf, -math.inf))
    shortest, longest, done = math.inf, 0.0, 0
    for block, block_pos in zip(arrays.blocks("h_anchor", h), arrays.blocks("h_positive", h_pos), strict=True):
        origin = block.mean(dim=0) if done == 0 else origin
        for rows in (block, block_pos):
            low, high = torch.minimum(low, rows.amin(dim=0)), torch.maximum(high, rows.amax(dim=0))
            lengths = rows.norm(dim=1)
            shortest, longest = min(shortest, float(lengths.min())), max(longest, float(lengths.max()))
        # A block starts at a multiple of the number of groups, so that strides are groups.
        for group in range(min(GROUPS, len(block))):
            a, b = block[group::GROUPS], block_pos[group::GROUPS]
            count[group] += len(a)
            for name, rows in (("anchor", a - origin), ("positive", b - origin)):
                sums[name][group] += rows.sum(dim=0)
                squares[f"{name}s"][group] += rows.mT @ rows
            squares["differences"][group] += (b - a).mT @ (b - a)
        done += len(block)
        progress(done / len(h))
    return Moments(count, **sums, **squares, origin=origin, low=low, high=high, shortest=shortest, longest=longest)
