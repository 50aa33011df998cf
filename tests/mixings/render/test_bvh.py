import numpy as np
import pytest

from noumena.mixings.render import bvh, teapot, trace
from tests.references import rendering


@pytest.fixture(scope="module")
def mesh():
    return teapot(3)  # fewer triangles for the reference to try


def test_every_triangle_is_in_one_leaf_within_its_boxes(mesh):
    tree = bvh.build(mesh)
    assert sorted(tree.order) == list(range(len(mesh))) and tree.count.sum() == len(mesh)
    corners = mesh.corners[tree.order]
    for node in range(len(tree.skip)):
        # A node's triangles are those of the leaves up to where one goes on beyond it.
        leaves = [k for k in range(node, tree.skip[node]) if tree.count[k]]
        inside = np.concatenate([corners[tree.first[k] : tree.first[k] + tree.count[k]] for k in leaves])
        np.testing.assert_array_equal(inside.min((0, 1)), tree.low[node])
        np.testing.assert_array_equal(inside.max((0, 1)), tree.high[node])
    assert tree.skip[0] == len(tree.skip)


def test_triangles_in_one_place_make_a_leaf(mesh):
    from noumena.mixings.render import Mesh

    same = Mesh(np.repeat(mesh.corners[:1], 9, axis=0), np.repeat(mesh.normals[:1], 9, axis=0))
    assert bvh.build(same).count.tolist() == [9]


def test_first_hits_are_those_of_trying_every_triangle(mesh):
    draws = np.random.default_rng(11)
    shape, tree = trace.geometry(mesh), bvh.build(mesh)
    found = 0
    for k in range(400):
        origin, target = draws.normal(size=3) * 2, draws.normal(size=3) * 0.6
        way = target - origin
        if k % 4 == 0:
            way[k // 4 % 3] = 0.0  # along a plane of the axes, where a box has no slab to cross
        distance, which, weights = rendering.first_hit(origin, way, mesh.corners)
        t, hit, u, v = trace.closest(shape, tuple(origin), tuple(way), trace.FAR)
        if which is None:
            assert hit == -1 and t == trace.FAR
            continue
        found += 1
        assert tree.order[hit] == which
        np.testing.assert_allclose((t, 1 - u - v, u, v), (distance, *weights), rtol=1e-9, atol=1e-9)
    assert 100 < found < 400
