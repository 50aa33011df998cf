"""What one process does in the tests of `gather`: it holds some rows of a batch that every process can rebuild.

A worker writes down how far the mean over processes lies from one process on the whole batch. It does not judge.
"""

import copy
import json
import os
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from noumena.batch import PairEmbeddings
from noumena.losses import (
    AnisotropicScore,
    CovarianceContrast,
    Dot,
    Drawn,
    Ensemble,
    GroupMates,
    HardNegatives,
    InBatch,
    InfoNCE,
    Lp,
    Regression,
    TriCL,
    Union,
    gather,
)
from noumena.losses.spectral import Spectral

# Rows of anchors and of drawn negatives on each process. Uneven, and so that the numbers of both agree on some
# processes and not on others.
PAIRS = {1: [18], 2: [12, 6], 4: [6, 3, 6, 3]}
DRAWN = {1: [10], 2: [6, 4], 4: [3, 3, 1, 3]}


def precision():
    return AnisotropicScore([0.5, 1.0, 2.0, 4.0])


def info_nce(score, candidates=None, weighting=None, **options):
    return lambda gather: InfoNCE(score(), candidates, weighting, gather=gather, **options)


# A loss and the kind of drawn negatives that its batch carries.
CASES = {
    **{
        f"in batch: {anchors}, {views}": (info_nce(precision, InBatch(anchors, views)), None)
        for anchors in ("first", "both")
        for views in ("own", "other", "both")
    },
    "in batch, self": (info_nce(lambda: Dot(0.5, learnable=True), InBatch(include_self=True)), None),
    "in batch, published": (info_nce(precision, InBatch("both", "both", cross_block="published")), None),
    "shared": (info_nce(lambda: Lp(1.5, 0.5, learnable=True), Drawn(), positive_in_denominator=False), "shared"),
    "private": (info_nce(lambda: Lp(2.0, 0.5, learnable=True), Drawn()), "private"),
    "mates": (info_nce(precision, GroupMates(1.0)), None),
    "mates and drawn": (info_nce(precision, GroupMates(0.3)), "shared"),
    "union, hard": (
        info_nce(precision, Union([InBatch(), Drawn()]), HardNegatives(0.5), positive_weight=0.5),
        "shared",
    ),
    "spectral, shared": (lambda gather: Spectral(Dot(0.5, learnable=True), gather=gather), "shared"),
    "tricl": (lambda gather: TriCL(4, gather=gather), None),
    "tricl, published": (lambda gather: TriCL(4, "infonce", tau=0.5, convention="published", gather=gather), None),
    "tricl, infonce": (lambda gather: TriCL(4, "infonce", tau=0.5, gather=gather), None),
    "covariance": (lambda gather: CovarianceContrast(gather=gather), None),
    "covariance, ridge": (lambda gather: CovarianceContrast(ridge=0.2, centre=False, gather=gather), None),
    "regression": (lambda gather: Regression(gather=gather), None),
    "ensemble": (
        lambda gather: Ensemble(
            [InfoNCE(precision(), gather=gather), TriCL(2, gather=gather), Regression(gather=gather)],
            weights=[1.0, 0.5, 2.0],
            coordinates=[None, [3, 0], None],
        ),
        None,
    ),
}


class Model(nn.Module):
    """Encoder and loss as one module, as DistributedDataParallel wants them."""

    def __init__(self, loss: nn.Module) -> None:
        super().__init__()
        self.encoder = nn.utils.skip_init(nn.Linear, 5, 4, dtype=torch.float64)
        with torch.no_grad():
            self.encoder.weight.copy_(draw(1, 4, 5))
            self.encoder.bias.copy_(draw(2, 4))
        self.loss = loss.double()

    def forward(self, x, x_pos, x_neg, z, z_pos):
        h_neg = None if x_neg is None else self.encoder(x_neg)
        return self.loss(PairEmbeddings(self.encoder(x), self.encoder(x_pos), h_neg, z, z_pos, group_size=3))


def draw(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) / 2


def batch(negatives: str | None, world: int, rank: int | None = None) -> list[torch.Tensor | None]:
    """The whole batch, or the rows of one process."""
    n, m = sum(PAIRS[world]), sum(DRAWN[world])
    x_neg = {None: None, "shared": draw(5, m, 5), "private": draw(6, n, 3, 5)}[negatives]
    whole = [draw(3, n, 5), draw(4, n, 5), x_neg, draw(7, n, 4), draw(8, n, 4)]
    if rank is None:
        return whole
    lengths = [DRAWN if i == 2 and negatives == "shared" else PAIRS for i in range(len(whole))]
    return [
        None if part is None else part.split(length[world])[rank] for part, length in zip(whole, lengths, strict=True)
    ]


def run(world: int, rank: int, folder: str) -> None:
    """Join a group of `world` processes and write down the errors of every case."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet-{world}", rank=rank, world_size=world)
    try:
        found = {name: errors(name, world, rank) for name in CASES}
        for name in ("in batch: both, both", "ensemble"):
            found[f"{name}, wrapped"] = errors(name, world, rank, wrapped=True)
            for mutant in (local_slice, divided):
                with backward_of_gather(mutant):
                    found[f"{name}, {mutant.__name__}"] = errors(name, world, rank)
        found["exchanges"] = exchanges(world, rank)
        Path(folder, f"{world}-{rank}.json").write_text(json.dumps(found))
    finally:
        dist.destroy_process_group()


def errors(name: str, world: int, rank: int, wrapped: bool = False) -> dict[str, float]:
    """Largest distances of loss, anchors' losses, parts and gradients from one process on the whole batch."""
    make, negatives = CASES[name]
    model, alone = Model(make(True)), Model(make(False))
    expected = alone(*batch(negatives, world))
    expected.total.backward()
    module = nn.parallel.DistributedDataParallel(copy.deepcopy(model)) if wrapped else model
    output = module(*batch(negatives, world, rank))
    output.total.backward()
    slopes = {key: parameter.grad for key, parameter in alone.named_parameters()}
    found = {"loss": float((mean_over_processes(output.total) - expected.total).abs().detach())}
    for key, parameter in module.named_parameters():
        slope = parameter.grad if wrapped else mean_over_processes(parameter.grad)
        found[key.removeprefix("module.")] = float((slope - slopes[key.removeprefix("module.")]).abs().max())
    for key, part in output.parts.items():
        found[f"part {key}"] = float((mean_over_processes(part) - expected.parts[key]).abs())
    everyone: list = [None] * world
    dist.all_gather_object(everyone, output.per_anchor.detach().view(-1, PAIRS[world][rank]))
    found["per_anchor"] = float((torch.cat(everyone, dim=1).view(-1) - expected.per_anchor).abs().max().detach())
    return found


def mean_over_processes(value: torch.Tensor) -> torch.Tensor:
    value = value.detach().clone()
    dist.all_reduce(value)
    return value / dist.get_world_size()


def exchanges(world: int, rank: int) -> int:
    """How often one loss waits for the other processes: for the lengths once, and once for the rows."""
    calls, original = [], dist.all_gather

    def counted(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    dist.all_gather = counted
    try:
        Model(InfoNCE(Dot(), gather=True))(*batch(None, world, rank))
    finally:
        dist.all_gather = original
    return len(calls)


def local_slice(ctx, grad):
    """Wrong: what the other processes say about these rows is lost."""
    return grad.split(ctx.counts)[ctx.rank], None, None


def divided(ctx, grad):
    """Wrong: the mean over processes is taken twice."""
    grad = grad.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(grad)
    return grad.split(ctx.counts)[ctx.rank] / dist.get_world_size(), None, None


@contextmanager
def backward_of_gather(mutant):
    original = gather._GatherRows.backward
    gather._GatherRows.backward = staticmethod(mutant)
    try:
        yield
    finally:
        gather._GatherRows.backward = original


def worker(rank: int, folder: str) -> None:
    """Four processes, two of which then meet again as a group of two: starting them is what takes the time."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    run(4, rank, folder)
    if rank < 2:
        run(2, rank, folder)
