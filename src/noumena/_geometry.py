"""Plane rotations, angles and slices: the geometry that mixings, encoders and metrics share."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def rotate_plane(xy: Float[Tensor, "n 2"], angle: Float[Tensor, " n"]) -> Float[Tensor, "n 2"]:
    """Each row of `xy` turned counter-clockwise by its own angle, in radians."""
    x, y = xy.unbind(-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([cos * x - sin * y, sin * x + cos * y], -1)


def angle_between(a: Float[Tensor, "*batch d"], b: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
    """Angle in [0, pi] between vectors of equal norm (unit vectors, as a rule), along the last axis.

    2 atan2(|a - b|, |a + b|) resolves angles far below those at which acos(a . b) reads 0. The angle has a kink
    at equal and at opposite vectors; the gradient given there is the subgradient 0, never NaN.
    """
    return 2 * torch.atan2(_norm(a - b), _norm(a + b))


def slice_index(height: Float[Tensor, " n"], slices: int) -> Int[Tensor, " n"]:
    """Which of `slices` equal parts of [0, 1] holds |height|: i on (i / slices, (i + 1) / slices].

    Zero belongs to the first slice, and round-off beyond 1 to the last. Heights within 8 units of round-off above a
    border count as on it: a height of one half that a rotation and its inverse return as one half and a bit keeps its
    slice.
    """
    slack = 8 * torch.finfo(height.dtype).eps
    return (((height.detach().abs() - slack) * slices).ceil() - 1).clamp(0, slices - 1).long()


def _norm(v: Tensor) -> Tensor:
    # linalg.vector_norm has the subgradient 0 at the origin, where sqrt(sum of squares) has NaN.
    return torch.linalg.vector_norm(v, dim=-1)
