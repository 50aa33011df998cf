"""Powers of each coordinate."""

import torch
from torch import Tensor

from .. import _checks
from .base import AbstractMixing


class Monomial(AbstractMixing):
    """x = (z_1, z_1^2, ..., z_1^degree, z_2, ..., z_dim^degree): a curved image of every coordinate on its own.

    It has no free values. The inverse reads the first powers, so it is exact. Large |z| overflow early: |z| <= 1 is
    what it is meant for.

    Args:
        dim: Coordinates of z; x has dim * degree.
        degree: Highest power, 7 in "The Loss Is Not Enough" (arXiv 2606.04280).
    """

    def __init__(self, dim: int, degree: int = 7):
        super().__init__()
        self.degree = _checks.count("degree", degree)
        self.dim_in = _checks.count("dim", dim)
        self.dim_out = dim * degree

    def _forward(self, z: Tensor) -> Tensor:
        return torch.stack([z**power for power in range(1, self.degree + 1)], -1).flatten(1)

    def _inverse(self, x: Tensor) -> Tensor:
        return x[:, :: self.degree]
