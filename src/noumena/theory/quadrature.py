"""Points and weights that replace integrals over spheres of up to three dimensions."""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..conditionals import AbstractConditional, FixedContent
from ..marginals import AbstractMarginal
from ..spaces import Sphere

DIM = 3  # beyond it a grid of pairs of points is out of reach


class Nodes(NamedTuple):
    """Points, and weights that sum to 1."""

    z: Float[Tensor, "n d"]
    weight: Float[Tensor, " n"]


class Fibres(NamedTuple):
    """Points of every anchor's support; weights of the uniform law there, and of positives. Both sum to 1 by row."""

    z: Float[Tensor, "n m d"]
    uniform: Float[Tensor, "n m"]
    positive: Float[Tensor, "n m"]


def sphere_nodes(space: Sphere, resolution: int) -> Nodes:
    """A rule for the uniform law of a sphere of at most three dimensions.

    In three it is Gauss-Legendre in the latitude, on each hemisphere apart so that a map may have a kink at the
    equator, times the trapezoidal rule on the circles of latitude: exponentially accurate for smooth integrands, and
    finer near the poles, where maps that stretch what varies change fast. There are 4 resolution^2 nodes.
    """
    if space.dim == 1:
        z, weight = torch.tensor([[1.0], [-1.0]], dtype=torch.float64), torch.full((2,), 0.5, dtype=torch.float64)
    elif space.dim == 2:
        z = _circle(4 * resolution)
        weight = torch.full((len(z),), 1 / len(z), dtype=torch.float64)
    else:
        nodes, node_weight = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(resolution))
        latitude = (nodes + 1) * math.pi / 4
        half_weight = node_weight * latitude.cos() * math.pi / 4
        height, rho = torch.cat([-latitude.sin(), latitude.sin()]), latitude.cos().repeat(2)
        height_weight = torch.cat([half_weight, half_weight]) / half_weight.sum() / 2
        around = _circle(2 * resolution)
        rings = rho[:, None, None] * around
        z = torch.cat([height[:, None, None].expand(-1, len(around), 1), rings], dim=2).reshape(-1, 3)
        weight = (height_weight[:, None] / len(around)).expand(-1, len(around)).reshape(-1)
    return Nodes(space.radius * z, weight)


def marginal_nodes(marginal: AbstractMarginal, resolution: int) -> Nodes:
    """The same for any marginal with a density on such a sphere."""
    assert isinstance(marginal.space, Sphere)
    z, weight = sphere_nodes(marginal.space, resolution)
    return Nodes(z, torch.softmax(weight.log() + marginal.log_prob(z), dim=0))


def fibres(conditional: AbstractConditional, space: Sphere, z: Float[Tensor, "n d"], resolution: int) -> Fibres:
    """The support of each row of `z`, with the law of its positives by density."""
    n, d = z.shape
    if isinstance(conditional, FixedContent) and conditional.fixed > 0:
        u, v = z[:, : conditional.fixed], z[:, conditional.fixed :]
        turned = _turned(v, resolution)
        points = torch.cat([u[:, None].expand(-1, turned.shape[1], -1), turned], dim=2)
        log_uniform = points.new_full(points.shape[:2], -math.log(points.shape[1]))
    else:
        nodes = sphere_nodes(space, resolution)
        points = nodes.z[None].expand(n, -1, -1)
        log_uniform = nodes.weight.log()[None].expand(n, -1)
    m = points.shape[1]
    anchors = z[:, None].expand(-1, m, -1).reshape(-1, d)
    log_prob = conditional.log_prob(points.reshape(-1, d), anchors).view(n, m)
    return Fibres(points, log_uniform.exp(), torch.softmax(log_uniform + log_prob, dim=1))


def _turned(v: Tensor, resolution: int) -> Tensor:
    """Points evenly spread on the sphere of each row's norm: the row itself, its two signs, or a circle."""
    n, free = v.shape
    if free == 0:
        return v[:, None]
    if free == 1:
        return torch.stack([v, -v], dim=1)
    assert free == 2, "spheres of at most three dimensions leave at most two coordinates beside a fixed one"
    around = _circle(2 * resolution)
    quarter = torch.stack([-v[:, 1], v[:, 0]], dim=1)
    return around[:, :1] * v[:, None] + around[:, 1:] * quarter[:, None]


def _circle(n: int) -> Tensor:
    angle = 2 * math.pi * torch.arange(n, dtype=torch.float64) / n
    return torch.stack([angle.cos(), angle.sin()], dim=1)
