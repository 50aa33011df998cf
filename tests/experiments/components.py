"""Components that only tables of the tests name, by their importable path."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from noumena.batch import PairBatch
from noumena.conditionals import AbstractConditional
from noumena.data import AbstractImageTable
from noumena.diagnostics import AbstractDiagnostic, Subject
from noumena.encoders import AbstractEncoder
from noumena.finding import Curve, Finding
from noumena.losses import AbstractLoss, LossOutput
from noumena.losses.base import check_embeddings
from noumena.marginals import AbstractMarginal
from noumena.pairs import AbstractPairSource
from noumena.spaces import AbstractSpace
from noumena.theory import AbstractComputation


@dataclass(frozen=True)
class PairDistance(AbstractDiagnostic):
    """Mean squared distance of pairs, in the world where scores are measured and in the one trained on."""

    n: int = 256

    @property
    def names(self) -> tuple[str, ...]:
        return ("distance", "trained_distance")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        sources = (subject.source, subject.trained_on)
        batches = [source.draw(self.n, generator) for source in sources]
        apart = [float((batch.z - batch.z_pos).square().sum(dim=1).mean()) for batch in batches]  # pyright: ignore
        return Finding(
            dict(zip(self.names, apart, strict=True)), {"apart": Curve([0.0, 1.0], apart, "world", "distance")}
        )


class Dimension(AbstractComputation):
    """Of the space, and a draw."""

    def __init__(self, space: AbstractSpace, power: int = 1) -> None:
        self.space, self.power = space, power

    @property
    def names(self) -> tuple[str, ...]:
        return ("dimension", "draw")

    def __call__(self, generator: torch.Generator) -> Finding:
        return Finding(
            {"dimension": float(self.space.dim**self.power), "draw": float(torch.rand(1, generator=generator))}
        )


class Nearness(AbstractLoss):
    """Mean squared distance of pairs; knows nothing of other processes."""

    def forward(self, embeddings):
        check_embeddings(embeddings)
        apart = (embeddings.h - embeddings.h_pos).square().sum(dim=1)
        return LossOutput(apart.mean(), apart, {})


class Bars(AbstractImageTable):
    """Bars at two places of 8x8 pixels, which are their factors, in sequences of five; their class is the half that the
    first one stands in."""

    shape = (1, 8, 8)
    factor_names = ("row", "column")
    made: ClassVar[list[str]] = []  # what was constructed, in order

    def __init__(self, rows: int = 64, split: str = "train", root: str | None = None) -> None:
        if root is not None and not Path(root).is_dir():
            raise FileNotFoundError(f"no folder `{root}`; run `noumena data fetch bars`.")
        self.name, self.split = f"bars/{split}", split
        self.made.append(self.name)
        generator = torch.Generator().manual_seed(len(split))
        self.factors = 2 * torch.rand(rows, 2, generator=generator) - 1
        self.places = ((self.factors + 1) * 3.999).long()
        self.labels = (self.factors[:, 0] > 0).long()
        self.class_names = ("above", "below")
        self.episodes = np.arange(rows) // 5

    def __len__(self) -> int:
        return len(self.places)

    def _images(self, rows: Tensor) -> Tensor:
        images = torch.zeros(len(rows), 1, 8, 8, dtype=torch.uint8)
        first, second = self.places[rows].unbind(1)
        index = torch.arange(len(rows))
        images[index, 0, first] += 100
        images[index, 0, :, second] += 100
        return images


class Unnamed(Bars):
    """Bars of which nothing is known but their classes."""

    factor_names = ()

    def __init__(self, rows: int = 64) -> None:
        super().__init__(rows)
        self.factors = None


class Noisy(AbstractPairSource):
    """Two views of one image, with noise."""

    def __init__(self, table: AbstractImageTable, noise: float = 0.1) -> None:
        self.table, self.noise = table, noise

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        rows = torch.randint(len(self.table), (n,), generator=generator)
        x = self.table.images(rows).to(dtype) / 255
        views = [x + self.noise * torch.rand(x.shape, generator=generator, dtype=dtype) for _ in range(2)]
        return PairBatch(x=views[0], x_pos=views[1])


class Lookup(Noisy):
    """Pairs whose law is said, and not drawn."""

    def __init__(self, table: AbstractImageTable, marginal: AbstractMarginal, conditional: AbstractConditional) -> None:
        super().__init__(table)
        self.marginal, self.conditional = marginal, conditional


class Flat(AbstractEncoder):
    """A linear map of flattened images, with batch normalisation so that modes differ."""

    def __init__(self, shape, dim_out: int, *, head="free", generator: torch.Generator) -> None:
        super().__init__(math.prod(shape), dim_out, head=head, generator=generator)
        self.shape = tuple(shape)
        self.weight = torch.nn.Parameter(0.1 * torch.randn(self.dim_in, dim_out, generator=generator))
        self.norm = torch.nn.BatchNorm1d(dim_out)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return self.shape

    def body(self, x: Tensor) -> Tensor:
        return self.norm(x.flatten(1) @ self.weight)


@dataclass(frozen=True)
class SameClass(AbstractDiagnostic):
    """How often the nearest other embedding of a table has the row's class."""

    table: AbstractImageTable

    @property
    def names(self) -> tuple[str, ...]:
        return ("same_class",)

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        h = subject.encoder(self.table.images(torch.arange(len(self.table))).float() / 255)
        apart = torch.cdist(h, h).fill_diagonal_(torch.inf)
        labels = self.table.labels
        assert labels is not None
        return Finding({"same_class": float((labels[apart.argmin(1)] == labels).float().mean())})
