"""The law of one latent, p(z)."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from ..spaces import AbstractSpace


class AbstractMarginal(ABC):
    """A law on `space`. Subclasses are frozen dataclasses whose first field is the space.

    `normalised` says whether `log_prob` integrates to one over the space, or is known up to a constant only.
    """

    space: AbstractSpace
    normalised: bool = True

    @abstractmethod
    def sample(self, n: int, *, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Float[Tensor, "n d"]:
        """`n` independent draws, on the generator's device."""

    @abstractmethod
    def log_prob(self, z: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """Log density with respect to the space's measure; -inf outside of the space."""
