import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import KDTree

from noumena.mixings.render.mesh import control_points, from_faces, teapot
from noumena.mixings.render.shapes import LARGEST, STAND_INS, digest, load, named

SQUARE = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n"


def edges_by_use(mesh):
    """How many triangles share each undirected edge, and how the two that do run along it."""
    keys = np.unique(np.round(mesh.corners.reshape(-1, 3) / 1e-6), axis=0, return_inverse=True)[1].reshape(-1, 3)
    directed = np.concatenate([keys[:, [0, 1]], keys[:, [1, 2]], keys[:, [2, 0]]])
    _, uses = np.unique(np.sort(directed, axis=1), axis=0, return_counts=True)
    _, ways = np.unique(directed, axis=0, return_counts=True)
    return uses, ways


def test_the_teapot_is_the_published_scenes():
    mesh = teapot()
    points, patches = control_points()
    assert patches.shape == (32, 16) and len(points) == patches.max() + 1
    assert len(mesh) == 6320
    low, high = mesh.corners.min((0, 1)), mesh.corners.max((0, 1))
    np.testing.assert_allclose(high - low, [LARGEST, LARGEST, 0.634685944 * 3.15], atol=5e-4)
    assert abs(low[2] + 0.9066942) < 1e-9
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=2), 1, atol=1e-12)


def test_the_teapots_patches_meet_and_face_outwards():
    mesh = teapot()
    uses, ways = edges_by_use(mesh)
    # Neighbours run along their edge in opposite directions. Only where a part ends or meets another is it open: the
    # rim, the lid's edge, and both ends of spout and handle.
    assert (ways == 1).all() and np.bincount(uses).tolist() == [0, 160, 9400]
    body = slice(800, 2400)  # patches 5 to 12
    middle = mesh.corners[body].mean(1)
    assert ((mesh.normals[body].mean(1) * middle).sum(1) > 0).all()


def test_a_surface_is_drawn_finer_where_asked():
    # 32 patches of 2 x 16 x 16 triangles, less the row of those at each of eight poles that have no area.
    assert len(teapot(16)) == 32 * 2 * 16**2 - 8 * 16


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins_are_closed_and_as_large_as_the_teapot(name):
    mesh = named(name)
    uses, ways = edges_by_use(mesh)
    assert (uses == 2).all() and (ways == 1).all()
    extent = mesh.corners.max((0, 1)) - mesh.corners.min((0, 1))
    np.testing.assert_allclose(extent.max(), LARGEST)
    flat = np.cross(mesh.corners[:, 1] - mesh.corners[:, 0], mesh.corners[:, 2] - mesh.corners[:, 0])
    # The divergence theorem: a closed surface that faces outwards encloses a positive volume.
    assert (mesh.corners[:, 0] * flat).sum() / 6 > 1
    assert (np.einsum("fx,fkx->fk", flat, mesh.normals) > 0).all()


def test_the_volume_of_a_ball():
    mesh = named("sphere")
    flat = np.cross(mesh.corners[:, 1] - mesh.corners[:, 0], mesh.corners[:, 2] - mesh.corners[:, 0])
    assert abs((mesh.corners[:, 0] * flat).sum() / 6 / (np.pi / 6 * LARGEST**3) - 1) < 0.01
    across = mesh.corners / np.linalg.norm(mesh.corners, axis=2, keepdims=True)
    np.testing.assert_allclose(mesh.normals, across, atol=0.01)


def test_triangles_without_area_are_left_out():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]])
    assert len(from_faces(points, np.array([[0, 1, 2], [0, 1, 3], [1, 1, 2]]))) == 1


def test_meshes_from_files(tmp_path):
    (tmp_path / "a.obj").write_text(SQUARE + "vn 0 0 1\nf 1/1/1 2/2/1 3/3/1 4/4/1\n")
    (tmp_path / "b.obj").write_text(SQUARE + "f -4 -3 -2\nf -4 -2 -1\n")
    np.savez(
        tmp_path / "c.npz", vertices=[[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0.0]], faces=[[0, 1, 2], [0, 2, 3]]
    )
    meshes = [load(tmp_path / name) for name in ("a.obj", "b.obj", "c.npz")]
    assert len({digest(mesh) for mesh in meshes}) == 1 and len(meshes[0]) == 2
    np.testing.assert_allclose(meshes[0].normals, np.broadcast_to([0.0, 0, 1], (2, 3, 3)), atol=1e-12)
    assert abs(meshes[0].corners.max() - LARGEST / 2) < 1e-12


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("v 0 0\n", "must be a mesh"),
        (SQUARE + "f 1 2 9\n", "must have faces that name its vertices"),
        (SQUARE, "must have faces that name its vertices"),
        (SQUARE + "f 1 2 2\n", "must have triangles with an area"),
        ("v 1 1 1\nv 1 1 1\nf 1 2 1\n", "must be a mesh"),
    ],
)
def test_bad_meshes_are_told(tmp_path, content, message):
    (tmp_path / "bad.obj").write_text(content)
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "bad.obj")
    with pytest.raises(FileNotFoundError, match="no file"):
        load(tmp_path / "none.obj")
    with pytest.raises(ValueError, match="`classes` cannot be 'teapt'; did you mean 'teapot'"):
        named("teapt")


@pytest.mark.skipif("NOUMENA_TEAPOT_OBJ" not in os.environ, reason="set it to teapot.obj of npm's utah-teapot@1.0.2")
def test_against_the_mesh_that_others_made_of_the_patches():
    lines = [line.split() for line in Path(os.environ["NOUMENA_TEAPOT_OBJ"]).read_text().splitlines()]
    theirs = np.array([[float(x) for x in words[1:]] for words in lines if words and words[0] == "v"])
    theirs = theirs[:, [0, 2, 1]] * [1, -1, 1]
    angle = 7 * np.pi / 4
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    theirs = 0.634685944 * theirs @ turn.T - [0, 0, 0.9066942]
    ours = teapot().corners.reshape(-1, 3)
    for some, others in ((ours, theirs), (theirs, ours)):
        assert KDTree(others).query(some, p=np.inf)[0].max() < 5e-6
    assert sum(words[0] == "f" for words in lines if words) == len(teapot())
