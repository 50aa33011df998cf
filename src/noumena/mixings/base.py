"""From latents to observations."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks


class AbstractMixing(nn.Module, ABC):
    """g: (n, dim_in) -> (n, dim_out), fixed once built: values are buffers, never parameters.

    A mixing computes in the dtype and on the device of what it is given, whatever its buffers are stored in; with
    buffers in float64, the default, one world serves float32 training and float64 checks.

    Attributes:
        dim_in, dim_out: Coordinates of latents and of observations.
        invertible: Whether `inverse` exists (analytic or numerical), on the image of the mixing.
        smooth: Whether the map is continuous everywhere.
        differentiable: Whether torch can follow it, so that `jacobian` exists.
        shape_out: Of an observation that is an image, (channels, height, width); observations are rows all the same,
            of `dim_out` entries, and encoders of images reshape them. None for vectors.
    """

    dim_in: int
    dim_out: int
    invertible: bool = True
    smooth: bool = True
    differentiable: bool = True
    shape_out: tuple[int, int, int] | None = None

    def forward(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n x"]:
        return self._forward(_checks.matrix("z", z, self.dim_in))

    def inverse(self, x: Float[Tensor, "n x"]) -> Float[Tensor, "n d"]:
        """The latents behind `x`, which must lie in the image of the mixing."""
        if not self.invertible:
            raise ValueError(f"`{type(self).__name__}` has no inverse; choose a mixing with `invertible` set.")
        return self._inverse(_checks.matrix("x", x, self.dim_out))

    def jacobian(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n x d"]:
        """dg/dz at each row of `z`; where g jumps or has a kink, that of the piece `z` is assigned to.

        The ratio of its extreme singular values says how unevenly the mixing stretches space around `z`.
        """
        if not self.differentiable:
            raise ValueError(f"`{type(self).__name__}` has no Jacobian; choose a mixing with `differentiable` set.")
        with torch.enable_grad():
            z = _checks.matrix("z", z, self.dim_in).detach().requires_grad_()
            x = self(z)
            rows = [torch.autograd.grad(column.sum(), z, retain_graph=True)[0] for column in x.unbind(1)]
        return torch.stack(rows, 1)

    @abstractmethod
    def _forward(self, z: Tensor) -> Tensor: ...

    @abstractmethod
    def _inverse(self, x: Tensor) -> Tensor: ...
