"""Rendered images side by side: a set's first ones, factor by factor, and beside frames of the published scene."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, UInt8

from .. import _checks, _files
from ..mixings.render import Renderer
from ..mixings.render.scene import FACTORS, to_raw
from . import png
from .rendered import Rendered

# A view in which every factor shows: the object turned, lit from the side, nothing hidden.
VIEW = (0.2, 0.0, -0.2, -0.1, 0.1, -0.6, 0.45, 0.55, 0.35, 0.75)


class Frame(NamedTuple):
    """How far an image of ours is from a reference frame, in 255ths."""

    name: str
    mean: float
    worst: float  # of the pixels, by the mean over its channels


def contact(root: str | Path, description: Rendered, *, columns: int = 8, rows: int = 4) -> UInt8[np.ndarray, "h w 3"]:
    """The first images of a set, class by class from row to row."""
    classes = 1 if description.classes is None else len(description.classes)
    places = [(k % classes, k // classes * columns) for k in range(rows if classes == 1 else max(rows, classes))]
    shown = [
        [png.decode(description.image(root, which, i).read_bytes()) for i in range(first, first + columns)]
        for which, first in places
        if first + columns <= description.n
    ]
    if not shown:
        few = [png.decode(description.image(root, 0, i).read_bytes()) for i in range(description.n)]
        return grid([few])
    return grid(shown)


def traversal(renderer: Renderer, *, steps: int = 9) -> UInt8[np.ndarray, "h w 3"]:
    """A row for each factor of `FACTORS`, from -1 to 1 from left to right, all others as in `VIEW`."""
    raw = np.repeat(np.array(VIEW)[None], len(FACTORS) * steps, axis=0)
    for k in range(len(FACTORS)):
        raw[k * steps : (k + 1) * steps, k] = np.linspace(-1, 1, steps)
    images = renderer.images(raw, np.arange(len(raw)))
    return grid([list(images[k * steps : (k + 1) * steps]) for k in range(len(FACTORS))])


def compare(
    folder: str | Path, *, pixel_samples: int = 4, light_samples: int = 4
) -> tuple[list[Frame], UInt8[np.ndarray, "h w 3"]]:
    """Our images at the latents of reference frames: how far each is, and both rows, theirs above ours.

    Args:
        folder: Holds `latents.npy` (n, 10) in render units and `frame_0.png`, `frame_1.png`, ...
        pixel_samples, light_samples: See `Renderer`.
    """
    latents = _latents(Path(folder) / "latents.npy")
    theirs = np.stack([_frame(Path(folder) / f"frame_{i}.png") for i in range(len(latents))])
    renderer = Renderer(theirs.shape[1], pixel_samples=pixel_samples, light_samples=light_samples)
    ours = renderer.images(to_raw(latents), np.arange(len(latents)))
    apart = np.abs(ours.astype(float) - theirs)
    frames = [Frame(f"frame_{i}.png", float(one.mean()), float(one.mean(axis=-1).max())) for i, one in enumerate(apart)]
    return frames, grid([list(theirs), list(ours)])


def grid(rows: list[list[np.ndarray]]) -> UInt8[np.ndarray, "h w 3"]:
    return np.concatenate([np.concatenate(row, axis=1) for row in rows])


def save(path: str | Path, picture: UInt8[np.ndarray, "h w 3"], *, size: int | None = None) -> Path:
    """Write a picture as PNG; with `size`, shrunk by whole factors until its longer side is at most that."""
    path = Path(path)
    _checks.choice("path", path.suffix, (".png",))
    if size is not None:
        picture = _shrunk(picture, -(-max(picture.shape) // size))
    path.parent.mkdir(parents=True, exist_ok=True)
    _files.replace(path, png.encode(picture, level=9))
    return path


def _shrunk(picture: np.ndarray, factor: int) -> np.ndarray:
    height, width = (side // factor for side in picture.shape[:2])
    cut = picture[: height * factor, : width * factor].astype(float)
    return np.rint(cut.reshape(height, factor, width, factor, 3).mean((1, 3))).astype(np.uint8)


def _latents(path: Path) -> Float64[np.ndarray, "n 10"]:
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`; name a folder of reference frames and their latents.npy.")
    latents = np.load(path, allow_pickle=False).astype(np.float64)
    if latents.ndim != 2 or latents.shape[1] != len(FACTORS):
        raise ValueError(f"`{path}` must have the shape (n, {len(FACTORS)}), got {latents.shape}.")
    return latents


def _frame(path: Path) -> np.ndarray:
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`; there must be a frame for each row of latents.npy.")
    try:
        return png.decode(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"`{path}`: {error}.") from error
