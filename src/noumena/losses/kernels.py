"""The three sums a score can be, block by block, with their gradients.

A kernel works on folded embeddings and on *margins*: the score of an anchor with a candidate less its score with
its positive. Only margins enter InfoNCE, and computing them directly keeps the digits that a difference of two
large scores would lose.

Shapes: g groups, r anchors and m candidates in each, k coordinates. Candidates and their gradients are kept
transposed, (g, k, m): with few coordinates the matrix products are several times faster that way round.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

Rows = Float[Tensor, "g r k"]
Columns = Float[Tensor, "g k m"]
Grid = Float[Tensor, "g r m"]


class Prepared(NamedTuple):
    """One batch as a kernel reads it: `rows` and `columns` give the margins, the `slope_` pair their gradients."""

    rows: Rows
    columns: Columns
    slope_rows: Rows
    slope_columns: Columns


class Workspace:
    """Buffers that every block uses again: fresh memory would cost more than the arithmetic."""

    def __init__(self) -> None:
        self._buffers: dict[str, Tensor] = {}

    def take(self, slot: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """An uninitialised tensor of the dtype and device of `like`; the same memory for the same `slot`."""
        size = math.prod(shape)
        if slot not in self._buffers or self._buffers[slot].numel() < size:
            self._buffers[slot] = like.new_empty(size)
        return self._buffers[slot][:size].view(shape)


class AbstractKernel(ABC):
    """A sum over folded coordinates, without parameters."""

    @abstractmethod
    def pairs(self, h: Float[Tensor, "*n k"], h_pos: Float[Tensor, "*m k"]) -> Float[Tensor, "*p"]:
        """The kernel of each pair, differentiable by autograd; leading axes broadcast."""

    @abstractmethod
    def prepare(self, anchors: Rows, candidates: Float[Tensor, "g m k"]) -> Prepared:
        """What the blocks need, computed once for a whole batch."""

    @abstractmethod
    def margins(self, rows: Rows, columns: Columns, pos: Float[Tensor, "g r"], out: Grid, work: Workspace) -> None:
        """Fill `out` with kernel(anchor, candidate) - pos."""

    @abstractmethod
    def pull_back(self, weights: Grid, rows: Rows, columns: Columns, grad_columns: Columns, work: Workspace) -> Rows:
        """Slopes of sum(weights * kernel): added to `grad_columns`, and returned for the rows."""

    @abstractmethod
    def finish(
        self, prepared: Prepared, grad_rows: Rows, grad_columns: Columns
    ) -> tuple[Float[Tensor, "g r d"], Float[Tensor, "g m d"]]:
        """Accumulated slopes -> gradients of the folded anchors and candidates."""


@dataclass(frozen=True)
class DotKernel(AbstractKernel):
    """h . h'."""

    def pairs(self, h: Float[Tensor, "*n k"], h_pos: Float[Tensor, "*m k"]) -> Float[Tensor, "*p"]:
        return (h * h_pos).sum(dim=-1)

    def prepare(self, anchors: Rows, candidates: Float[Tensor, "g m k"]) -> Prepared:
        columns = candidates.mT.contiguous()
        return Prepared(anchors, columns, anchors, columns)

    def margins(self, rows: Rows, columns: Columns, pos: Float[Tensor, "g r"], out: Grid, work: Workspace) -> None:
        torch.baddbmm(pos[..., None], rows, columns, beta=-1, out=out)

    def pull_back(self, weights: Grid, rows: Rows, columns: Columns, grad_columns: Columns, work: Workspace) -> Rows:
        return _matrix_slopes(weights, rows, columns, grad_columns)

    def finish(
        self, prepared: Prepared, grad_rows: Rows, grad_columns: Columns
    ) -> tuple[Float[Tensor, "g r d"], Float[Tensor, "g m d"]]:
        return grad_rows, grad_columns.mT


@dataclass(frozen=True)
class SquaredKernel(AbstractKernel):
    """-|h - h'|^2, by matrix products.

    Expanding the square cancels digits when points lie close together far from the origin. So the inputs are
    centred and, on a CPU, the expansion is summed in float64: margins are then as exact as if the differences had
    been taken coordinate by coordinate. Accelerators, slow in float64, sum it in the dtype of the inputs.
    """

    def pairs(self, h: Float[Tensor, "*n k"], h_pos: Float[Tensor, "*m k"]) -> Float[Tensor, "*p"]:
        return -(h - h_pos).square().sum(dim=-1)

    def prepare(self, anchors: Rows, candidates: Float[Tensor, "g m k"]) -> Prepared:
        dtype = anchors.dtype
        if anchors.device.type == "cpu":
            anchors, candidates = anchors.double(), candidates.double()
        centre = candidates.mean(dim=(0, 1))
        anchors, candidates = anchors - centre, candidates - centre
        # [2h, 1, -|h|^2] . [h', -|h'|^2, 1] = -|h - h'|^2.
        one, other_one = torch.ones_like(anchors[..., :1]), torch.ones_like(candidates[..., :1])
        row_norm = anchors.square().sum(dim=-1, keepdim=True)
        column_norm = candidates.square().sum(dim=-1, keepdim=True)
        return Prepared(
            torch.cat([2 * anchors, one, -row_norm], dim=-1),
            torch.cat([candidates, -column_norm, other_one], dim=-1).mT.contiguous(),
            torch.cat([anchors, one], dim=-1).to(dtype),
            torch.cat([candidates, other_one], dim=-1).mT.to(dtype).contiguous(),
        )

    def margins(self, rows: Rows, columns: Columns, pos: Float[Tensor, "g r"], out: Grid, work: Workspace) -> None:
        wide = out if out.dtype == rows.dtype else work.take("wide", tuple(out.shape), rows)
        torch.baddbmm(pos[..., None].to(rows.dtype), rows, columns, beta=-1, out=wide)
        if wide is not out:
            out.copy_(wide)

    def pull_back(self, weights: Grid, rows: Rows, columns: Columns, grad_columns: Columns, work: Workspace) -> Rows:
        return _matrix_slopes(weights, rows, columns, grad_columns)

    def finish(
        self, prepared: Prepared, grad_rows: Rows, grad_columns: Columns
    ) -> tuple[Float[Tensor, "g r d"], Float[Tensor, "g m d"]]:
        # The last coordinate was 1, so its slope is the sum of the weights: d/dh = 2 (sum w h' - h sum w).
        rows, columns = prepared.slope_rows[..., :-1], prepared.slope_columns[:, :-1]
        for_anchors = 2 * (grad_rows[..., :-1] - rows * grad_rows[..., -1:])
        for_candidates = 2 * (grad_columns[:, :-1] - columns * grad_columns[:, -1:])
        return for_anchors, for_candidates.mT


@dataclass(frozen=True)
class PowerKernel(AbstractKernel):
    """-sum_j |h_j - h'_j|^p, one coordinate at a time; p = 1 and p = 3 need no power function."""

    p: float

    def pairs(self, h: Float[Tensor, "*n k"], h_pos: Float[Tensor, "*m k"]) -> Float[Tensor, "*p"]:
        return -(h - h_pos).abs().pow(self.p).sum(dim=-1)

    def prepare(self, anchors: Rows, candidates: Float[Tensor, "g m k"]) -> Prepared:
        columns = candidates.mT.contiguous()
        return Prepared(anchors, columns, anchors, columns)

    def margins(self, rows: Rows, columns: Columns, pos: Float[Tensor, "g r"], out: Grid, work: Workspace) -> None:
        out.copy_(pos[..., None].expand_as(out)).neg_()
        gap, square = work.take("gap", tuple(out.shape), out), work.take("size", tuple(out.shape), out)
        for j in range(columns.shape[1]):
            torch.sub(rows[:, :, j, None], columns[:, j, None, :], out=gap)
            if self.p == 1:
                out.sub_(gap.abs_())
            elif self.p == 3:
                torch.mul(gap, gap, out=square)
                out.addcmul_(gap.abs_(), square, value=-1)
            else:
                out.sub_(gap.abs_().pow_(self.p))

    def pull_back(self, weights: Grid, rows: Rows, columns: Columns, grad_columns: Columns, work: Workspace) -> Rows:
        grad_rows = torch.empty_like(rows)
        gap, size = work.take("gap", tuple(weights.shape), weights), work.take("size", tuple(weights.shape), weights)
        for j in range(columns.shape[1]):
            torch.sub(rows[:, :, j, None], columns[:, j, None, :], out=gap)
            # |gap|^(p-1) sign(gap), the slope of the kernel towards the candidate up to the factor p; 0 at a tie.
            if self.p == 1:
                gap.sign_()
            elif self.p == 3:
                gap.mul_(torch.abs(gap, out=size))
            else:
                torch.abs(gap, out=size).pow_(self.p - 1)
                gap.sign_().mul_(size)
            gap.mul_(weights)
            grad_columns[:, j] += gap.sum(dim=1)
            grad_rows[:, :, j] = gap.sum(dim=2)
        return grad_rows

    def finish(
        self, prepared: Prepared, grad_rows: Rows, grad_columns: Columns
    ) -> tuple[Float[Tensor, "g r d"], Float[Tensor, "g m d"]]:
        return -self.p * grad_rows, self.p * grad_columns.mT


def _matrix_slopes(weights: Grid, rows: Rows, columns: Columns, grad_columns: Columns) -> Rows:
    grad_columns.baddbmm_(rows.mT, weights)
    return torch.bmm(columns, weights.mT).mT
