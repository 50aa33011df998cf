"""Can a classifier tell observations of training from those of the test?"""

from dataclasses import dataclass

import numpy as np
import torch

from .. import _checks
from ..finding import Finding
from .base import AbstractDiagnostic, Source, Subject


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
        # Slow to import, and no other diagnostic needs it.
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        trained, tested = (self._observations(source, generator) for source in (subject.trained_on, subject.source))
        half = self.n // 2
        fit, score = (np.concatenate([trained[rows], tested[rows]]) for rows in (slice(half), slice(half, None)))
        seed = int(torch.randint(2**31, (1,), generator=generator, device=generator.device))
        network = MLPClassifier((self.width,), early_stopping=True, max_iter=1000, random_state=seed)
        classifier = make_pipeline(StandardScaler(), network).fit(fit, _labels(half))
        return Finding({"domain_accuracy": float(classifier.score(score, _labels(self.n - half)))})

    def _observations(self, source: Source, generator: torch.Generator) -> np.ndarray:
        return source.draw(self.n, generator).x.flatten(start_dim=1).double().cpu().numpy()


def _labels(n: int) -> np.ndarray:
    return np.repeat([0, 1], n)
