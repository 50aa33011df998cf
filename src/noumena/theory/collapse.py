"""What the plain loss comes to when an encoder reads the fixed coordinates alone."""

import math
from dataclasses import dataclass

import torch

from .. import _checks, _vmf
from ..finding import Finding
from ..spaces import AbstractSpace, Sphere
from .base import AbstractComputation


def collapse_bound(dim: int, tau: float, *, negatives: int | None = None) -> float:
    """The least that InfoNCE with uniform negatives and the score h.h'/tau can be on a unit sphere.

    Perfect alignment and perfect uniformity at once, -1/tau + log E exp(z.z'/tau): positives coincide and embeddings
    are uniform. Where positives keep a coordinate, a map of that coordinate alone that fills the sphere reaches it, so
    it is the infimum, and expressive encoders end there; where everything varies no map does.

    Args:
        dim: Coordinates of the embeddings.
        tau: Temperature.
        negatives: M, to give the loss itself with the positive in the denominator; None for the limit less log M.
    """
    _checks.count("dim", dim)
    pull = torch.tensor(1 / _checks.positive("tau", tau), dtype=torch.float64)
    limit = float(_vmf.log_scaled_normaliser(pull, dim)) - Sphere(dim).log_volume
    if negatives is None:
        return limit
    return math.log1p(_checks.count("negatives", negatives) * math.exp(limit))


@dataclass(frozen=True)
class CollapseBound(AbstractComputation):
    """`collapse_bound` of a row's space, in the limit and with a number of negatives.

    Args:
        space: A unit sphere.
        tau, negatives: See `collapse_bound`.
    """

    space: AbstractSpace
    tau: float
    negatives: int

    def __post_init__(self) -> None:
        if self.space != Sphere(self.space.dim):
            raise ValueError(f"`space` must be a unit sphere such as Sphere(3), got {self.space}.")

    @property
    def names(self) -> tuple[str, ...]:
        return ("infimum", "collapse_bound")

    def __call__(self, generator: torch.Generator) -> Finding:
        dim, tau = self.space.dim, self.tau
        bound = collapse_bound(dim, tau, negatives=self.negatives)
        return Finding({"infimum": collapse_bound(dim, tau), "collapse_bound": bound})
