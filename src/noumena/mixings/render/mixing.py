"""The renderer as a mixing: latents -> images of the 3DIdent scene."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float64, Int64, UInt8, UInt64
from torch import Tensor

from ... import _checks
from ..base import AbstractMixing
from .mesh import Mesh, teapot
from .scene import FACTORS, Camera, Lights, Surfaces, scenes, to_render_units


class Renderer(AbstractMixing):
    """Latents in [-1, 1]^10 -> images of the scene of 3DIdent, as rows of 3 x size x size; needs the extra `render`.

    With it, images are a world like any other: their latents, conditionals and floors are exact. A 64-pixel image takes
    some ten milliseconds of one core, so training wants a set rendered beforehand (`noumena render`) rather than
    `Synthetic` with this mixing; the latter is for small experiments and for worlds that no stored set has.

    As a mixing it is a function: lights are sampled at the same points in every image. A set is rendered by
    `images`, whose sampling differs from image to image and is decided by their numbers.

    Columns of z are those of `scene.FACTORS`: position, rotation (Euler, x first), angle of the spot light, hues of
    object, spot light and ground, each scaled from [-1, 1] to its range in the published set.

    Args:
        size: Pixels of a side.
        pixel_samples: Rays through a pixel, along each side.
        light_samples: Points sampled on each light for each of these rays.
        meshes: The objects that `images` can show; as a mixing it shows the first. By default the teapot.
        truncated_hues: See `scene.rgb`.
        camera, lights, surfaces: The rest of the scene.
    """

    invertible = False
    smooth = False
    differentiable = False

    def __init__(
        self,
        size: int = 64,
        *,
        pixel_samples: int = 2,
        light_samples: int = 2,
        meshes: Sequence[Mesh] | None = None,
        truncated_hues: bool = False,
        camera: Camera = Camera(),
        lights: Lights = Lights(),
        surfaces: Surfaces = Surfaces(),
    ) -> None:
        super().__init__()
        from . import trace  # so that a missing numba is told here, not in the first batch

        self.size = _checks.count("size", size)
        self.pixel_samples = _checks.count("pixel_samples", pixel_samples)
        self.light_samples = _checks.count("light_samples", light_samples)
        self.meshes = (teapot(),) if meshes is None else _checks.sequence("meshes", meshes)
        for mesh in self.meshes:
            _checks.kind("meshes", mesh, Mesh, "Pass a list of meshes such as `teapot()`.")
        self.truncated_hues = _checks.kind("truncated_hues", truncated_hues, bool)
        self.camera, self.lights, self.surfaces = camera, lights, surfaces
        self.dim_in, self.dim_out, self.shape_out = len(FACTORS), 3 * size * size, (3, size, size)
        for mesh in self.meshes:
            trace.geometry(mesh)

    def images(
        self,
        raw: Float64[np.ndarray, "n 10"],
        index: Int64[np.ndarray, " n"],
        mesh: Int64[np.ndarray, " n"] | None = None,
        *,
        seed: int = 0,
    ) -> UInt8[np.ndarray, "n s s 3"]:
        """Images of a set as bytes, channels last, whichever of them are rendered at once.

        Args:
            raw: Latents in [-1, 1].
            index: The number of each image within the set.
            mesh: Which of `meshes` each shows; the first if left out.
            seed: Of the set.
        """
        noise = _noise(seed, index)
        return np.rint(255 * self._display(raw, noise, mesh)).astype(np.uint8).transpose(0, 2, 3, 1)

    def _forward(self, z: Tensor) -> Tensor:
        raw = z.detach().to("cpu", torch.float64).numpy()
        outside = (np.abs(raw) > 1 + 1e-5).any(axis=1)
        if outside.any():
            raise ValueError(
                f"`z` must lie in [-1, 1]; {int(outside.sum())} of {len(raw)} rows do not, the first is row "
                f"{int(outside.argmax())}. Draw latents from `Box(10, low=-1, high=1)`."
            )
        return torch.from_numpy(self._display(raw, np.zeros(len(raw), np.uint64), None)).to(z).flatten(1)

    def _inverse(self, x: Tensor) -> Tensor:
        raise AssertionError("`invertible` is False")

    def _display(self, raw: np.ndarray, noise: UInt64[np.ndarray, " n"], mesh: np.ndarray | None) -> np.ndarray:
        from . import trace

        linear = trace.render(
            scenes(to_render_units(raw), mesh, truncated_hues=self.truncated_hues),
            self.meshes,
            self.size,
            noise=noise,
            pixel_samples=self.pixel_samples,
            light_samples=self.light_samples,
            camera=self.camera,
            lights=self.lights,
            surfaces=self.surfaces,
        )
        return trace.srgb(linear)


def _noise(seed: int, index: np.ndarray) -> UInt64[np.ndarray, " n"]:
    """A key for each image that its set's seed and its number decide."""
    words = (
        np.random.SeedSequence((_checks.count("seed", seed, low=0), int(i))).generate_state(1, np.uint64) for i in index
    )
    return np.concatenate([*words, np.empty(0, np.uint64)])
