"""Surfaces as triangles: the teapot from its Bezier patches, and meshes from files."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float64, Int64

from ... import _checks

# How the teapot of the published scene lies in its own coordinates: turned about z, scaled, and lowered.
_TURN, _SCALE, _LOWERED = 7 * np.pi / 4, 0.634685944, 0.9066942


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles, each with the normals at its corners; outward where the surface is closed.

    Attributes:
        corners: The three corners of each triangle.
        normals: Unit normals there, interpolated across the triangle when it is shaded.
    """

    corners: Float64[np.ndarray, "f 3 3"]
    normals: Float64[np.ndarray, "f 3 3"]

    def __len__(self) -> int:
        return len(self.corners)

    def scaled(self, factor: float) -> "Mesh":
        """The same surface, larger or smaller about its origin."""
        return Mesh(self.corners * _checks.positive("factor", factor), self.normals)


def from_faces(vertices: Float64[np.ndarray, "v 3"], faces: Int64[np.ndarray, "f 3"], smooth: bool = True) -> Mesh:
    """A mesh from shared vertices. Triangles without area are left out.

    Args:
        vertices, faces: Points, and the three points of each triangle, counter-clockwise from outside.
        smooth: Whether the normals at a vertex are one, the mean of its triangles' weighted by their angles there;
            otherwise each triangle is flat.
    """
    corners = vertices[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    kept = area > 1e-12 * max(float(area.max(initial=0.0)), np.finfo(float).tiny)
    corners, faces, flat = corners[kept], faces[kept], across[kept] / area[kept, None]
    if not smooth:
        return Mesh(corners, np.repeat(flat[:, None], 3, axis=1))
    total = np.zeros_like(vertices)
    for k in range(3):
        one = corners[:, (k + 1) % 3] - corners[:, k]
        two = corners[:, (k + 2) % 3] - corners[:, k]
        angle = np.arctan2(np.linalg.norm(np.cross(one, two), axis=1), (one * two).sum(1))
        np.add.at(total, faces[:, k], angle[:, None] * flat)
    return Mesh(corners, _unit(total)[faces])


@cache
def teapot(divisions: int = 10, smooth: bool = True) -> Mesh:
    """The object of 3DIdent at unit scale: Newell's patches on a grid of `divisions` x `divisions`.

    At 10 divisions it is the published scene's mesh: 6320 triangles, vertices equal to 5e-6.
    """
    points, patches = control_points()
    grid = np.linspace(0.0, 1.0, _checks.count("divisions", divisions) + 1)
    basis = np.stack([(1 - grid) ** 3, 3 * grid * (1 - grid) ** 2, 3 * grid**2 * (1 - grid), grid**3], axis=1)
    surface = np.einsum("ui,vj,pijx->puvx", basis, basis, points[patches].reshape(-1, 4, 4, 3)).reshape(-1, 3)
    number = np.arange(len(surface)).reshape(len(patches), divisions + 1, divisions + 1)
    low, right, up, far = number[:, :-1, :-1], number[:, :-1, 1:], number[:, 1:, :-1], number[:, 1:, 1:]
    faces = np.stack([np.stack([low, up, far], -1), np.stack([far, right, low], -1)], 3).reshape(-1, 3)
    turn = np.array([[np.cos(_TURN), -np.sin(_TURN), 0], [np.sin(_TURN), np.cos(_TURN), 0], [0, 0, 1.0]])
    placed = _SCALE * surface @ turn.T - [0, 0, _LOWERED]
    return from_faces(*welded(placed, faces), smooth=smooth)


def control_points() -> tuple[Float64[np.ndarray, "v 3"], Int64[np.ndarray, "p 16"]]:
    """Newell's control points, and the sixteen of each of the 32 patches."""
    text = files("noumena.mixings.render").joinpath("teapot.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line and line[0] != "#"]
    points = np.array([[float(x) for x in row[1:]] for row in rows if row[0] == "v"])
    patches = np.array([[int(i) for i in row[1:]] for row in rows if row[0] == "p"], dtype=np.int64)
    return points, patches


def welded(
    vertices: Float64[np.ndarray, "v 3"], faces: Int64[np.ndarray, "f 3"], tolerance: float = 1e-6
) -> tuple[Float64[np.ndarray, "w 3"], Int64[np.ndarray, "f 3"]]:
    """Vertices that lie in one place become one, so that seams are shaded smoothly."""
    _, first, which = np.unique(np.round(vertices / tolerance), axis=0, return_index=True, return_inverse=True)
    return vertices[first], which.reshape(-1)[faces]


def _unit(rows: np.ndarray) -> np.ndarray:
    # A vertex whose triangles cancel has no direction; zero leaves that to its neighbours.
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
