"""Are classes to be found in what an encoder makes of images?"""

import copy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from .. import _checks
from ..data.augmentations import AbstractAugmentation
from ..data.base import AbstractImageTable
from ..finding import Curve, Finding
from ..metrics.readout import Accuracy, knn_accuracy, linear_probe, sgd_probe
from . import encoding
from .base import AbstractDiagnostic, Subject


@dataclass(frozen=True)
class AbstractClassReader(AbstractDiagnostic):
    """A reader that is fitted on one table's classes and scored on another's.

    Args:
        train, test: Tables with labels.
        of: "features", those before a projection head, or "embedding", what the loss sees. Names of numbers tell the
            latter by a suffix, so that a table can ask for both.
        view: What is done to every image first, such as `Normalize`; nothing by default.
    """

    train: AbstractImageTable
    test: AbstractImageTable
    of: str = "features"
    view: AbstractAugmentation | None = None

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for name in ("train", "test"):
            table = getattr(self, name)
            encoding.check_table(name, table)
            if table.labels is None:
                raise ValueError(f"`{name}` must have labels, and `{table.name}` has none.")
        _checks.choice("of", self.of, encoding.OF)
        if self.view is not None:
            encoding.check_augmentation("view", self.view)

    @property
    def names(self) -> tuple[str, ...]:
        return self._three(self._called())

    def _called(self) -> str:
        return self.name if self.of == "features" else f"{self.name}_{self.of}"

    def _three(self, name: str) -> tuple[str, ...]:
        return (name, f"{name}_low", f"{name}_high")

    def _values(self, name: str, found: Accuracy) -> dict[str, float]:
        return dict(zip(self._three(name), (found.value, *found.interval), strict=True))

    def _sets(self, encoder: nn.Module, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Features and labels of training rows, and of test rows."""
        return (*self._set(encoder, self.train, generator), *self._set(encoder, self.test, generator))

    def _set(self, encoder: nn.Module, table: AbstractImageTable, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        rows = torch.arange(len(table))
        h = encoding.encode(encoder, table, rows, of=self.of, augmentation=self.view, generator=generator)
        assert table.labels is not None  # checked when this was made
        return h, table.labels.to(h.device)


@dataclass(frozen=True)
class KNNAccuracy(AbstractClassReader):
    """Accuracy of the nearest training images' vote, `metrics.knn_accuracy`: quick enough to follow training with.

    Gives `knn_accuracy` and the ends of its interval of 95 %, `knn_accuracy_low` and `knn_accuracy_high`.

    Args:
        k: Neighbours.
        metric: "cosine" or "euclidean".
    """

    k: int = 5
    metric: str = "cosine"

    name: ClassVar = "knn_accuracy"

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        found = knn_accuracy(*self._sets(subject.encoder, generator), k=self.k, metric=self.metric)
        return Finding(self._values(self._called(), found))


@dataclass(frozen=True)
class LinearProbe(AbstractClassReader):
    """Accuracy of logistic regression on features that stay as they are, `metrics.linear_probe`.

    Gives `linear_probe`, `linear_probe_low` and `linear_probe_high`.
    """

    name: ClassVar = "linear_probe"

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        seed = int(torch.randint(2**31, (1,), generator=generator, device=generator.device))
        return Finding(self._values(self._called(), linear_probe(*self._sets(subject.encoder, generator), seed=seed)))


@dataclass(frozen=True)
class SGDProbe(AbstractClassReader):
    """The linear probe as The Loss Is Not Enough trained it, `metrics.sgd_probe`.

    Its code also puts the frozen encoder into training mode while the probe is trained: dropout is on, and statistics
    of batch normalisation drift with every step. `mode="train"` does so, on a copy of the encoder, and scores in
    evaluation mode; every image is then encoded once an epoch.

    Gives `sgd_probe_best`, the published number, and `sgd_probe_last`, each with the ends of its interval; and the
    curve of test accuracy over epochs.

    Args:
        mode: Of the encoder while the probe is trained, "eval" or "train".
        epochs, lr, momentum, batch_size: Of the descent.
    """

    mode: str = "eval"
    epochs: int = 100
    lr: float = 0.1
    momentum: float = 0.9
    batch_size: int = 256

    name: ClassVar = "sgd_probe"

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.choice("mode", self.mode, ("eval", "train"))
        _checks.count("epochs", self.epochs)
        _checks.positive("lr", self.lr)
        _checks.count("batch_size", self.batch_size)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for which in ("best", "last") for name in self._three(f"{self._called()}_{which}"))

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        options = {name: getattr(self, name) for name in ("epochs", "lr", "momentum", "batch_size")}
        if self.mode == "eval":
            found = sgd_probe(*self._sets(subject.encoder, generator), generator=generator, **options)
        else:
            found = self._drifting(copy.deepcopy(subject.encoder), generator, options)
        values = {}
        for which in ("best", "last"):
            values |= self._values(f"{self._called()}_{which}", getattr(found, which))
        epochs = [epoch + 1.0 for epoch in range(len(found.each))]
        return Finding(values, {self._called(): Curve(epochs, found.each, "epoch of the probe", "test accuracy")})

    def _drifting(self, encoder: nn.Module, generator: torch.Generator, options: dict):
        assert self.train.labels is not None and self.test.labels is not None
        device = next(encoder.parameters(), torch.empty(0)).device

        def features(rows: Tensor) -> Tensor:
            encoder.train()
            read = encoding.reader(encoder, self.of)
            parts = encoding.pixels(encoder, self.train, rows.cpu(), self.view, generator)
            return torch.cat([read(x) for x in parts])

        def test() -> Tensor:
            encoder.eval()
            return self._set(encoder, self.test, generator)[0]

        # Dropout draws from torch's global generator, which is given back as it was.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator, device=generator.device)))
            labels, truth = (table.labels.to(device) for table in (self.train, self.test) if table.labels is not None)
            return sgd_probe(features, labels, test, truth, generator=generator, **options)
