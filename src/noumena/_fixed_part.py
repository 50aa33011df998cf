"""Maps of z = (u, v) that treat its first coordinates u and the rest v apart: shared by theory and readers."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Parts(NamedTuple):
    """z = (u, v): what positives keep, and what varies."""

    u: Float[Tensor, "n k"]
    v: Float[Tensor, "n m"]


def split(z: Float[Tensor, "n d"], fixed: int) -> Parts:
    """The first `fixed` coordinates, and the others."""
    return Parts(z[:, :fixed], z[:, fixed:])


def mirror(z: Float[Tensor, "n d"], fixed: int) -> Float[Tensor, "n d"]:
    """(-u, v)."""
    u, v = split(z, fixed)
    return torch.cat([-u, v], dim=1)


def fold(z: Float[Tensor, "n d"], fixed: int) -> Float[Tensor, "n d"]:
    """(|u|, v), every fixed coordinate without its sign."""
    u, v = split(z, fixed)
    return torch.cat([u.abs(), v], dim=1)


def forget(z: Float[Tensor, "n d"], fixed: int) -> Float[Tensor, "n d"]:
    """(0, r v / |v|), r the norm of z: every fibre on the one great sphere. Where v = 0 a direction is made up."""
    u, v = split(z, fixed)
    axis = torch.zeros_like(v)
    axis[:, :1] = 1
    length = v.norm(dim=1, keepdim=True)
    direction = torch.where(length > 0, v / length, axis)
    return torch.cat([torch.zeros_like(u), z.norm(dim=1, keepdim=True) * direction], dim=1)
