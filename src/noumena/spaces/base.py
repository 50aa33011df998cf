"""Where latents and embeddings live."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .. import _checks


class AbstractSpace(ABC):
    """A subset of R^dim with a reference measure.

    Subclasses are frozen dataclasses: two spaces with equal fields are equal. They define the methods that begin with
    an underscore, which see checked arguments only.
    """

    dim: int

    @property
    @abstractmethod
    def bounded(self) -> bool:
        """Whether the volume is finite, so that a uniform law exists."""

    @property
    @abstractmethod
    def log_volume(self) -> float:
        """Log of the volume in the space's own measure (surface area on a sphere)."""

    def contains(self, z: Float[Tensor, "n d"]) -> Bool[Tensor, " n"]:
        """Which rows lie in the space, up to the rounding of their dtype; those with NaN do not."""
        return self._contains(_checks.rows("z", z, self.dim))

    def project(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """The nearest point of the space to each row."""
        return self._project(_checks.matrix("z", z, self.dim))

    def sample_uniform(
        self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "n d"]:
        """Draws from the uniform law; an unbounded space has none and raises ValueError."""
        return self._sample_uniform(_checks.count("n", n), _checks.generator(generator), _checks.dtype(dtype))

    @abstractmethod
    def _contains(self, z: Tensor) -> Tensor: ...

    @abstractmethod
    def _project(self, z: Tensor) -> Tensor: ...

    def _sample_uniform(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        """Defined by bounded spaces."""
        raise ValueError(f"a uniform law needs a bounded space, got `{self}`; use `Sphere` or `Box`.")

    def require(self, name: str, z: Tensor) -> Tensor:
        """`z`, if it is an (n, dim) tensor of points of this space; an error that names the worst row otherwise."""
        _checks.matrix(name, z, self.dim)
        inside = self._contains(z)
        if not bool(inside.all()):
            row = int((~inside).nonzero()[0])
            raise ValueError(
                f"`{name}` must lie in {self}; {int((~inside).sum())} of {len(z)} rows do not, the first is row {row}. "
                "`space.project` moves points into a space."
            )
        return z
