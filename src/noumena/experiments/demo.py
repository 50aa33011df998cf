"""One small recovery: the latents of a sphere, found from pairs alone."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import torch

from .. import _checks, metrics
from .._rng import streams
from ..conditionals import VonMisesFisher
from ..encoders import MLP
from ..losses import Dot, InBatch, InfoNCE
from ..marginals import Uniform
from ..mixings import Identity, InvertibleMLP
from ..pairs import Synthetic
from ..spaces import Sphere
from ..theory import loss_floor
from ..training import Adam, Annealing, Record, Schedule, embed, evaluate, train

KAPPA = 10 / 3  # of the experiments with three latents in "The Loss Is Not Enough"
HOT = 1.0  # temperature of the first step
READERS = (metrics.LinearR2(), metrics.MCC(), metrics.AngleError(normalise=True))


@dataclass(frozen=True)
class Recovery:
    """What the demonstration found.

    Attributes:
        recovered, identity: Scores of the embeddings, and of the observations left as they are, by metric.
        loss, floor, floor_error: InfoNCE on fresh pairs after training, and the least that any encoder can reach.
        steps, seconds, seed: How it came about.
    """

    recovered: dict[str, float]
    identity: dict[str, float]
    loss: float
    loss_error: float
    floor: float
    floor_error: float
    steps: int
    seconds: float
    seed: int

    def to_dict(self) -> dict:
        return asdict(self)


class Demo:
    """S², uniform latents, vMF positives, an invertible network as mixing, InfoNCE ending at the matched temperature.

    Iterate over `run()` for records while it trains; `result()` measures what was recovered on fresh pairs.

    Args:
        seed: Decides world, pairs, initial values and evaluation.
        steps, batch_size: Of training.
        evaluation: Fresh anchors that the scores are measured on.
    """

    def __init__(self, seed: int = 0, steps: int = 3000, batch_size: int = 512, evaluation: int = 8192) -> None:
        self.seed = _checks.count("seed", seed, low=0)
        self.steps, self.batch_size, self.evaluation = steps, batch_size, evaluation
        self._rng = streams(seed)
        self.space = Sphere(3)
        mixing = InvertibleMLP(3, generator=self._rng.world)
        self.source = Synthetic(Uniform(self.space), VonMisesFisher(KAPPA), mixing)
        self.encoder = MLP.small(3, 3, generator=self._rng.init)
        self.loss = InfoNCE(Dot(tau=1 / KAPPA), InBatch())
        self.seconds = 0.0

    def run(self, every: int = 100) -> Iterator[Record]:
        # At the matched temperature one seed in ten settles in a fold, (|z_1|, z_2, z_3) up to rotation, and stays
        # there. A hot start, in which every pair counts, puts the encoder beyond it.
        for record in train(
            self.source,
            self.encoder,
            self.loss,
            optimizer=Adam(lr=1e-2),
            steps=self.steps,
            batch_size=self.batch_size,
            generator=self._rng.pairs,
            schedule=Schedule(),
            annealing=Annealing(start=HOT, end=1 / KAPPA),
            every=every,
            measure=lambda _: self._scores(2048),
        ):
            self.seconds = record.seconds
            yield record

    def result(self) -> Recovery:
        value, error = self._fresh_loss()
        floor = loss_floor(self.source, self.loss, self.batch_size, generator=self._rng.eval, batches=100)
        identity = evaluate(self.source, Identity(3), READERS, n=self.evaluation, generator=self._rng.eval)
        return Recovery(
            recovered=self._scores(self.evaluation),
            identity={name: float(score) for name, score in identity.items()},
            loss=value,
            loss_error=error,
            floor=floor.value,
            floor_error=floor.error,
            steps=self.steps,
            seconds=self.seconds,
            seed=self.seed,
        )

    def _scores(self, n: int) -> dict[str, float]:
        scores = evaluate(self.source, self.encoder, READERS, n=n, generator=self._rng.eval)
        return {name: float(score) for name, score in scores.items()}

    @torch.no_grad()
    def _fresh_loss(self, batches: int = 100) -> tuple[float, float]:
        values = torch.stack(
            [
                self.loss(embed(self.encoder, self.source.draw(self.batch_size, self._rng.eval), self.loss)).total
                for _ in range(batches)
            ]
        ).double()
        return float(values.mean()), float(values.std() / batches**0.5)
