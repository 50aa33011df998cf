"""The renderer as a mixing; its mesh, scene and tracing have tests of their own below `render/`."""

import numpy as np
import pytest
import torch

from noumena.conditionals import GeneralizedNormal
from noumena.marginals import Uniform
from noumena.mixings import Renderer
from noumena.mixings.render.mesh import Mesh
from noumena.pairs import FromMarginal, Synthetic
from noumena.spaces import Box
from tests.contracts.mixings import MixingContract
from tests.references import rendering


def shard() -> Mesh:
    """A tetrahedron without symmetry, its normals bent outwards from those of its faces."""
    points = np.array([[1.4, 0.1, -0.9], [-0.8, 1.2, -0.7], [-0.6, -1.3, -0.4], [0.2, -0.1, 1.1]])
    corners = points[np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = flat[:, None] / np.linalg.norm(flat, axis=1)[:, None, None] + 0.3 * corners
    return Mesh(corners, normals / np.linalg.norm(normals, axis=2, keepdims=True))


SHARD = shard()


class TestRenderer(MixingContract):
    random = False
    size = 3

    def make(self, seed=0):
        return Renderer(self.size, pixel_samples=1, light_samples=1, meshes=[SHARD])

    def reference(self, z):
        return np.stack([rendering.image(row, SHARD.corners, SHARD.normals, self.size).ravel() for row in z])

    def test_injective_on_a_sample_and_its_reflections(self, generator):
        self.size = 24  # of nine pixels, none need see the object
        super().test_injective_on_a_sample_and_its_reflections(generator)


def test_pairs_of_images(generator):
    renderer = Renderer(5, pixel_samples=1, light_samples=1, meshes=[SHARD])
    world = Uniform(Box(10, low=-1.0, high=1.0))
    batch = Synthetic(world, GeneralizedNormal(p=2, scale=0.1), renderer, FromMarginal(3)).draw(4, generator)
    assert batch.x.shape == batch.x_pos.shape == (4, 75) and batch.x_neg is not None
    assert batch.x_neg.shape == (3, 75) and batch.x.dtype == torch.float32
    assert 0 <= float(batch.x.min()) and float(batch.x.max()) <= 1
    assert torch.equal(batch.x, renderer(batch.z))


def test_images_depend_on_their_number_and_the_seed_alone():
    renderer = Renderer(6, meshes=[SHARD])
    raw = np.random.default_rng(3).uniform(-1, 1, (7, 10))
    whole = renderer.images(raw, np.arange(7))
    rows = np.array([5, 2])
    np.testing.assert_array_equal(renderer.images(raw[rows], rows), whole[rows])
    assert (renderer.images(raw, np.arange(7) + 1) != whole).any()
    assert (renderer.images(raw, np.arange(7), seed=1) != whole).any()
    assert whole.shape == (7, 6, 6, 3) and renderer.images(raw[:0], np.arange(0)).shape == (0, 6, 6, 3)


def test_each_image_shows_its_own_mesh():
    far = Mesh(SHARD.corners * 0.2, SHARD.normals)
    both, raw = Renderer(8, meshes=[SHARD, far]), np.zeros((2, 10))
    images = both.images(raw, np.zeros(2, np.int64), np.array([0, 1]))
    np.testing.assert_array_equal(images[0], Renderer(8, meshes=[SHARD]).images(raw[:1], np.array([0]))[0])
    np.testing.assert_array_equal(images[1], Renderer(8, meshes=[far]).images(raw[:1], np.array([0]))[0])


def test_refusals(unchecked_shapes):
    with pytest.raises(ValueError, match="`size` must be at least 1"):
        Renderer(0)
    with pytest.raises(TypeError, match="`meshes` must be a `Mesh`"):
        Renderer(4, meshes=["teapot"])
    with pytest.raises(ValueError, match=r"`z` must lie in \[-1, 1\]; 1 of 2 rows do not, the first is row 1"):
        Renderer(2, meshes=[SHARD])(torch.tensor([[0.0] * 10, [2.0] * 10]))
