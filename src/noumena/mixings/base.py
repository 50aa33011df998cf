"""From latents to observations."""

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks


class AbstractMixing(nn.Module, ABC):
    """g: (n, dim_in) -> (n, dim_out), fixed once built: values are buffers, never parameters.

    Attributes:
        dim_in, dim_out: Coordinates of latents and of observations.
        invertible: Whether `inverse` exists (analytic or numerical), on the image of the mixing.
        smooth: Whether the map is continuous everywhere.
    """

    dim_in: int
    dim_out: int
    invertible: bool = True
    smooth: bool = True

    def forward(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n x"]:
        return self._forward(_checks.matrix("z", z, self.dim_in))

    def inverse(self, x: Float[Tensor, "n x"]) -> Float[Tensor, "n d"]:
        """The latents behind `x`, which must lie in the image of the mixing."""
        if not self.invertible:
            raise ValueError(f"`{type(self).__name__}` has no inverse; choose a mixing with `invertible` set.")
        return self._inverse(_checks.matrix("x", x, self.dim_out))

    @abstractmethod
    def _forward(self, z: Tensor) -> Tensor: ...

    @abstractmethod
    def _inverse(self, x: Tensor) -> Tensor: ...
