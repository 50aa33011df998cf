"""The law exp(-(z' - z)^T Λ (z' - z)) that fits pairs best, with standard errors, and draws from it.

Λ is found by score matching (Hyvarinen, 2005; with weights that vanish at the edges of a box, 2007; on the sphere,
Mardia, Kent and Laha, 2016). For a log density that is linear in its parameters this is a linear equation: no
normaliser is needed, which for this law depends on the anchor; the marginal may be anything; and the curvature of the
sphere is accounted for rather than neglected.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _rng
from ..conditionals import Anisotropic, GeneralizedNormal
from ..spaces import Box, Sphere
from .diversity import EXACT, TOLERANCE, canonical
from .moments import FIND
from .sample import Sample

SMALLEST = 1e-3  # precision that draws use where positives ignore their anchors, or the estimate is negative
SHELLS = 64  # spheres of different radius that draws distinguish, where directions are fixed


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted on the odd rows, along axes found on the even ones.

    Attributes:
        kind: Of the space.
        axes: (d, m) coordinates that move: principal axes of `h_pos - h` on a sphere (orthonormal), the box's own
            axes, or canonical directions of unit variance in free space. Most precise first.
        centre: What is subtracted before.
        precision: Diagonal of Λ along them, in the unit of the space.
        covariance: Of the estimate (sandwich formula, so that it holds whether or not the law has this form).
    """

    kind: str
    axes: Float[Tensor, "d m"]
    centre: Float[Tensor, " d"]
    precision: Float[Tensor, " m"]
    covariance: Float[Tensor, "m m"]

    def coordinates(self, rows: Float[Tensor, "n d"]) -> Float[Tensor, "n m"]:
        return (rows - self.centre) @ self.axes

    def draw(self, v: Float[Tensor, "n m"], generator: torch.Generator) -> Float[Tensor, "n m"]:
        """A positive for each anchor, in coordinates that move."""
        precision = self.precision.clamp(min=SMALLEST)
        m = v.shape[1]
        if self.kind == "free":
            return v + _rng.normal((len(v), m), generator, v.dtype) / (2 * precision).sqrt()
        if self.kind == "box":
            law = GeneralizedNormal(2, scale=precision.rsqrt().tolist(), space=Box(m))
            return law.sample(v.clamp(0, 1), generator=generator)
        radius = v.norm(dim=1)
        order = radius.argsort()
        drawn = torch.empty_like(v)
        # With some directions fixed, the rest lie on a sphere of radius r, where Λ acts as r^2 Λ on the unit sphere.
        fixed = self.axes.shape[1] < self.axes.shape[0]
        for rows in order.chunk(SHELLS if fixed else 1):
            mean_square = float(radius[rows].square().mean())
            law = Anisotropic((precision * mean_square).clamp(min=SMALLEST), space=Sphere(m))
            unit = v[rows] / radius[rows, None]
            drawn[rows] = radius[rows, None] * law.sample(unit, generator=generator)
        return drawn


def fit(sample: Sample, fixed: int) -> Fitted | None:
    """None where fewer than two directions move on a sphere, or none elsewhere: there is no density to fit."""
    axes, centre = _axes(sample, fixed)
    if axes.shape[1] < (2 if sample.support.kind == "sphere" else 1):
        return None
    v, v_pos = ((view - centre) @ axes for view in sample.measure)
    a, b, influence = _sphere(v, v_pos) if sample.support.kind == "sphere" else _flat(v, v_pos, sample.support.kind)
    precision = torch.linalg.solve(a, b)
    residual = influence(precision)
    centred = residual - residual.mean(dim=0)
    spread = centred.mT @ centred / len(residual)
    inverse = torch.linalg.inv(a)
    covariance = inverse @ spread @ inverse.mT / len(residual)
    return Fitted(sample.support.kind, axes, centre, precision, covariance)


def _axes(sample: Sample, fixed: int) -> tuple[Tensor, Tensor]:
    moments, zero = sample.moments, torch.zeros_like(sample.moments.origin)
    difference, covariance = moments.difference(FIND), moments.covariance(FIND)
    if sample.support.kind == "sphere":
        # An orthogonal basis keeps the sphere. With a uniform marginal Λ is diagonal in the axes of the differences.
        return torch.linalg.eigh(difference).eigenvectors[:, fixed:], zero
    if sample.support.kind == "box":
        moved = difference.diagonal() / covariance.diagonal()
        order = moved.argsort()
        moving = order[moved[order] > max(TOLERANCE * float(moved.max()), EXACT)]
        return torch.eye(len(zero), dtype=zero.dtype)[:, moving], zero
    return canonical(covariance, difference)[:, fixed:], moments.mean(FIND)


def _sphere(v: Tensor, v_pos: Tensor):
    """J = E[|grad s|^2 / 2 + div grad s] of s = -(v' - v)^T Λ (v' - v) on the sphere of radius |v'|.

    With t = v' - v, grad s = -2 P Λ t, P = I - v'v'^T / r^2, and the Laplacian of the sphere is
    tr(P Hess) - (m - 1) v'.grad / r^2. J is least where A λ = b, A and b the means of what stands below.
    """
    m, t = v.shape[1], v_pos - v
    square = v_pos.square().sum(dim=1, keepdim=True)
    radial = t * v_pos / square.sqrt()
    a = torch.diag(t.square().mean(dim=0)) - radial.mT @ radial / len(t)
    right = (1 - v_pos.square() / square - (m - 1) * t * v_pos / square) / 2

    def influence(precision: Tensor) -> Tensor:
        return right - precision * t.square() + radial * (radial @ precision)[:, None]

    return a, right.mean(dim=0), influence


def _flat(v: Tensor, v_pos: Tensor, kind: str):
    """The same by coordinate, J = E[g s'^2 / 2 + (g s')'], with g = x (1 - x) in the unit box and 1 in free space."""
    t = v_pos - v
    weight, slope = (v_pos * (1 - v_pos), 1 - 2 * v_pos) if kind == "box" else (torch.ones_like(t), 0.0)
    left, right = weight * t.square(), (slope * t + weight) / 2

    def influence(precision: Tensor) -> Tensor:
        return right - precision * left

    return torch.diag(left.mean(dim=0)), right.mean(dim=0), influence
