"""Explicit recovery maps h: latents -> embeddings, for which losses can be computed without training.

Each treats the fixed part u and the varying part v of z = (u, v) apart, k = `fixed` coordinates being fixed, and keeps
the norm of z. Positives that keep u make them matter: `Shrink` beats every isometry in the plain loss (Theorem 4.5
of "The Loss Is Not Enough", arXiv 2606.04280), `FibreRotation` changes no loss (its Theorem A.5), `Fold` does not
change the adapted loss, and `Forget` is the best map of the adapted loss under the published sampler.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks, _fixed_part
from .._geometry import rotate_plane


@dataclass(frozen=True)
class AbstractMap(ABC):
    """h: (n, d) -> (n, d). Subclasses are frozen dataclasses that define `_map`, which sees checked latents only.

    Args:
        fixed: k, how many coordinates come first that positives keep.
    """

    fixed: int = 1

    def __post_init__(self) -> None:
        _checks.count("fixed", self.fixed)

    def __call__(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """The embeddings of latents."""
        if _checks.matrix("z", z).shape[1] <= self.fixed:
            raise ValueError(
                f"`z` must have more than the {self.fixed} fixed coordinates, so that something varies; "
                f"got {z.shape[1]}."
            )
        return self._map(z)

    @abstractmethod
    def _map(self, z: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Shrink(AbstractMap):
    """h(u, v) = r (u, factor v) / |(u, factor v)|: what varies is shrunk (or stretched), and the norm r restored.

    Invertible, and orthogonal at factor 1 alone. With 1 - epsilon for a small epsilon > 0 it has a lower plain loss
    than every isometry (Theorem 4.5).

    Args:
        factor: Positive; above 1 stretches.
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.positive("factor", self.factor)

    def _map(self, z: Tensor) -> Tensor:
        u, v = _fixed_part.split(z, self.fixed)
        h = torch.cat([u, self.factor * v], dim=1)
        return h * (z.norm(dim=1, keepdim=True) / h.norm(dim=1, keepdim=True))


@dataclass(frozen=True)
class FibreRotation(AbstractMap):
    """Turns the first two coordinates of v by the angle rate * u_1: each fibre within itself, each by another angle.

    It preserves the marginal, the law of pairs and the law of negatives on a fibre, so that h and h after it have equal
    losses, plain and adapted alike (Theorem A.5, an example); it is no isometry unless `rate` is 0. Two coordinates or
    more must vary.

    Args:
        rate: Radians for each unit of u_1.
    """

    rate: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.number("rate", self.rate)

    def _map(self, z: Tensor) -> Tensor:
        u, v = _fixed_part.split(z, self.fixed)
        if v.shape[1] < 2:
            raise ValueError(f"`z` must have two coordinates that vary, to be turned; got {v.shape[1]}.")
        turned = rotate_plane(v[:, :2], self.rate * u[:, 0])
        return torch.cat([u, turned, v[:, 2:]], dim=1)


@dataclass(frozen=True)
class Fold(AbstractMap):
    """h(u, v) = (|u|, v): two fibres laid onto one. What varies is recovered, and the signs of what is fixed are lost.

    On every fibre it is an isometry, so the adapted loss cannot tell it from the latents.
    """

    def _map(self, z: Tensor) -> Tensor:
        return _fixed_part.fold(z, self.fixed)


@dataclass(frozen=True)
class Forget(AbstractMap):
    """h(u, v) = r (0, v / |v|): nothing of u is left; for d = 3 and one fixed coordinate, a great circle.

    Where the angular law of positives has one concentration on every fibre, as under the published sampler, this is
    the best map of the adapted loss at tau = 1/kappa.
    """

    def _map(self, z: Tensor) -> Tensor:
        return _fixed_part.forget(z, self.fixed)
