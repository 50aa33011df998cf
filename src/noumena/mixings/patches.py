"""A rotation that jumps from slice to slice, applied about two axes."""

import math

import torch
from torch import Tensor

from .. import _checks
from .._geometry import rotate_plane, slice_index
from .base import AbstractMixing


class Patches(AbstractMixing):
    """x = P(Q(P(z))): an injective map of the sphere that tears it into patches.

    P cuts |z_3| into equal slices i = 0, 1, ... (i on (i/slices, (i+1)/slices]) and turns (z_1, z_2) counter-clockwise
    by pi / (slices - i); Q takes (a, b, c) to (c, b, -a). P and Q keep norms and P keeps z_3, so that the inverse
    undoes them one by one. Discontinuous wherever P crosses a slice border: theorems that ask for a continuous mixing
    do not cover it, which is what it is for ("The Loss Is Not Enough", arXiv 2606.04280; four slices there).

    Entries are trimmed to [-1, 1] as published. That only removes round-off, because points outside the unit ball are
    refused. A point within round-off of a border cannot say on which side of it its latent lay; there the inverse may
    return the latent of the other side, which mixes to the same point.

    Args:
        slices: Number of slices of |z_3|.
    """

    smooth = False

    def __init__(self, slices: int = 4):
        super().__init__()
        self.slices = _checks.count("slices", slices)
        self.dim_in = self.dim_out = 3

    def _forward(self, z: Tensor) -> Tensor:
        a, b, c = self._turn_slices(_in_ball("z", z), 1).unbind(1)
        return self._turn_slices(torch.stack([c, b, -a], 1), 1).clamp(-1, 1)

    def _inverse(self, x: Tensor) -> Tensor:
        c, b, a = self._turn_slices(_in_ball("x", x), -1).unbind(1)
        return self._turn_slices(torch.stack([-a, b, c], 1), -1)

    def _turn_slices(self, points: Tensor, sign: int) -> Tensor:
        height = points[:, 2]
        angle = sign * math.pi / (self.slices - slice_index(height, self.slices).to(height))
        return torch.cat([rotate_plane(points[:, :2], angle), points[:, 2:]], 1)


def _in_ball(name: str, points: Tensor) -> Tensor:
    norm = points.norm(dim=1)
    slack = 128 * torch.finfo(points.dtype).eps  # what spaces and two rotations may add by rounding
    outside = norm > 1 + slack
    if bool(outside.any()):
        row = int(outside.nonzero()[0])
        raise ValueError(
            f"`{name}` must lie in the unit ball, where `Patches` is injective; row {row} has the norm "
            f"{float(norm[row]):g}. Use latents of `Sphere(3)`."
        )
    return points
