"""The processes that train one encoder together, as one of them sees them."""

from collections.abc import Sequence
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from .. import _checks, _rng
from ..batch import PairBatch
from ..losses.base import AbstractLoss
from ..pairs.base import AbstractPairSource
from .devices import Alone

T = TypeVar("T")


class Together:
    """What several processes exchange in a step; one process exchanges nothing, and computes as if this were not here.

    After every step all hold the same parameters, learned values and buffers, so that what the first one saves is the
    state of all. Gradients are averaged by one sum over the processes rather than by DistributedDataParallel: what is
    trained need not be one module with one forward pass (the loss is called on embeddings, outside the encoder), may
    be unused in a step, and stays the very tensors that optimisers and averages were built on. What is lost is the
    overlap of exchange and backward pass, which pays for encoders far larger than those of the tables.

    Args:
        fabric: None or an `Alone` for one process, or a launched `lightning_fabric.Fabric`.
    """

    def __init__(self, fabric: Any) -> None:
        if fabric is not None and not isinstance(fabric, Alone):
            from .fabric import check

            check(fabric)
        self.size = 1 if fabric is None else fabric.world_size
        self.rank = 0 if fabric is None else fabric.global_rank
        self.device = None if fabric is None else fabric.device

    @property
    def first(self) -> bool:
        """Whether this is the process that measures, hands out records and saves."""
        return self.rank == 0

    def check(self, encoder: nn.Module, loss: AbstractLoss, sizes: Sequence[int], multiple: int) -> None:
        """Refuse what several processes cannot train; `sizes` are those of the first batch and the last."""
        here = next(encoder.parameters()).device
        if self.device is not None and _checks.located(here) != _checks.located(self.device):
            raise ValueError(f"`encoder` must be on the device of `fabric`, {self.device}; got {here}. Move it there.")
        if self.size > 1:
            check_gathers(loss, self.size)
            for size in sizes:
                shares(size, self.size, multiple)

    def draw(
        self, source: AbstractPairSource, n: int, multiple: int, stream: torch.Generator, dtype: torch.dtype
    ) -> PairBatch:
        """This process's share of a batch of `n` pairs."""
        if self.size == 1:
            return source.draw(n, stream, dtype)
        generator = _rng.branches(stream, self.size)[self.rank]
        return source.draw(shares(n, self.size, multiple)[self.rank], generator, dtype)

    def agree(self, value: T) -> T:
        """What the first process says."""
        if self.size == 1:
            return value
        said = [value]
        dist.broadcast_object_list(said, src=0, device=self.device)
        return said[0]

    @torch.no_grad()
    def begin_alike(self, *modules: nn.Module) -> None:
        """Give every process the parameters and buffers of the first, however each came by its own."""
        if self.size > 1:
            for module in modules:
                for tensor in (*module.parameters(), *module.buffers()):
                    value = tensor.detach().contiguous().reshape(-1)
                    dist.broadcast(value.view(torch.uint8), src=0)  # as bytes: not every backend knows every dtype
                    tensor.copy_(value.view_as(tensor))

    def means(self, numbers: Sequence[Tensor]) -> list[float]:
        """Each of these, averaged over processes: of a loss and its parts, those of the whole batch."""
        if self.size == 1:
            return [float(number.detach()) for number in numbers]
        together = torch.stack([number.detach().to(numbers[0]) for number in numbers])
        dist.all_reduce(together)
        return (together / self.size).tolist()

    @torch.no_grad()
    def average(self, parameters: Sequence[nn.Parameter], buffers: Sequence[Tensor]) -> None:
        """Replace gradients by their mean over processes, and buffers by those of the first.

        A parameter that no process used keeps no gradient; one that some did not use counts as zero there.
        """
        if self.size == 1:
            return
        buffers = [buffer for buffer in buffers if buffer.is_floating_point()]
        for dtype in dict.fromkeys(one.dtype for one in (*parameters, *buffers)):
            trained = [one for one in parameters if one.dtype == dtype]
            kept = [one for one in buffers if one.dtype == dtype]
            used = torch.tensor([one.grad is not None for one in trained], dtype=dtype, device=self.device)
            slopes = [torch.zeros_like(one) if one.grad is None else one.grad for one in trained]
            # A sum to which the others add zero hands over the first process's buffers, exactly.
            values = kept if self.first else [torch.zeros_like(one) for one in kept]
            flat = torch.cat([used, *(one.reshape(-1) for one in (*slopes, *values))])
            dist.all_reduce(flat)
            counts, *parts = flat.split([len(trained), *(one.numel() for one in (*trained, *kept))])
            for one, count, part in zip(trained, counts.tolist(), parts, strict=False):
                one.grad = (part / self.size).view_as(one) if count else None
            for one, part in zip(kept, parts[len(trained) :], strict=True):
                one.copy_(part.view_as(one))


def check_gathers(loss: AbstractLoss, processes: int) -> None:
    """Refuse a loss that would contrast each process's share with itself."""
    if not loss.gather:
        raise ValueError(
            f"`loss` must gather the embeddings of {processes} processes, or each would contrast its share with "
            f"itself; `{type(loss).__name__}` does not: build it with `gather=True` if it takes that."
        )


def shares(n: int, processes: int, multiple: int = 1) -> list[int]:
    """The pairs that each process draws of a batch of `n`: as equal as multiples of `multiple` can be."""
    units, rest = divmod(n // multiple, processes)
    if units == 0:
        raise ValueError(
            f"`batch_size` must give each of {processes} processes at least {multiple} of its pairs, got {n}."
        )
    return [(units + (rank < rest)) * multiple for rank in range(processes)]


def disband() -> None:
    """End the exchange: from here on losses see what their own process holds, and wait for nobody."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
