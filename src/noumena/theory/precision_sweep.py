"""The loss as a function of one precision, at the true latents: where does training want it to be?"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .. import _checks
from ..conditionals import AbstractConditional, Anisotropic
from ..finding import Curve, Finding
from ..losses import infonce
from ..marginals import AbstractMarginal
from .base import AbstractComputation

CHUNK = 2**22  # squared differences held at once


class PrecisionSweep(AbstractComputation):
    """AnInfoNCE on latents against the one precision of its score, with negatives from a law of their own.

    Anchors follow the marginal, positives the conditional, and each anchor has `m` negatives from `negatives` about
    itself: hard ones, if that law is concentrated too. The best score is the log density ratio of the two laws, so
    with precisions L+ and L- the loss is lowest at L+ - L- (Rusak et al., 2024, Figure 10A); with uniform negatives
    at L+. The same draws serve all precisions. The loss is convex in the precision, so that its minimum over them is
    found to round-off by bisection of the slope.

    Gives `loss_at_L` for each L asked for, `minimum` (the precision of the lowest loss on these draws) and
    `minimum_loss`, and the loss as a curve.

    Args:
        marginal, conditional: Laws of anchors and positives.
        negatives: Law of negatives given the anchor.
        at: Precisions to evaluate, at least two.
        anchors: How many.
        m: Negatives of each.
        half: Whether the score has the factor one half, as the conditionals of the published code.
    """

    def __init__(
        self,
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        *,
        negatives: Anisotropic,
        at: Sequence[float],
        anchors: int = 1500,
        m: int = 150,
        half: bool = False,
    ) -> None:
        self.marginal = _checks.kind("marginal", marginal, AbstractMarginal, "Pass one such as `Uniform(Sphere(20))`.")
        self.conditional = _checks.kind("conditional", conditional, AbstractConditional)
        _checks.kind("negatives", negatives, Anisotropic, "Pass one such as `Anisotropic([100.0] * 20)`.")
        self.negatives = negatives.on(marginal.space)
        self.at = [_checks.positive(f"at[{i}]", value) for i, value in enumerate(_checks.sequence("at", at))]
        if len(self.at) < 2:
            raise ValueError(f"`at` must name at least two precisions, got {self.at}.")
        self.anchors, self.m = _checks.count("anchors", anchors), _checks.count("m", m)
        self.factor = 0.5 if _checks.kind("half", half, bool) else 1.0

    @property
    def names(self) -> tuple[str, ...]:
        return (*(f"loss_at_{value:g}" for value in self.at), "minimum", "minimum_loss")

    def __call__(self, generator: torch.Generator) -> Finding:
        gaps = self._gaps(generator)
        losses = [_loss(gaps, value) for value in self.at]
        lowest = _lowest(gaps)
        values = {f"loss_at_{value:g}": loss for value, loss in zip(self.at, losses, strict=True)}
        curve = Curve(self.at, losses, "precision of the score", "loss")
        return Finding(values | {"minimum": lowest, "minimum_loss": _loss(gaps, lowest)}, {"loss": curve})

    def _gaps(self, generator: torch.Generator) -> Tensor:
        """How much farther each negative is than the positive, (n, m): what a precision of 1 makes of the scores."""
        z = self.marginal.sample(self.anchors, generator=generator, dtype=torch.float64)
        z_pos = self.conditional.sample(z, generator=generator)
        pos = (z_pos - z).square().sum(dim=1)
        rows = max(1, CHUNK // (self.m * z.shape[1]))
        neg = [self._distances(block, generator) for block in z.split(rows)]
        return self.factor * (torch.cat(neg) - pos[:, None])

    def _distances(self, z: Tensor, generator: torch.Generator) -> Tensor:
        repeated = z.repeat_interleave(self.m, dim=0)
        z_neg = self.negatives.sample(repeated, generator=generator)
        return (z_neg - repeated).square().sum(dim=1).view(len(z), self.m)


def _loss(gaps: Tensor, precision: float) -> float:
    return float(infonce(gaps.new_zeros(len(gaps)), -precision * gaps).mean())


def _slope(gaps: Tensor, precision: float) -> float:
    """Of the loss in the precision: minus the mean gap of the candidate that the score picks, 0 for the positive."""
    padded = torch.nn.functional.pad(gaps, (1, 0))
    return -float((torch.softmax(-precision * padded, dim=1) * padded).sum(dim=1).mean())


def _lowest(gaps: Tensor) -> float:
    """The slope rises with the precision; 0 where it is positive throughout, infinite where it is negative."""
    low, high = 0.0, 1.0
    while _slope(gaps, high) < 0:
        low, high = high, 2 * high
        if high > 1e6:
            return math.inf
    while high - low > 1e-9 * high and (low + high) / 2 not in (low, high):
        middle = (low + high) / 2
        low, high = (middle, high) if _slope(gaps, middle) < 0 else (low, middle)
    return (low + high) / 2
