"""Latents -> the named parameters of the published 3DIdent scene.

The scene is that of Zimmermann et al. (2021): one object above a coloured ground, lit by a coloured spot light that
follows it, a fixed area light and a vertical sun, seen by a fixed camera. Lengths are in its units, angles in radians.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

FACTORS = (
    "x",
    "y",
    "z",
    "rotation_1",
    "rotation_2",
    "rotation_3",
    "spot_angle",
    "object_hue",
    "spot_hue",
    "ground_hue",
)
RANGES = (3.0,) * 3 + (np.pi / 2,) * 7

SIZE = 4.442  # of the largest object: what the heights of objects, spot and ground are reckoned from
OBJECT_SCALE = 1.5
SATURATION_OBJECT, SATURATION_SPOT, SATURATION_GROUND = 1.0, 0.8, 0.6


class Camera(NamedTuple):
    """A pinhole that looks at the origin, up being +z; `field` is the full angle of view, across and upright."""

    position: tuple[float, float, float] = (8.0, 0.0, 8.0)
    field: float = 1.2405


class Lights(NamedTuple):
    """What is lit how, as the radiance that a white diffuse surface sends back.

    Watts of a lamp become radiance by the closed forms of the diffuse reflection: a spot of power W gives
    W / (4 pi^2) cos / r^2 within its cone, a square of power W gives W / (4 pi) times its mean of cos cos / r^2, and a
    sun of strength S gives S / pi times cos.

    Attributes:
        spot_watts, spot_radius: Power, and the radius of the disc that faces what it lights.
        spot_cone, spot_blend: The full angle of the cone, and the share of it that fades.
        area_watts, area_side, area_height: Power, side and height of the square that looks down on the origin.
        sun_strength, sun_angle: Of the vertical sun, and the full angle under which its disc is seen.
    """

    spot_watts: float = 3000.0
    spot_radius: float = 0.5
    spot_cone: float = np.deg2rad(35.0)
    spot_blend: float = 0.1
    area_watts: float = 39.27
    area_side: float = 1.0
    area_height: float = 7.0
    sun_strength: float = 0.5
    sun_angle: float = 0.199


class Surfaces(NamedTuple):
    """How ground and object send light back, measured on frames of the published scene.

    Both darken where they are seen at a grazing angle. The object does as a smooth dielectric would over a diffuse
    body, and its surface gives a white highlight of rough microfacets. The ground's diffuse share is
    `ground_albedo * (1 - (1 - cos)**ground_exponent)`, cos that of the angle of view, and a little of what falls on it
    returns white.

    Attributes:
        object_index, object_roughness: Refractive index of its surface, and the roughness (the square root of alpha).
        ground_albedo, ground_exponent, ground_white: See above.
        ground_height: Where the ground is.
    """

    object_index: float = 1.25
    object_roughness: float = 0.4
    ground_albedo: float = 0.965
    ground_exponent: float = 4.0
    ground_white: float = 0.016
    ground_height: float = -SIZE


@dataclass(frozen=True, eq=False)
class Scenes:
    """What differs from image to image; row i belongs to image i.

    Attributes:
        position: Of the object's origin.
        rotation: Object coordinates -> the world's.
        spot: Where the spot light stands; it is aimed at `position`.
        object_rgb, spot_rgb, ground_rgb: Linear colours.
        mesh: Which of the renderer's meshes is shown.
    """

    position: Float64[np.ndarray, "n 3"]
    rotation: Float64[np.ndarray, "n 3 3"]
    spot: Float64[np.ndarray, "n 3"]
    object_rgb: Float64[np.ndarray, "n 3"]
    spot_rgb: Float64[np.ndarray, "n 3"]
    ground_rgb: Float64[np.ndarray, "n 3"]
    mesh: Int64[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.position)


def to_render_units(raw: Float64[np.ndarray, "n 10"]) -> Float64[np.ndarray, "n 10"]:
    """Raw latents in [-1, 1] -> positions in [-3, 3], angles and hues in [-pi/2, pi/2]."""
    return raw * np.array(RANGES)


def to_raw(latents: Float64[np.ndarray, "n 10"]) -> Float64[np.ndarray, "n 10"]:
    """The inverse of `to_render_units`."""
    return latents / np.array(RANGES)


def scenes(
    latents: Float64[np.ndarray, "n 10"], mesh: Int64[np.ndarray, " n"] | None = None, *, truncated_hues: bool = False
) -> Scenes:
    """The scenes at latents in render units.

    Args:
        latents: Columns as in `FACTORS`.
        mesh: The mesh of each; the first if left out.
        truncated_hues: See `rgb`.
    """
    x, y, z, _, _, _, spot, object_hue, spot_hue, ground_hue = latents.T
    return Scenes(
        position=np.stack([x, y, z + SIZE / 2], axis=1),
        rotation=euler(latents[:, 3:6]),
        spot=np.stack([4 * np.sin(spot), 4 * np.cos(spot), np.full_like(spot, 6 + SIZE)], axis=1),
        object_rgb=rgb(object_hue / (2 * np.pi), SATURATION_OBJECT, truncated_hues),
        spot_rgb=rgb(spot_hue / (2 * np.pi), SATURATION_SPOT, truncated_hues),
        ground_rgb=rgb(ground_hue / (2 * np.pi), SATURATION_GROUND, truncated_hues),
        mesh=np.zeros(len(latents), dtype=np.int64) if mesh is None else mesh,
    )


def euler(angles: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 3 3"]:
    """Rotations about x, then y, then z, all of them fixed axes."""
    (ca, cb, cc), (sa, sb, sc) = np.cos(angles).T, np.sin(angles).T
    rows = [
        [cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa],
        [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa],
        [-sb, cb * sa, cb * ca],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rgb(hue: Float64[np.ndarray, " n"], saturation: float, truncated: bool = False) -> Float64[np.ndarray, "n 3"]:
    """HSV at value 1 -> linear colour; the hue is counted in turns, and a negative one goes round the circle.

    Args:
        hue: In turns; red is 0.
        saturation: From white, 0, to pure, 1.
        truncated: Cut sixths of the circle towards zero instead of down, as a common routine does that expects hues
            above zero. For a negative hue one channel then leaves [0, 1]: hue -0.1 at saturation 1 gives
            (1, -0.6, 0). The reference frames were not made so.
    """
    sixth = np.trunc(6 * hue) if truncated else np.floor(6 * hue)
    part = 6 * hue - sixth
    one, low = np.ones_like(hue), np.full_like(hue, 1 - saturation)
    falling, rising = 1 - saturation * part, 1 - saturation * (1 - part)
    cases = [
        (one, rising, low),
        (falling, one, low),
        (low, one, rising),
        (low, falling, one),
        (rising, low, one),
        (one, low, falling),
    ]
    which = (sixth.astype(np.int64) % 6)[None, :, None]
    return np.take_along_axis(np.stack([np.stack(case, axis=1) for case in cases]), which, axis=0)[0]
