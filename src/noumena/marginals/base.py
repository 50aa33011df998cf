"""The law of one latent, p(z)."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..spaces import AbstractSpace


class AbstractMarginal(ABC):
    """A law on `space`. Subclasses are frozen dataclasses whose first field is the space.

    They define `_sample` and `_log_prob`, which see checked arguments only.

    `normalised` says whether `log_prob` integrates to one over the space, or is known up to a constant only.
    """

    space: AbstractSpace
    normalised: bool = True

    def sample(self, n: int, *, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Float[Tensor, "n d"]:
        """`n` independent draws, on the generator's device."""
        return self._sample(_checks.count("n", n), _checks.generator(generator), _checks.dtype(dtype))

    def log_prob(self, z: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """Log density with respect to the space's measure; -inf outside of the space."""
        return self._log_prob(_checks.matrix("z", z, self.space.dim))

    @abstractmethod
    def _sample(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor: ...

    @abstractmethod
    def _log_prob(self, z: Tensor) -> Tensor: ...
