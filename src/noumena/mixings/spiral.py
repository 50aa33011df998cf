"""A rotation whose angle grows with height."""

import math

import torch
from torch import Tensor

from .. import _checks
from .._geometry import rotate_plane
from .base import AbstractMixing


class Spiral(AbstractMixing):
    """Turns (z_1, z_2) counter-clockwise by period * pi * z_3 and leaves every other coordinate alone.

    A smooth bijection of R^dim that keeps norms, hence of every sphere and ball about the origin. With the published
    period of 2 the poles of the unit sphere make one full turn each ("The Loss Is Not Enough", arXiv 2606.04280).

    Args:
        period: Half turns between z_3 = 0 and z_3 = 1; negative values turn the other way, 0 is the identity.
        dim: Coordinates of z and of x, at least 3.
    """

    def __init__(self, period: float = 2.0, *, dim: int = 3):
        super().__init__()
        self.period = _checks.number("period", period)
        self.dim_in = self.dim_out = _checks.count("dim", dim, low=3)

    def _forward(self, z: Tensor) -> Tensor:
        return self._turn(z, 1)

    def _inverse(self, x: Tensor) -> Tensor:
        return self._turn(x, -1)

    def _turn(self, points: Tensor, sign: int) -> Tensor:
        angle = sign * math.pi * self.period * points[:, 2]
        return torch.cat([rotate_plane(points[:, :2], angle), points[:, 2:]], 1)
