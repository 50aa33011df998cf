"""Spheres coloured by latent: before the mixing, after it, and as recovered."""

import base64
import colorsys
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .align import turned
from .figure import Panel

MOST = 700  # points drawn
# The first coordinate points up.
VIEW = (0.5, 0.35)  # turn about the upright axis and tilt, in radians


@dataclass(frozen=True, eq=False)
class Ball:
    """Points of three coordinates, none longer than one, with a title."""

    title: str
    points: np.ndarray


def balls(sample: dict[str, np.ndarray]) -> list[Ball]:
    """Latents, observations and embeddings of a sphere in three dimensions; none where latents or embeddings are
    something else. Observations are centred and scaled to fit; those of another dimension are left out.
    """
    z, x, h = (sample[name][:MOST] for name in ("z", "x", "h"))
    if not (on_sphere(z) and on_sphere(h)):
        return []
    shown = [Ball("latents", z)]
    if x.shape[1:] == (3,):
        centred = x - (x.min(axis=0) + x.max(axis=0)) / 2
        shown.append(Ball("observations", centred / np.linalg.norm(centred, axis=1).max()))
    return [*shown, Ball("recovered", turned(z, h))]


def on_sphere(points: np.ndarray) -> bool:
    return points.ndim == 2 and points.shape[1] == 3 and bool(np.allclose(np.linalg.norm(points, axis=1), 1, atol=1e-3))


def colours(z: np.ndarray) -> np.ndarray:
    """(n, 3) in [0, 1]: the first coordinate is the lightness, the direction of the other two the hue."""
    hues = np.arctan2(z[:, 2], z[:, 1]) / (2 * math.pi) % 1
    lightness = 0.5 + 0.27 * z[:, 0]
    return np.array([colorsys.hls_to_rgb(hue, light, 0.85) for hue, light in zip(hues, lightness, strict=True)])


def ball_panels(shown: list[Ball]) -> list[Panel]:
    """Each as seen from one side; points of the far half are small and pale."""
    shades = colours(shown[0].points)
    return [_panel(ball, shades) for ball in shown]


def view(turn: float, tilt: float) -> np.ndarray:
    """(3, 3): columns take a point to right, up and towards the reader."""
    about = np.array([[1, 0, 0], [0, math.cos(turn), -math.sin(turn)], [0, math.sin(turn), math.cos(turn)]])
    tilted = np.array([[math.cos(tilt), 0, -math.sin(tilt)], [0, 1, 0], [math.sin(tilt), 0, math.cos(tilt)]])
    up_right_towards = (tilted @ about).T
    return up_right_towards[:, [1, 0, 2]]


def _panel(ball: Ball, shades: np.ndarray) -> Panel:
    def paint(ax: Any) -> None:
        seen = ball.points @ view(*VIEW)
        order = np.argsort(seen[:, 2])
        depth = seen[order, 2]
        angles = np.linspace(0, 2 * math.pi, 90)
        ax.plot(np.cos(angles), np.sin(angles), color="#7d858d", linewidth=0.5)
        rgba = np.column_stack([shades[order], np.where(depth < 0, 0.25, 0.95)])
        ax.scatter(*seen[order, :2].T, s=np.where(depth < 0, 3.0, 9.0), color=rgba, linewidths=0, rasterized=True)
        ax.set_title(ball.title)
        ax.set_aspect("equal")
        ax.set_axis_off()

    return paint


def data(shown: list[Ball]) -> str:
    """JSON for the page's script: titles, points in 127ths and colours in 255ths, as base64."""

    def packed(array: np.ndarray, kind: type) -> str:
        return base64.b64encode(np.rint(array).astype(kind).tobytes()).decode()

    return json.dumps(
        {
            "view": VIEW,
            "titles": [ball.title for ball in shown],
            "points": [packed(127 * ball.points, np.int8) for ball in shown],
            "colours": packed(255 * colours(shown[0].points), np.uint8),
        }
    )
