"""Do positives and negatives overlap? If they do not, a batch cannot say how far apart things are."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from ..finding import Curve, Finding
from .base import AbstractDiagnostic, Subject


@dataclass(frozen=True)
class Overlap(AbstractDiagnostic):
    """Cosine similarities of positive pairs against those of negative pairs, within one batch.

    Where positives are concentrated and the batch is small, every positive is nearer than all negatives. The loss is
    then small for any embedding that keeps this order, and trains slowly; a larger batch brings negatives close
    enough to compare with (Rusak et al., 2024, Figure 8).

    Gives `overlap`, the common area of the two histograms (1: alike, 0: disjoint), and `nearest_is_positive`, the
    share of anchors whose nearest candidate in the batch is their positive, the accuracy of the task that InfoNCE
    sets. Curves are the two densities.

    Args:
        n: Pairs in the batch; give the batch size of training.
        of: "latents", a property of the process alone, or "embeddings", of what was learned.
        bins: Of the histograms, evenly spaced over [-1, 1].
    """

    n: int = 1000
    of: str = "embeddings"
    bins: int = 60

    def __post_init__(self) -> None:
        _checks.count("n", self.n, low=2)
        _checks.choice("of", self.of, ("latents", "embeddings"))
        _checks.count("bins", self.bins, low=2)

    @property
    def names(self) -> tuple[str, ...]:
        return ("overlap", "nearest_is_positive")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        positives, negatives = self._similarities(subject, generator)
        edges = np.linspace(-1, 1, self.bins + 1)
        overlap, curves = common_area(positives, negatives, edges, "cosine similarity")
        nearest = (negatives.view(self.n, -1) < positives[:, None]).all(dim=1)
        return Finding({"overlap": overlap, "nearest_is_positive": float(nearest.double().mean())}, curves)

    def _similarities(self, subject: Subject, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Of each anchor with its positive, and of each with the other anchors, one row after another."""
        batch = subject.trained_on.draw(self.n, generator)
        if self.of == "embeddings":
            rows, positive_rows = subject.encoder(batch.x), subject.encoder(batch.x_pos)
        elif batch.z is None or batch.z_pos is None:
            raise ValueError('`of="latents"` needs a source that knows its latents; use `of="embeddings"`.')
        else:
            rows, positive_rows = batch.z, batch.z_pos
        rows, positive_rows = (torch.nn.functional.normalize(one.double(), dim=1) for one in (rows, positive_rows))
        others = ~torch.eye(self.n, dtype=torch.bool, device=rows.device)
        # Rounding may carry a cosine past 1, where no bin would count it.
        positives = (rows * positive_rows).sum(dim=1).clamp(-1, 1)
        return positives.cpu(), (rows @ rows.mT)[others].clamp(-1, 1).cpu()


def common_area(positives: Tensor, negatives: Tensor, edges: np.ndarray, label: str) -> tuple[float, dict[str, Curve]]:
    """Of the two histograms (evenly spaced edges), and the two densities as curves."""
    densities = [np.histogram(one.numpy(), edges, density=True)[0] for one in (positives, negatives)]
    middle = ((edges[1:] + edges[:-1]) / 2).tolist()
    curves = {
        name: Curve(middle, density.tolist(), label, "density")
        for name, density in zip(("positive pairs", "negative pairs"), densities, strict=True)
    }
    return float(np.minimum(*densities).sum() * (edges[1] - edges[0])), curves
