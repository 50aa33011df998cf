"""Pairs of stored images whose factors are nearest to drawn latents."""

from typing import Literal

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch
from ..conditionals import AbstractConditional
from ..data import AbstractImageTable
from ..marginals import AbstractMarginal
from .base import AbstractPairSource
from .frames import stored
from .ivf import IVF
from .synthetic import place

BLOCK, QUERIES = 512, 512  # compared at once: their scores stay in the processor's cache


class Nearest(AbstractPairSource):
    """Anchors z from the marginal, positives z' given z, each replaced by the stored image whose factors are nearest.

    For sets that were rendered once and are too dear to render anew: the pairs of 3DIdent (Zimmermann et al., 2021).
    No image is its own positive; where the nearest to z' is the anchor's, the second nearest is taken. Latents of
    the batch are the factors of the images, not the draws. With n rows in d dimensions these are about n^(-1/d) apart,
    so a conditional much narrower than that is seen as one of that width.

    Two ways to search, on which the law of the pairs hardly depends:

    - "exact" finds the nearest row, up to the rounding of squared distances, by comparing with all: on the device of
      the generator, without further libraries.
    - "ivf" is the published one, of FAISS (the extra `faiss`), on the CPU: of 1024 lists the 10 nearest, themselves
      found by HNSW, are searched. It missed the nearest of 50 000 uniform rows in 4 % of draws, and is the faster one;
      but it is built in seconds, and beside a network's step either takes little.

    Args:
        table: Images with factors.
        marginal: Law of z, in the space where the factors lie: `Uniform(Box(10, -1, 1))` for 3DIdent.
        conditional: Law of z' given z. One built without a space is placed in the marginal's.
        index: "exact" or "ivf".
    """

    def __init__(
        self,
        table: AbstractImageTable,
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        index: Literal["exact", "ivf"] = "exact",
    ) -> None:
        self.table = _checks.kind("table", table, AbstractImageTable, "Pass one such as `ThreeDIdent(root)`.")
        self.marginal = _checks.kind(
            "marginal", marginal, AbstractMarginal, "Pass one such as `Uniform(Box(10, -1, 1))`."
        )
        self.space = marginal.space
        self.conditional = place(conditional, marginal)
        if table.factors is None:
            raise ValueError(f"`table` must have factors to be near to; `{table.name}` has none.")
        if table.factors.shape[1] != marginal.space.dim:
            raise ValueError(
                f"`marginal` must draw {table.factors.shape[1]} latents, the factors of `{table.name}`; it draws "
                f"{marginal.space.dim}."
            )
        if outside := int((~marginal.space.contains(table.factors)).sum()):
            raise ValueError(
                f"`marginal` must live where the factors of `{table.name}` lie; {outside} of {len(table)} rows are "
                f"outside of {marginal.space}. 3DIdent's is `Box(10, -1, 1)`."
            )
        if len(table) < 2:
            raise ValueError(f"`table` must have at least two rows, `{table.name}` has {len(table)}.")
        _checks.choice("index", index, ("exact", "ivf"))
        self.index = Exact(table.factors) if index == "exact" else IVF(table.factors)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        z = self.marginal.sample(n, generator=generator, dtype=dtype)
        z_pos = self.conditional.sample(z, generator=generator)
        rows = self.index.nearest(z)
        return stored(self.table, rows, self.index.nearest(z_pos, other_than=rows), generator, dtype)


class Exact:
    """The nearest rows, by comparison with all of them.

    The least of each block of rows comes from one matrix product; the block in which the least of all lies is then
    searched by differences, which lose no digits.
    """

    def __init__(self, points: Tensor) -> None:
        # The middle in the origin: squared distances from products lose the fewest digits there.
        self.centre = points.mean(0)
        self.points = points - self.centre

    def nearest(self, queries: Tensor, other_than: Tensor | None = None) -> Tensor:
        """The row nearest to each query, among all but `other_than`, one for each query."""
        points = self.points.to(queries.device)
        squares = points.square().sum(1)
        queries = queries.to(points.dtype) - self.centre.to(queries.device)
        # No row has this number.
        others = torch.full((len(queries),), -1, device=queries.device) if other_than is None else other_than
        parts = zip(queries.split(QUERIES), others.split(QUERIES), strict=True)
        return torch.cat([_nearest(part, points, squares, other) for part, other in parts])


def _nearest(queries: Tensor, points: Tensor, squares: Tensor, others: Tensor) -> Tensor:
    least = []
    for start in range(0, len(points), BLOCK):
        scores = torch.addmm(squares[start : start + BLOCK], queries, points[start : start + BLOCK].T, alpha=-2)
        inside = ((others >= start) & (others < start + BLOCK)).nonzero()[:, 0]
        scores[inside, others[inside] - start] = torch.inf
        least.append(scores.amin(1))
    rows = torch.stack(least, 1).argmin(1, keepdim=True) * BLOCK + torch.arange(BLOCK, device=queries.device)
    apart = (queries[:, None] - points[rows.clamp(max=len(points) - 1)]).square().sum(2)
    # The last block may be short; what stands in its place must not be found.
    apart.masked_fill_((rows >= len(points)) | (rows == others[:, None]), torch.inf)
    return rows.gather(1, apart.argmin(1, keepdim=True))[:, 0]
