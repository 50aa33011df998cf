"""Can a classifier tell observations of training from those of the test?"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import bdtrc
from torch import Tensor

from .. import _checks
from .._binomial import clopper_pearson
from ..finding import Curve, Finding
from . import arrays
from .arrays import Rows
from .base import AbstractDiagnostic, Source, Subject
from .reading import Reading
from .sample import Sample

ROWS, WIDTH = 4000, 64
NEAR = 0.53  # accuracies below it do not matter
FAR = 0.75  # from it on, most test rows lie where few anchors do


@dataclass(frozen=True)
class DomainClassifier(AbstractDiagnostic):
    """Accuracy of a binary classifier between observations trained on and observations tested on.

    An encoder is only bound to be right where it was trained. A classifier that sees observations alone, as a
    practitioner does, says whether the test lies elsewhere: an accuracy of 0.5 is one domain, 1 two that do not meet
    (Rusak et al., 2024, Figure 6; their augmented against raw images are told apart in 99 % of cases).

    The classifier is a network of one hidden layer on standardised raw observations, fitted on one half with its own
    early stopping and scored on the other. Mixings bend the boundary, so that a linear one would see too little.

    Gives `domain_accuracy`.

    Args:
        n: Observations of each domain.
        width: Of the hidden layer.
    """

    n: int = 4000
    width: int = 64

    def __post_init__(self) -> None:
        _checks.count("n", self.n, low=100)
        _checks.count("width", self.width)

    @property
    def names(self) -> tuple[str, ...]:
        return ("domain_accuracy",)

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        trained, tested = (self._observations(source, generator) for source in (subject.trained_on, subject.source))
        found = classify(trained, tested, self.width, generator)
        return Finding({"domain_accuracy": found.right / found.scored})

    def _observations(self, source: Source, generator: torch.Generator) -> np.ndarray:
        return source.draw(self.n, generator).x.flatten(start_dim=1).double().cpu().numpy()


class Classified(NamedTuple):
    """Held-out rows that were told apart, of how many."""

    right: int
    scored: int


def classify(trained: np.ndarray, tested: np.ndarray, width: int, generator: torch.Generator) -> Classified:
    """Fits the classifier on one half of equally many rows of both domains, and scores it on the other."""
    # Slow to import, and no other diagnostic needs it.
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    n, half = len(trained), len(trained) // 2
    fit, score = (np.concatenate([trained[rows], tested[rows]]) for rows in (slice(half), slice(half, None)))
    seed = int(torch.randint(2**31, (1,), generator=generator, device=generator.device))
    network = MLPClassifier((width,), early_stopping=True, max_iter=1000, random_state=seed)
    classifier = make_pipeline(StandardScaler(), network).fit(fit, _labels(half))
    right = int((classifier.predict(score) == _labels(n - half)).sum())
    return Classified(right, 2 * (n - half))


def _labels(n: int) -> np.ndarray:
    return np.repeat([0, 1], n)


def read(sample: Sample, h: Rows, h_test: Rows) -> Reading:
    n = min(ROWS, len(h), len(h_test))
    trained, tested = (_some(name, rows, n, sample.generator) for name, rows in (("h_anchor", h), ("h_test", h_test)))
    right, scored = classify(trained.numpy(), tested.numpy(), WIDTH, sample.generator)
    accuracy, interval = right / scored, clopper_pearson(right, scored)
    # At least `right` by chance.
    p_value = float(bdtrc(right - 1, scored, 0.5)) if right else 1.0
    differs = p_value < sample.level and accuracy >= NEAR
    shift = trained.mean(dim=0) - tested.mean(dim=0)
    distance = (shift.abs() / torch.cat([trained, tested]).std(dim=0).clamp(min=1e-300)).sort(descending=True)
    some = ", ".join(str(column) for column in distance.indices[:3].tolist())
    labels = ("column, farthest apart first", "distance of means over the deviation")
    return Reading(
        name="domain",
        number="held-out accuracy of a classifier of test rows against anchors",
        value=accuracy,
        interval=interval,
        verdict="ok" if not differs else "problem" if accuracy >= FAR else "warning",
        sentence=(
            f"Test rows can be told from anchors in {accuracy:.0%} of cases; means differ most in columns {some}."
            if differs
            else "Test rows cannot be told from anchors."
        ),
        advice=(
            "An encoder is only bound to be right where it was trained: train on views like those of the test (the "
            "raw observations among them), or weigh what is measured there accordingly."
            if differs
            else ""
        ),
        test=(
            f"Null: one law. Network of one hidden layer, fitted on half of {n} rows of each; exact binomial test of "
            f"its accuracy on the other half. Accuracies below {NEAR:.0%} do not matter."
        ),
        p_value=p_value,
        details={"rows": n},
        curves={"distance": Curve([j + 1.0 for j in range(len(shift))], distance.values.tolist(), *labels)},
    )


def _some(name: str, rows: Rows, n: int, generator: torch.Generator) -> Tensor:
    picked = torch.randperm(len(rows), generator=generator)[:n]
    # Ascending for the disk, then in random order again, since halves are cut by position.
    order = picked.sort().indices
    taken = arrays.take(name, rows, picked[order])
    return taken[torch.randperm(n, generator=generator)]
