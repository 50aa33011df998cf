"""Scores of an explicit map over the whole law of the latents, rather than over a sample of them."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .. import _checks
from ..marginals import AbstractMarginal
from ..spaces import Sphere
from .quadrature import DIM, marginal_nodes


class Recovery(NamedTuple):
    """What a map leaves of the latents.

    Attributes:
        linear_r2: R² of the latents regressed on the embeddings, with intercept; the mean over coordinates.
        angle_error: Half the mean of |z.z' - h.h'| over independent pairs.
    """

    linear_r2: float
    angle_error: float


def recovery(map: Callable[[Tensor], Tensor], marginal: AbstractMarginal, *, resolution: int = 32) -> Recovery:
    """The values that `metrics.linear_r2` and `metrics.angle_error` approach on many draws of a map h(z).

    By quadrature, on spheres of up to three dimensions. The angle error has kinks, so that its last digit of four is
    not sure at the resolution of the default.

    Args:
        map: Latents (n, d) to embeddings (n, any).
        marginal: Law of the latents.
        resolution: Of the quadrature; its cost grows with the fourth power.
    """
    space = _checks.kind("marginal", marginal, AbstractMarginal, "Pass one such as `Uniform(Sphere(3))`.").space
    if not isinstance(space, Sphere) or space.dim > DIM:
        raise ValueError(
            f"`marginal` must live on a sphere of at most {DIM} dimensions, got {space}; draw from it and "
            "use `noumena.metrics` elsewhere."
        )
    z, weight = marginal_nodes(marginal, _checks.count("resolution", resolution, low=2))
    with torch.no_grad():
        h = map(z)
    centred = z - weight @ z
    design = torch.cat([torch.ones_like(h[:, :1]), h], dim=1)
    # gelsd: embeddings that lost a dimension have a design without full rank.
    root = weight.sqrt()[:, None]
    fitted = design @ torch.linalg.lstsq(root * design, root * centred, driver="gelsd").solution
    residual = weight @ (centred - fitted).square()
    error = 0.0
    for rows in range(0, len(z), 1024):
        part = slice(rows, rows + 1024)
        error += float(weight[part] @ ((z[part] @ z.T - h[part] @ h.T).abs() @ weight))
    return Recovery(float((1 - residual / (weight @ centred.square())).mean()), error / 2)
