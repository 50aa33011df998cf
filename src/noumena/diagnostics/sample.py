"""Some pairs, in two halves: what is found on one half is measured on the other, so that looking does not bias."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from . import arrays
from .arrays import Rows
from .moments import Moments
from .support import Support

HALF = 32_768  # pairs of each half at most


class Half(NamedTuple):
    """Pairs in the unit of their space."""

    h: Float[Tensor, "n d"]
    h_pos: Float[Tensor, "n d"]


@dataclass(frozen=True, eq=False)
class Sample:
    """What readings look at.

    Attributes:
        support: Where embeddings live.
        moments: Of all pairs, in the unit of the space.
        find: Even rows, to find directions and fits on.
        measure: Odd rows, to measure them on.
        rows: Which rows those are: even ones, odd ones.
        n: Pairs there are.
        level: False-alarm rate of a single test.
        generator: Decides every draw.
    """

    support: Support
    moments: Moments
    find: Half
    measure: Half
    rows: tuple[Tensor, Tensor]
    n: int
    level: float
    generator: torch.Generator

    @property
    def dim(self) -> int:
        return self.find.h.shape[1]


def choose(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Ascending even rows and odd rows, at most HALF of each."""
    chosen = []
    for parity in (0, 1):
        there_are = (n + 1 - parity) // 2
        picked = torch.randperm(there_are, generator=generator)[:HALF].sort().values
        chosen.append(2 * picked + parity)
    return chosen[0], chosen[1]


def halves(h: Rows, h_pos: Rows, rows: tuple[Tensor, Tensor]) -> tuple[Half, Half]:
    """The chosen rows of both views, as they are."""
    even, odd = (Half(arrays.take("h_anchor", h, index), arrays.take("h_positive", h_pos, index)) for index in rows)
    return even, odd
