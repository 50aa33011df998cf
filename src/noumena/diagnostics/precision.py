"""The precision that a loss learned, beside the truth."""

from dataclasses import dataclass

import numpy as np
import torch

from .. import _checks
from ..conditionals import Anisotropic
from ..finding import Curve, Finding
from ..losses import AbstractScore, AnisotropicScore, Ensemble, InfoNCE
from ..losses.base import AbstractLoss
from .base import AbstractDiagnostic, Source, Subject


@dataclass(frozen=True)
class LearnedPrecision(AbstractDiagnostic):
    """Trained precisions against those of the generating process, both sorted: AnInfoNCE finds them up to order.

    At the optimum the precision of the score is a permutation of the process's (Rusak et al., 2024), so its
    agreement says that the loss was met, and its spread how unevenly the factors vary. Both are brought to the scale
    without the factor one half. Of an ensemble each member is compared with its own process.

    Gives `precision_deviation`, the largest relative deviation over all coordinates, `precision_min` and
    `precision_max` as the score states them, and a curve of learned against true values. For two processes also
    `precision_correlation`, that of the logarithms of their two learned precisions over the coordinates that both
    share, and `true_precision_correlation`. Nothing where the loss learns no precision, as in a baseline.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return (
            "precision_deviation",
            "precision_min",
            "precision_max",
            "precision_correlation",
            "true_precision_correlation",
        )

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        scores, laws = _scores(subject.loss), _laws(subject.trained_on)
        if not scores:
            return Finding({})
        if len(scores) != len(laws):
            raise ValueError(
                f"`subject` must have a process for each learned precision, got {len(laws)} and {len(scores)}; "
                "train one loss for each process with `Ensemble`."
            )
        learned = [score.precision.cpu().double().numpy() for score in scores]
        true = [_precision(law) for law in laws]
        factors = [score.factor for score in scores]
        sorted_true = np.concatenate([np.sort(truth) / f for truth, f in zip(true, factors, strict=True)])
        sorted_learned = np.concatenate([np.sort(values) for values in learned])
        values = {
            "precision_deviation": float(np.abs(sorted_learned / sorted_true - 1).max()),
            "precision_min": float(sorted_learned.min()),
            "precision_max": float(sorted_learned.max()),
        }
        if len(scores) == 2:
            values["precision_correlation"] = _correlation(*learned)
            values["true_precision_correlation"] = _correlation(*true)
        curve = Curve(sorted_true.tolist(), sorted_learned.tolist(), "true precision, sorted", "learned precision")
        return Finding(values, {"precision": curve})


def _scores(loss: AbstractLoss | None) -> list[AnisotropicScore]:
    members = list(loss.losses) if isinstance(loss, Ensemble) else [loss]
    scores: list[AbstractScore] = [member.score for member in members if isinstance(member, InfoNCE)]
    return [one for one in scores if isinstance(one, AnisotropicScore) and one.values.raw is not None]


def _laws(source: Source) -> list[Anisotropic]:
    """One of each process: `Processes` has several, `Synthetic` one."""
    laws = getattr(source, "conditionals", None) or [getattr(source, "conditional", None)]
    return [
        _checks.kind("conditional", law, Anisotropic, "Other laws have no precision to compare with.") for law in laws
    ]


def _precision(law: Anisotropic) -> np.ndarray:
    """The matrix of its quadratic form, without the factor one half."""
    return np.asarray(law.precision, dtype=np.float64) * (0.5 if law.half else 1.0)


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    logs = np.log(one), np.log(other)
    if min(values.std() for values in logs) == 0:
        raise ValueError("`precision` must vary over coordinates for a correlation, got equal values.")
    return float(np.corrcoef(*logs)[0, 1])
