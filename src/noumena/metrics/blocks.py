"""Recovery of groups of coordinates, each up to linear maps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from .. import _checks
from ._regression import r2, regress
from ._resampling import interval
from ._rows import Rows, halves, standardised_rows
from .base import AbstractFittedMetric, MetricResult
from .correlation import match

MATCHED = "matched"
Blocks = Mapping[str, Sequence[int]] | Mapping[int, Sequence[int]] | Sequence[Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class BlockR2(AbstractFittedMetric):
    """Linear R² of each group of true coordinates, such as content and style.

    The score when theory promises groups rather than single coordinates, and the way to see *what* was lost: a
    block's score is the mean R² of its coordinates (the regression of `LinearR2`), the value is the mean over blocks.
    With `recovered`, a block is read from its own columns of h alone: a block may then score high from the columns
    meant for it and low from those of another, which tells a separated representation from a mixed one.

    Args:
        blocks: True coordinates of each block, counted from 0: by name, `{"content": [0, 1], "style": [2]}`, or a
            list, whose blocks are then called 0, 1, ... A coordinate is in one block or in none.
        recovered: Columns of h that each block is read from, under the same names; all of them if left out. Blocks
            may share columns. "matched" gives each block as many columns as it has coordinates, no column twice, by
            how well the block explains them: one assignment on the half that fits, the score when theory promises
            blocks in an order of their own.
        held_out: Fit on one half, score on the other (see `AbstractFittedMetric` for the split).
        bootstrap, confidence, seed: See `AbstractMetric`. The fitted maps stay fixed.
    """

    # Mappings have no hash; equality still compares them.
    blocks: Blocks = field(hash=False)
    recovered: Blocks | Literal["matched"] | None = field(default=None, hash=False)
    ignores: ClassVar[str] = "injective affine maps (within the columns of each block, if `recovered` names them)"

    def __post_init__(self) -> None:
        super().__post_init__()
        blocks = _named_blocks("blocks", self.blocks)
        used = [coordinate for block in blocks.values() for coordinate in block]
        if len(set(used)) < len(used):
            twice = sorted({coordinate for coordinate in used if used.count(coordinate) > 1})
            raise ValueError(f"`blocks` must be disjoint; coordinates {twice} are in more than one.")
        object.__setattr__(self, "blocks", blocks)
        if isinstance(self.recovered, str):
            _checks.choice("recovered", self.recovered, (MATCHED,))
        elif self.recovered is not None:
            recovered = _named_blocks("recovered", self.recovered)
            if recovered.keys() != blocks.keys():
                raise ValueError(f"`recovered` must name the blocks {list(blocks)}, got {list(recovered)}.")
            object.__setattr__(self, "recovered", recovered)

    @property
    def name(self) -> str:
        return self._named("block_r2_matched" if self.recovered == MATCHED else "block_r2")

    def __call__(self, z: ArrayLike | Tensor, h: ArrayLike | Tensor) -> MetricResult:
        given = standardised_rows(z, h, self.held_out)
        blocks = _named_blocks("blocks", self.blocks)
        _require_columns("blocks", blocks, "z", given.z.shape[1])
        fit, score = halves(given, self.held_out, self.seed)
        recovered = {}
        if isinstance(self.recovered, str):
            recovered = _matched(blocks, fit)
        elif self.recovered is not None:
            recovered = _named_blocks("recovered", self.recovered)
            _require_columns("recovered", recovered, "h", given.h.shape[1])
        fitted = {}
        for key, block in blocks.items():
            columns = list(recovered[key]) if recovered else slice(None)
            read = [Rows(part.z[:, list(block)], part.h[:, columns], part.precision) for part in (fit, score)]
            fitted[key] = regress(read[0], read[1] if self.held_out else read[0], np.asarray(block))

        def resampled(index: np.ndarray) -> float:
            return float(np.mean([r2(one.z[index], one.residual[index]).mean() for one in fitted.values()]))

        per_coordinate = np.full(given.z.shape[1], np.nan)
        per_block = {}
        for key, one in fitted.items():
            scores = r2(one.z, one.residual)
            per_coordinate[list(blocks[key])] = scores
            per_block[key] = float(scores.mean())
        return MetricResult(
            value=float(np.mean(list(per_block.values()))),
            chance=float(np.mean([one.chance for one in fitted.values()])),
            held_out=self.held_out,
            per_coordinate=per_coordinate,
            per_block=per_block,
            interval=interval(self, len(score.z), resampled),
        )


def _matched(blocks: Mapping[str | int, Sequence[int]], rows: Rows) -> dict[str | int, tuple[int, ...]]:
    """Columns of h for each block: the assignment in which blocks explain their columns best."""
    slots = [key for key, block in blocks.items() for _ in block]
    if rows.h.shape[1] < len(slots):
        raise ValueError(
            f'`recovered` can be "matched" only where `h` has a column for each of the {len(slots)} coordinates in '
            f"`blocks`, got {rows.h.shape[1]}."
        )
    h = rows.h - rows.h.mean(axis=0)
    explained = {}
    for key, block in blocks.items():
        z = rows.z[:, list(block)] - rows.z[:, list(block)].mean(axis=0)
        explained[key] = np.square(z @ np.linalg.lstsq(z, h, rcond=None)[0]).sum(axis=0)
    total = np.square(h).sum(axis=0)
    shares = np.stack([explained[key] for key in slots]) / np.where(total > 0, total, 1.0)
    columns = dict(zip(*match(shares), strict=True))
    return {key: tuple(int(columns[i]) for i, slot in enumerate(slots) if slot == key) for key in blocks}


def _named_blocks(name: str, blocks: Blocks) -> dict[str | int, tuple[int, ...]]:
    if isinstance(blocks, str) or not isinstance(blocks, Mapping | Sequence):
        raise TypeError(f"`{name}` must be a mapping or a list of blocks, got `{type(blocks).__name__}`.")
    named = dict(blocks.items()) if isinstance(blocks, Mapping) else dict(enumerate(blocks))
    if not named or not all(isinstance(block, Sequence) and len(block) for block in named.values()):
        raise ValueError(f"`{name}` must hold at least one block, each a list of at least one index; got {blocks!r}.")
    checked = {key: tuple(_checks.count(name, index, low=0) for index in block) for key, block in named.items()}
    for key, block in checked.items():
        if len(set(block)) < len(block):
            raise ValueError(f"`{name}` must not repeat an index within a block; block {key!r} is {list(block)}.")
    return checked


def _require_columns(name: str, blocks: Mapping[str | int, Sequence[int]], of: str, columns: int) -> None:
    for key, block in blocks.items():
        if max(block) >= columns:
            raise ValueError(
                f"`{name}` must count the columns of `{of}` from 0 to {columns - 1}; block {key!r} has {max(block)}."
            )


def block_r2(
    z: ArrayLike | Tensor,
    h: ArrayLike | Tensor,
    blocks: Blocks,
    *,
    recovered: Blocks | Literal["matched"] | None = None,
    held_out: bool = True,
    seed: int = 0,
) -> dict[str | int, float]:
    """The score of each block of `BlockR2`, by its name or number."""
    result = BlockR2(blocks=blocks, recovered=recovered, held_out=held_out, seed=seed)(z, h)
    return dict(result.per_block or {})
