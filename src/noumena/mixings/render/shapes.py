"""Meshes from files, and plain shapes generated in code.

The further objects of Causal3DIdent (hare, dragon, cow, armadillo, horse, head) are other people's scans, which are not
shipped: name their .obj files. The shapes here stand in for them, by names of their own.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ... import _checks
from .mesh import Mesh, from_faces, teapot, welded

LARGEST = 2.961  # side of the teapot's bounding box, and of every other object's
Surface = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def named(name: str) -> Mesh:
    """The teapot, a stand-in of `STAND_INS`, or the mesh of a file that ends in .obj or .npz."""
    if Path(name).suffix in (".obj", ".npz"):
        return load(name)
    _checks.choice("classes", name, ("teapot", *STAND_INS))
    return teapot() if name == "teapot" else STAND_INS[name]()


def digest(mesh: Mesh) -> str:
    """Tells a mesh from others, whatever file it is in."""
    return hashlib.sha256(mesh.corners.tobytes() + mesh.normals.tobytes()).hexdigest()[:16]


def load(path: str | Path, *, smooth: bool = True) -> Mesh:
    """A mesh from a file, centred and as large as the teapot.

    Of an .obj file, the lines `v` and `f` are read; faces with more than three corners are cut into fans. An .npz file
    holds `vertices` (v, 3) and `faces` (f, 3), counted from zero. The z axis points up.

    Args:
        path: Ending in .obj or .npz.
        smooth: See `mesh.from_faces`.
    """
    path = Path(path)
    _checks.choice("path", path.suffix, (".obj", ".npz"))
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`; name a mesh ending in .obj or .npz.")
    try:
        vertices, faces = _read_obj(path) if path.suffix == ".obj" else _read_npz(path)
        vertices = _fitted(vertices)
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise ValueError(f"`{path}` must be a mesh of vertices and faces, got {error}.") from error
    if len(faces) == 0 or not np.isfinite(vertices).all() or faces.min() < 0 or faces.max() >= len(vertices):
        raise ValueError(
            f"`{path}` must have faces that name its vertices, finite ones; got {len(vertices)} vertices and "
            f"{len(faces)} triangles."
        )
    mesh = from_faces(*welded(vertices, faces), smooth=smooth)
    if len(mesh) == 0:
        raise ValueError(f"`{path}` must have triangles with an area; all {len(faces)} are lines or points.")
    return mesh


def sphere(divisions: int = 48) -> Mesh:
    """A ball."""

    def at(u: np.ndarray, v: np.ndarray):
        radius = np.sin(np.pi * v)
        return radius * np.cos(2 * np.pi * u), radius * np.sin(2 * np.pi * u), -np.cos(np.pi * v)

    return _swept(at, divisions)


def torus(divisions: int = 48, thickness: float = 0.4) -> Mesh:
    """A ring that lies flat; `thickness` is its tube's radius over the ring's."""

    def at(u: np.ndarray, v: np.ndarray):
        radius = 1 + thickness * np.cos(2 * np.pi * v)
        return radius * np.cos(2 * np.pi * u), radius * np.sin(2 * np.pi * u), thickness * np.sin(2 * np.pi * v)

    return _swept(at, divisions)


def cone(divisions: int = 48) -> Mesh:
    """A cone on its base, as wide as it is high; its base and its side do not share normals."""
    turn = np.linspace(0, 2 * np.pi, divisions, endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), -np.ones(divisions)], axis=1)
    # The rim is there twice: once for the side and once for the base.
    vertices = np.concatenate([rim, rim, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    here, next_ = np.arange(divisions), np.roll(np.arange(divisions), -1)
    top, bottom = np.full(divisions, 2 * divisions), np.full(divisions, 2 * divisions + 1)
    side, base = np.stack([here, next_, top], 1), np.stack([next_ + divisions, here + divisions, bottom], 1)
    return from_faces(_fitted(vertices), np.concatenate([side, base]))


def cube() -> Mesh:
    """Six flat faces."""
    vertices = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))], dtype=np.int64)
    return from_faces(_fitted(vertices), faces, smooth=False)


STAND_INS: dict[str, Callable[[], Mesh]] = {"sphere": sphere, "cube": cube, "torus": torus, "cone": cone}


def _swept(at: Surface, divisions: int) -> Mesh:
    """The surface of two parameters in [0, 1], on a grid whose edges meet."""
    grid = np.linspace(0, 1, _checks.count("divisions", divisions, low=3) + 1)
    u, v = np.meshgrid(grid, grid, indexing="ij")
    vertices = np.stack(at(u, v), axis=-1).reshape(-1, 3)
    number = np.arange(len(vertices)).reshape(u.shape)
    low, right, up, far = number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]
    faces = np.concatenate([np.stack([low, right, far], -1), np.stack([low, far, up], -1)]).reshape(-1, 3)
    return from_faces(*welded(_fitted(vertices), faces))


def _fitted(vertices: np.ndarray) -> np.ndarray:
    low, high = vertices.min(0), vertices.max(0)
    if not 0 < (high - low).max() < np.inf:
        raise ValueError(f"vertices from {low} to {high}")
    return (vertices - (low + high) / 2) * (LARGEST / (high - low).max())


def _read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split()
        if words and words[0] == "v":
            vertices.append([float(word) for word in words[1:4]])
        elif words and words[0] == "f":
            # Counted from one, or backwards from the last vertex so far.
            corners = [int(word.split("/")[0]) for word in words[1:]]
            corners = [i - 1 if i > 0 else len(vertices) + i for i in corners]
            faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return np.array(vertices).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _read_npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path, allow_pickle=False) as held:
        vertices, faces = np.asarray(held["vertices"], float), np.asarray(held["faces"], np.int64)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise ValueError(f"shapes {vertices.shape} and {faces.shape} for (v, 3) and (f, 3)")
    return vertices, faces
