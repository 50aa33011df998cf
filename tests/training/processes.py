"""What one of several processes does in the tests of `train(fabric=...)`, and one process on what all of them draw."""

import tempfile
from pathlib import Path

import torch
from torch import nn

from noumena import streams
from noumena.batch import PairBatch, PairEmbeddings
from noumena.conditionals import Anisotropic, FixedContent, VonMisesFisher
from noumena.encoders import MLP
from noumena.losses import AnisotropicScore, CovarianceContrast, Dot, Ensemble, GroupMates, InfoNCE, TriCL
from noumena.marginals import Uniform
from noumena.mixings import Spiral
from noumena.pairs import FromMarginal, GroupedSupport, Synthetic
from noumena.pairs.base import AbstractPairSource
from noumena.spaces import Sphere
from noumena.training import (
    EMA,
    SGD,
    Adam,
    AdamW,
    Annealing,
    BatchGrowth,
    Checkpoint,
    Muon,
    Target,
    disband,
    together,
    train,
)
from tests.training.interrupted import Counting, Killed, die_by_exception, die_by_signal

STEPS = 8
WORLD = Synthetic(Uniform(Sphere(3)), VonMisesFisher(10 / 3), Spiral())
DRAWN = Synthetic(Uniform(Sphere(3)), VonMisesFisher(10 / 3), Spiral(), FromMarginal(5))
GROUPS = GroupedSupport(Uniform(Sphere(3)), FixedContent(3.0, 1), Spiral(), group_size=3, negatives=4)
UNEVEN = Synthetic(Uniform(Sphere(3)), Anisotropic([8.0, 4.0, 4.0]), Spiral())


def info_nce(gather):
    return InfoNCE(Dot(0.3), gather=gather)


def learned(gather):
    return InfoNCE(AnisotropicScore(1.0, 3), gather=gather)


def mates(gather):
    return InfoNCE(Dot(0.3, learnable=True), GroupMates(0.5), gather=gather)


def several(gather):
    return Ensemble([learned(gather), TriCL(3, gather=gather), CovarianceContrast(gather=gather)])


# A source, a loss and the arguments of `train`. Batches of 18 and 17 pairs: shared out unevenly among two and four.
CASES = {
    "gradient descent": (WORLD, info_nce, {"optimizer": SGD(0.1, momentum=0.9)}),
    "clipped": (WORLD, info_nce, {"optimizer": SGD(0.5), "clip": 0.05, "batch_size": 17}),
    "learned precision": (UNEVEN, learned, {"optimizer": SGD(0.1, rates={"loss": 4.0}), "ema": EMA(0.9)}),
    "muon": (DRAWN, learned, {"optimizer": Muon(0.05), "annealing": (), "batch_size": BatchGrowth(8, 23)}),
    "annealed": (WORLD, info_nce, {"optimizer": Adam(1e-2), "annealing": Annealing(1.0, 0.3), "ema": EMA(0.9)}),
    "groups": (GROUPS, mates, {"optimizer": SGD(0.1), "batch_size": BatchGrowth(12, 27, multiple=3)}),
    "chunks": (DRAWN, learned, {"optimizer": SGD(0.1, momentum=0.9), "chunk": 7, "clip": 1.0}),
    "several losses": (UNEVEN, several, {"optimizer": SGD(0.01), "batch_size": 40}),
}


class Partly(nn.Module):
    """An encoder with a layer that is never used."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.used, self.unused = encoder, nn.Linear(2, 2, dtype=torch.float64)

    def forward(self, x):
        return self.used(x)


class Joined(AbstractPairSource):
    """What several processes draw of one stream, by the rule that docs/training.md states: in each step the stream
    draws a seed for each, and with it each draws its share, the first ones one unit more where shares are uneven."""

    def __init__(self, source: AbstractPairSource, world: int, unit: int) -> None:
        self.source, self.world, self.unit = source, world, unit

    def _draw(self, n, generator, dtype):
        seeds = torch.randint(2**63 - 1, (self.world,), generator=generator)
        parts = []
        for rank, seed in enumerate(seeds.tolist()):
            share = len(range(rank, n // self.unit, self.world)) * self.unit
            parts.append(self.source.draw(share, torch.Generator().manual_seed(seed), dtype))
        rows = {
            name: torch.cat([getattr(part, name) for part in parts])
            for name in ("x", "x_pos", "x_neg", "z", "z_pos", "z_neg")
            if getattr(parts[0], name) is not None
        }
        return PairBatch(**rows, group_size=parts[0].group_size)


def parts(name: str, gather: bool, seed: int, norm: str | None = None, dtype: torch.dtype = torch.float64):
    """Source, encoder, loss and options of a case."""
    source, make, options = CASES[name]
    encoder = MLP(3, 3, [8, 8, 8], norm=norm, init="he", generator=streams(seed).init).to(dtype)
    return source, encoder, make(gather).to(dtype), {"steps": STEPS, "batch_size": 18, "every": 3, **options}


def state(*modules: nn.Module) -> dict[str, torch.Tensor]:
    return {
        f"{i}/{name}": tensor.clone()
        for i, module in enumerate(modules)
        for name, tensor in module.state_dict().items()
    }


def alone(name: str, world: int, dtype: torch.dtype = torch.float64, **changes):
    """One process on the batches that `world` of them draw: what it ends with, and its records."""
    source, encoder, loss, options = parts(name, gather=False, seed=3, dtype=dtype)
    size = options["batch_size"]
    source = Joined(source, world, size.multiple if isinstance(size, BatchGrowth) else 1)
    records = list(train(source, encoder, loss, generator=streams(3).pairs, **{**options, **changes}))
    return state(encoder, loss), [(record.step, record.loss, record.parts) for record in records]


def shared(fabric, name: str, gather: bool = True, dtype: torch.dtype = torch.float64, **changes):
    """The same as one of several processes. Each begins elsewhere, so that the first must hand over its values."""
    source, encoder, loss, options = parts(name, gather, seed=3 + fabric.global_rank, dtype=dtype)
    options |= {"generator": streams(3).pairs, "fabric": fabric, **changes}
    records = list(train(source, encoder, loss, **options))
    return state(encoder, loss), [(record.step, record.loss, record.parts) for record in records]


def exact(fabric) -> dict:
    """Every case."""
    return {name: shared(fabric, name) for name in CASES}


def mutants(fabric) -> dict:
    """Wrong ways to train together: each contrasts its share alone, and gradients are summed."""
    found, check, average = {}, together.check_gathers, together.Together.average

    def summed(self, parameters, buffers):
        average(self, parameters, buffers)
        for parameter in parameters:
            parameter.grad *= self.size

    together.check_gathers = lambda *_: None
    try:
        found["not gathered"] = shared(fabric, "gradient descent", gather=False)
    finally:
        together.check_gathers = check
    together.Together.average = summed
    try:
        found["summed"] = shared(fabric, "gradient descent")
    finally:
        together.Together.average = average
    return found


def killed(fabric, folder: str) -> dict:
    """A run that is interrupted and goes on, beside one that is not; with statistics of the batch."""
    found = {}
    for name, fatal in {"calm": None, "killed": 5}.items():
        path, steps = Path(folder, f"{name}.safetensors"), []
        for left in dict.fromkeys((fatal, None)):
            source, encoder, loss, options = parts("annealed", True, seed=3, norm="batch")
            options |= {"generator": streams(3).pairs, "fabric": fabric, "checkpoint": Checkpoint(path, seconds=0.0)}
            try:
                for record in train(Counting(source, left, die_by_exception), encoder, loss, **options):
                    steps.append(record.step)
            except Killed:
                continue
        found[name] = state(encoder, loss), steps
    return found


def ends(fabric) -> dict:
    """Runs that end early: the loop is left, or a target is reached."""
    left, seen = [], []
    source, encoder, loss, options = parts("gradient descent", True, seed=3)
    options |= {"generator": streams(3).pairs, "fabric": fabric}
    for record in train(source, encoder, loss, **options):
        left.append(record.step)
        break

    def measure(_):
        seen.append(fabric.global_rank)
        return {"score": 1.0}

    reached = list(train(source, encoder, loss, measure=measure, until=Target("score", at_least=1.0), **options))
    return {"left": left, "measured by": seen, "reached": [record.step for record in reached]}


def unused(fabric) -> dict[str, torch.Tensor]:
    source, encoder, loss, options = parts("gradient descent", True, seed=3)
    partly = Partly(encoder)
    with torch.no_grad():
        partly.unused.weight.fill_(1.0 + fabric.global_rank)
    options |= {"optimizer": AdamW(1e-2, weight_decay=0.5), "generator": streams(3).pairs, "fabric": fabric}
    list(train(source, partly, loss, **options))
    return state(partly.unused)


def refusals(fabric) -> dict[str, str]:
    return {
        "share": refusal(lambda: shared(fabric, "gradient descent", batch_size=fabric.world_size - 1)),
        "gather": refusal(lambda: shared(fabric, "gradient descent", gather=False)),
        "checkpoint of one": refusal(lambda: _resume_of_one(fabric)),
    }


def _resume_of_one(fabric) -> None:
    """Every process first trains for itself."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"generator": streams(3).pairs, "checkpoint": Checkpoint(Path(folder, "run"))}
        source, encoder, loss, options = parts("gradient descent", False, seed=3)
        list(train(source, encoder, loss, **options, **kept))
        train(source, encoder, info_nce(True), **options, **kept, fabric=fabric)


def refusal(call) -> str:
    try:
        call()
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def work(fabric, folder: str) -> int:
    """All of it in one start: starting processes is what takes the time. What is found is written down, not judged."""
    torch.set_num_threads(1)
    found = {
        "exact": exact(fabric),
        "bf16": shared(fabric, "gradient descent", dtype=torch.float32, precision="bf16"),
        "mutants": mutants(fabric),
        "killed": killed(fabric, folder),
        "ends": ends(fabric),
        "unused": unused(fabric),
        "refusals": refusals(fabric),
    }
    disband()
    found["disbanded"] = parts("gradient descent", True, seed=3)[2](PairEmbeddings(torch.eye(2), torch.eye(2))).total
    torch.save(found, Path(folder, f"{fabric.world_size}-{fabric.global_rank}.pt"))
    return fabric.global_rank


def fail(fabric) -> None:
    """One process fails while the other waits for it."""
    if fabric.global_rank == 1:
        raise LookupError("a reason of its own")
    torch.distributed.barrier()


def die(fabric) -> None:
    if fabric.global_rank == 1:
        die_by_signal()
    torch.distributed.barrier()
