"""How far the latents of training are from uniform, as theory assumes them."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from ..finding import Finding
from ..marginals import AbstractMarginal
from ..theory import transported_mass
from .base import AbstractDiagnostic, Subject


@runtime_checkable
class World(Protocol):
    """What must be known of the source, as `pairs.Synthetic` knows it."""

    @property
    def marginal(self) -> AbstractMarginal: ...


@dataclass(frozen=True)
class TransportedMass(AbstractDiagnostic):
    """`theory.transported_mass` of the marginal trained on: 0 where it is uniform, 1 where it has nothing of that.

    Beside scores over the concentration of a marginal it says how much of the assumption is left where they fall
    (Zimmermann et al., 2021, Figure 2).

    Gives `transported_mass`.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return ("transported_mass",)

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        world = subject.trained_on
        if not isinstance(world, World):
            raise ValueError(
                f"`subject` must have trained on a source with a known marginal, got `{type(world).__name__}`."
            )
        return Finding({"transported_mass": transported_mass(world.marginal, generator=generator)})
