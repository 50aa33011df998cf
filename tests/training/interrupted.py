"""Runs that a test can kill: as functions, and as a program of its own."""

import os
import signal
import sys
from pathlib import Path

import torch

from noumena import streams
from noumena.conditionals import Anisotropic, VonMisesFisher
from noumena.encoders import MLP, ImageMLP
from noumena.losses import AnisotropicScore, Dot, InfoNCE
from noumena.marginals import Uniform
from noumena.metrics import LinearR2
from noumena.mixings import Spiral
from noumena.pairs import Synthetic
from noumena.pairs.base import AbstractPairSource
from noumena.spaces import Sphere
from noumena.training import (
    EMA,
    SGD,
    Adam,
    Annealing,
    BatchGrowth,
    Checkpoint,
    Evaluation,
    Muon,
    Record,
    Schedule,
    train,
)

STEPS = 11
CASES = {
    "adam": {"optimizer": Adam(1e-2)},
    "sgd": {"optimizer": SGD(0.1, momentum=0.9), "clip": 0.5},
    "muon": {"optimizer": Muon()},
    "annealing": {"optimizer": Adam(1e-2), "annealing": Annealing(1.0, 0.3)},
    "batch growth": {"optimizer": Adam(1e-2), "batch_size": BatchGrowth(8, 32)},
    "average": {"optimizer": Adam(1e-2), "ema": EMA(0.9)},
    "batch normalisation": {"optimizer": Adam(1e-2), "norm": "batch", "ema": EMA(0.9)},
    "learned precision": {"optimizer": Muon(rest=Adam(1e-2, rates={"loss": 4.0})), "learned": True},
    "chunks": {"optimizer": Adam(1e-2), "norm": "batch", "chunk": 9},
    "dropout in chunks": {"optimizer": Adam(1e-2), "images": True, "chunk": 9, "ema": EMA(0.9)},
    "bfloat16": {"optimizer": Adam(1e-2), "precision": "bf16"},
}


class Killed(Exception):
    pass


class Counting(AbstractPairSource):
    """A source whose draw number `fatal` calls `die`, counted over training and measurement."""

    def __init__(self, source, fatal, die):
        self.source, self.left, self.die = source, fatal, die

    def _draw(self, n, generator, dtype):
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.die()
        return self.source.draw(n, generator, dtype)


def die_by_exception():
    raise Killed


def die_by_signal():
    os.kill(os.getpid(), signal.SIGKILL)


class Run:
    """One run of a case, as a process that starts from nothing builds it."""

    def __init__(self, case, path=None, fatal=None, die=die_by_exception, seconds=0.0, **changes):
        options = dict(CASES[case]) | changes
        rng = streams(3)
        learned = options.pop("learned", False)
        conditional = Anisotropic([8.0, 4.0, 4.0]) if learned else VonMisesFisher(10 / 3)
        source = Counting(Synthetic(Uniform(Sphere(3)), conditional, Spiral()), fatal, die)
        norm = options.pop("norm", None)
        if options.pop("images", False):
            self.encoder = ImageMLP((1, 1, 3), 3, [8, 8], dropout=0.2, generator=rng.init)
        else:
            self.encoder = MLP(3, 3, [8, 8, 8], norm=norm, init="he", generator=rng.init)
        self.loss = InfoNCE(AnisotropicScore(1.0, 3) if learned else Dot(0.3))
        self.checkpoint = None if path is None else Checkpoint(path, seconds=seconds)
        self.records = train(
            source,
            self.encoder,
            self.loss,
            **{"steps": STEPS, "batch_size": 16, "every": 3, "schedule": Schedule(0.2), **options},
            generator=rng.pairs,
            streams={"eval": rng.eval},
            measure=Evaluation(source, [LinearR2()], 16, rng.eval),
            checkpoint=self.checkpoint,
        )

    def parameters(self) -> list[torch.Tensor]:
        return [tensor.clone() for module in (self.encoder, self.loss) for tensor in module.state_dict().values()]


def go_on(run: Run, log: Path) -> None:
    """Append the records to a log, as whoever keeps a run does: what the checkpoint does not hold yet comes again."""
    held = 0 if run.checkpoint is None else run.checkpoint.step()
    lines = log.read_text().splitlines(keepends=True) if log.exists() else []
    kept = [line for line in lines if line.endswith("\n") and Record.from_json(line).step <= held]
    log.write_text("".join(kept))
    with open(log, "a") as file:
        for record in run.records:
            file.write(record.to_json() + "\n")
            file.flush()


if __name__ == "__main__":
    case, folder, fatal = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    go_on(Run(case, folder / "run.safetensors", fatal or None, die_by_signal), folder / "records.jsonl")
