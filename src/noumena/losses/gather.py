"""Embeddings of all processes, with the exact gradient."""

from typing import Literal

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable


class Gather:
    """Brings the rows of every process together, in the order of their ranks. One process keeps its own.

    Each process takes the mean of its gradients over all processes afterwards (DDP and Fabric do). For that mean to
    be the gradient of the whole batch's loss, a row's gradient must be the sum of what *every* process's loss says
    about it: the backward pass sums over processes and hands back the local rows. Taking the local part alone, or
    dividing once more, is off by a factor of the number of processes.

    Processes may hold batches of different length, but must make the same calls in the same order. One instance
    serves one batch, whose lengths it exchanges once.

    Args:
        enabled: False leaves every tensor as it is, as does the lack of a process group.
    """

    def __init__(self, enabled: bool) -> None:
        self.world = dist.get_world_size() if enabled and dist.is_available() and dist.is_initialized() else 1
        self.rank = dist.get_rank() if self.world > 1 else 0
        # By what the rows are, not by how many: equal lengths on one process may differ on another, and a process
        # that thought it knew the answer would leave the others waiting.
        self._counts: dict[str, list[int]] = {}

    def __call__(self, rows: Tensor, kind: Literal["pairs", "drawn"] = "pairs") -> Tensor:
        """Rows of all processes; `kind` tells anchors and positives, of one length, from drawn negatives."""
        if self.world == 1:
            return rows
        return _GatherRows.apply(rows, self._counts_of(kind, rows), self.rank)  # pyright: ignore[reportReturnType]

    def sum(self, value: Tensor) -> Tensor:
        """The sum over processes of a tensor of one shape: what moments need, at a cost that no batch adds to."""
        return value if self.world == 1 else _Sum.apply(value)  # pyright: ignore[reportReturnType]

    def offset(self, h: Tensor) -> int:
        """Where the local anchors `h` begin among the gathered ones."""
        return sum(self._counts_of("pairs", h)[: self.rank])

    def mean_scale(self, h: Tensor) -> float:
        """The factor of a sum over the local anchors `h`; the mean over processes is then the mean over anchors."""
        return self.world / sum(self._counts_of("pairs", h))

    def _counts_of(self, kind: str, rows: Tensor) -> list[int]:
        if self.world == 1:
            return [len(rows)]
        if kind not in self._counts:
            # On the device of the rows: NCCL cannot see the memory of the host.
            counts = [torch.zeros(1, dtype=torch.int64, device=rows.device) for _ in range(self.world)]
            dist.all_gather(counts, torch.full_like(counts[0], len(rows)))
            self._counts[kind] = [int(count) for count in counts]
        return self._counts[kind]


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows: Tensor, counts: list[int], rank: int) -> Tensor:
        ctx.counts, ctx.rank = counts, rank
        # Collectives want equal shapes: pad to the longest, cut afterwards.
        padded = rows.new_zeros(max(counts), *rows.shape[1:])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(parts, padded)
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor):  # pyright: ignore[reportIncompatibleMethodOverride]
        grad = grad.clone(memory_format=torch.contiguous_format)  # autograd's own tensor must not be summed into
        dist.all_reduce(grad)
        return grad.split(ctx.counts)[ctx.rank], None, None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value: Tensor) -> Tensor:
        value = value.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(value)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor):  # pyright: ignore[reportIncompatibleMethodOverride]
        grad = grad.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(grad)
        return grad
