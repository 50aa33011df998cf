"""InfoNCE's value and gradients in one pass over blocks of anchors: never n x m x d, never all of n x m.

For anchor i with margins a_ij (score of candidate j less score of the positive) the loss is

    log(1 + sum_j w_ij e^{a_ij}),    or    log sum_j w_ij e^{a_ij}    with the positive left out of the denominator;

a cutoff c adds e^{c - s_i} to the sum, s_i being the score of the positive.

The gradient with respect to a_ij is a softmax over j times a number known as soon as the row is summed, and the
reduction is a mean, so a block's gradients are added up while its scores are still in the cache. A caller who
differentiates `per_anchor` in some other way gets a second pass with the weights it asks for.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from .kernels import AbstractKernel, Workspace
from .weighting import Equal, Weighting

BLOCK = 2**18  # scores held at once: 1 MB of float32, about what a core's cache keeps
EXACT = 40.0  # where log(1 + e^x) = x in float64 too; torch's own switch to x, at 20, costs it seven digits


@dataclass(frozen=True)
class Layout:
    """How the candidates of one segment belong to the anchors.

    Attributes:
        groups: Anchors are split into so many equal consecutive groups, each with candidates of its own.
        excluded: For each anchor the index, within its group's candidates, of one that does not count; or None.
        log_weight: Log of how much each of these candidates counts.
    """

    groups: int = 1
    excluded: Tensor | None = None
    log_weight: float = 0.0


@dataclass(frozen=True)
class Plan:
    """What stays the same while a batch is streamed."""

    kernel: AbstractKernel
    layouts: tuple[Layout, ...]
    weighting: Weighting
    positive_in_denominator: bool
    cutoff: float | None
    mean_of_candidates: bool
    block: int
    want_gradients: bool


def stream(plan: Plan, scale: float, pos: Tensor, segments: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """(scale * sum of the anchors' losses, the anchors' losses).

    Args:
        plan: Kernel, layouts (one for each segment) and options.
        scale: Factor of the sum; 1/n for a mean.
        pos: Kernel of each anchor with its positive, (a,).
        segments: Folded anchors (a, k) and folded candidates (g, m, k) of each segment.
    """
    flat = [tensor for segment in segments for tensor in segment]
    return _Stream.apply(plan, scale, pos, *flat)  # pyright: ignore[reportReturnType]


class _Stream(torch.autograd.Function):
    @staticmethod
    def forward(ctx, plan: Plan, scale: float, pos: Tensor, *flat: Tensor):
        result = _pass(plan, pos, flat, torch.full_like(pos, scale) if plan.want_gradients else None)
        ctx.plan, ctx.scale = plan, scale
        ctx.save_for_backward(pos, *flat)
        ctx.gradients = result.gradients
        ctx.set_materialize_grads(False)
        total = scale * result.per_anchor.sum()
        return total, result.per_anchor

    @staticmethod
    def backward(ctx, grad_total: Tensor | None, grad_per_anchor: Tensor | None):  # pyright: ignore
        if torch.is_grad_enabled():
            # The gradients of the forward pass would otherwise go for constants, and the answer be wrong in silence.
            raise RuntimeError(
                "InfoNCE can be differentiated once: its scores are not kept, so create_graph=True has nothing to "
                "work on. For a small batch use `infonce(score(h, h_pos), score.grid(h, candidates))`."
            )
        if grad_total is None and grad_per_anchor is None:
            gradients = [None] * len(ctx.gradients)
        elif grad_per_anchor is None:
            gradients = [grad_total * gradient for gradient in ctx.gradients]
        else:
            pos, *flat = ctx.saved_tensors
            upstream = grad_per_anchor if grad_total is None else grad_per_anchor + ctx.scale * grad_total
            with torch.autocast(pos.device.type, enabled=False):
                gradients = _pass(ctx.plan, pos, tuple(flat), upstream).gradients
        return None, None, *gradients


class _Result(NamedTuple):
    per_anchor: Tensor
    gradients: list[Tensor]


def _pass(plan: Plan, pos: Tensor, flat: tuple[Tensor, ...], upstream: Tensor | None) -> _Result:
    """The anchors' losses and, given the upstream gradient of each, the gradients of `pos` and of `flat`."""
    work = Workspace()
    segments = [
        _Segment(plan.kernel, layout, anchors, candidates, name, upstream is not None)
        for name, (layout, anchors, candidates) in enumerate(zip(plan.layouts, flat[::2], flat[1::2], strict=True))
    ]
    log_weights = [layout.log_weight for layout in plan.layouts]
    log_count = math.log(sum(segment.counted for segment in segments))
    per_anchor, grad_pos = torch.empty_like(pos), torch.empty_like(pos)
    for rows in _row_blocks(len(pos), segments, plan.block):
        grids = [segment.margins(rows, pos, work) for segment in segments]
        log_mass = _to_weights(grids, log_weights, plan.weighting, log_count, work)
        if plan.mean_of_candidates:
            log_mass = log_mass - log_count
        per_anchor[rows], share, slope = _with_constants(plan, log_mass, pos[rows])
        if upstream is not None:
            grad_pos[rows] = slope.mul(upstream[rows])
            share.mul_(upstream[rows])
            for segment, grid in zip(segments, grids, strict=True):
                segment.pull_back(rows, grid.mul_(share.view(*grid.shape[:2], 1)), work)
    if upstream is None:
        return _Result(per_anchor, [])
    return _Result(per_anchor, [grad_pos, *(gradient for segment in segments for gradient in segment.gradients())])


def _with_constants(plan: Plan, log_mass: Tensor, pos: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The anchors' losses from the log mass of their candidates, with the slopes in that and in the positive's score.

    What does not depend on candidates stands in the denominator as 1 (the positive itself) and e^{cutoff - pos}.
    """
    if plan.cutoff is None:
        if not plan.positive_in_denominator:
            return log_mass, torch.ones_like(log_mass), -torch.ones_like(log_mass)
        share = torch.sigmoid(log_mass)
        return torch.nn.functional.softplus(log_mass, threshold=EXACT), share, -share
    # The mass and the cutoff move with the score of the positive, the positive itself does not.
    moving = torch.logaddexp(log_mass, plan.cutoff - pos)
    share = torch.sigmoid(log_mass - (plan.cutoff - pos))
    if not plan.positive_in_denominator:
        return moving, share, -torch.ones_like(share)
    slope = torch.sigmoid(moving)
    return torch.nn.functional.softplus(moving, threshold=EXACT), share * slope, -slope


class _Segment:
    """One set of candidates: its share of a block's margins, and its gradients as they add up."""

    def __init__(
        self, kernel: AbstractKernel, layout: Layout, anchors: Tensor, candidates: Tensor, name: int, slopes: bool
    ) -> None:
        self.kernel, self.layout, self.name = kernel, layout, name
        self.groups, self.m = layout.groups, candidates.shape[1]
        if self.m - (layout.excluded is not None) < 1:
            raise ValueError(
                f"each anchor must keep at least one candidate; got {self.m}, of which one is left out for each anchor."
                if self.m
                else "each anchor must have at least one candidate; got none."
            )
        self.group_rows = len(anchors) // self.groups
        self.prepared = kernel.prepare(anchors.view(self.groups, self.group_rows, -1), candidates)
        if slopes:
            self.grad_rows = torch.empty_like(self.prepared.slope_rows, memory_format=torch.contiguous_format)
            self.grad_columns = torch.zeros_like(self.prepared.slope_columns)

    @property
    def counted(self) -> float:
        """How many candidates each anchor has here, each counted by its weight."""
        return (self.m - (self.layout.excluded is not None)) * math.exp(self.layout.log_weight)

    def _window(self, rows: slice) -> tuple[slice, slice]:
        """The groups and the rows within them that a block of anchors covers."""
        first, last = rows.start // self.group_rows, (rows.stop - 1) // self.group_rows
        if first == last:
            offset = first * self.group_rows
            return slice(first, first + 1), slice(rows.start - offset, rows.stop - offset)
        return slice(first, last + 1), slice(0, self.group_rows)

    def margins(self, rows: slice, pos: Tensor, work: Workspace) -> Tensor:
        groups, within = self._window(rows)
        part = self.prepared.rows[groups, within]
        out = work.take(f"grid {self.name}", (*part.shape[:2], self.m), pos)
        self.kernel.margins(part, self.prepared.columns[groups], pos[rows].view(part.shape[:2]), out, work)
        if self.layout.excluded is not None:
            # Before the row's maximum is taken: a masked score must not set the scale of the others.
            out.view(-1, self.m).scatter_(1, self.layout.excluded[rows, None], float("-inf"))
        return out

    def pull_back(self, rows: slice, weights: Tensor, work: Workspace) -> None:
        groups, within = self._window(rows)
        self.grad_rows[groups, within] = self.kernel.pull_back(
            weights,
            self.prepared.slope_rows[groups, within],
            self.prepared.slope_columns[groups],
            self.grad_columns[groups],
            work,
        )

    def gradients(self) -> tuple[Tensor, Tensor]:
        anchors, candidates = self.kernel.finish(self.prepared, self.grad_rows, self.grad_columns)
        return anchors.reshape(self.groups * self.group_rows, -1), candidates


def _row_blocks(n: int, segments: list[_Segment], block: int) -> Iterator[slice]:
    """Blocks of anchors that hold about `block` scores; each covers whole groups of a segment, or lies inside one."""
    size = max(1, block // sum(segment.m for segment in segments))
    groups = sorted({segment.group_rows for segment in segments}, reverse=True)
    start = 0
    while start < n:
        stop = min(start + size, n)
        for rows in groups:
            end_of_group = (start // rows + 1) * rows
            if end_of_group < stop:
                stop = end_of_group if start % rows else stop - stop % rows
        yield slice(start, stop)
        start = stop


def _to_weights(
    grids: list[Tensor], log_weights: list[float], weighting: Weighting, log_count: float, work: Workspace
) -> Tensor:
    """Turn margins, in place, into the gradient of each row's log mass; return the log masses."""
    if isinstance(weighting, Equal):
        return _softmax(grids, log_weights)
    beta = weighting.beta
    # log mass = log M + logsumexp((1 + beta) a) - logsumexp(beta a); its gradient is a difference of softmaxes.
    tilts = [
        torch.mul(grid, beta, out=work.take(f"tilt {name}", tuple(grid.shape), grid)) for name, grid in enumerate(grids)
    ]
    log_tilt = _softmax(tilts, log_weights)
    for grid in grids:
        grid.mul_(1 + beta)
    log_mass = _softmax(grids, log_weights) - log_tilt + log_count
    if not weighting.detach:
        for grid, tilt in zip(grids, tilts, strict=True):
            grid.mul_(1 + beta).sub_(tilt, alpha=beta)
    return log_mass


def _softmax(grids: list[Tensor], log_weights: list[float]) -> Tensor:
    """Softmax along the candidates of all grids together, in place; returns logsumexp of each row.

    A whole grid shares one weight, so weights enter through the rows' sums and cost nothing.
    """
    log_masses = torch.stack([_softmax_of(grid) + weight for grid, weight in zip(grids, log_weights, strict=True)])
    if len(grids) == 1:
        return log_masses[0]
    log_mass = torch.logsumexp(log_masses, dim=0)
    for grid, own in zip(grids, log_masses, strict=True):
        grid.mul_((own - log_mass).exp().view(*grid.shape[:2], 1))
    return log_mass


def _softmax_of(grid: Tensor) -> Tensor:
    peak = grid.amax(dim=2)
    torch.softmax(grid, dim=2, out=grid)
    # The largest probability is 1/Z with Z = sum_j e^{a_j - peak}.
    return (peak - grid.amax(dim=2).log()).view(-1)
