"""The picture of a search for a map that beats the isometries: what it does to the sphere, and what it costs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import _files
from ..finding import Curve
from .align import turned
from .figure import COLOURS, Panel, draw
from .spheres import Ball, ball_panels, on_sphere

PAIRS = 1500  # of inner products drawn


def write(
    path: Path, curves: Mapping[str, Curve], z: np.ndarray, h: np.ndarray, isometries: float, infimum: float | None
) -> None:
    """An SVG with the latents and the map (in three dimensions), inner products before and after, and the searches.

    Args:
        path: The file; its folder is made.
        curves: Loss of each search while it ran.
        z, h: Latents and their unit embeddings, (n, d).
        isometries, infimum: Losses to draw as lines; the infimum where it is known.
    """
    panels = [_products(z, h), _searches(curves, isometries, infimum)]
    if on_sphere(z) and on_sphere(h):
        panels = ball_panels([Ball("latents", z), Ball("best map found", turned(z, h))]) + panels
    svg = draw(panels, "A search for a map that beats every isometry", columns=len(panels), size=(3.1, 2.6))
    path.parent.mkdir(parents=True, exist_ok=True)
    _files.replace(path, svg.encode())


def _products(z: np.ndarray, h: np.ndarray) -> Panel:
    """Inner products of embeddings over those of latents: a line for an isometry."""
    half = min(len(z) // 2, PAIRS)

    def paint(ax: Any) -> None:
        before, after = ((part[:half] * part[half : 2 * half]).sum(axis=1) for part in (z, h))
        ax.plot([-1, 1], [-1, 1], color=COLOURS[5], linewidth=0.8)
        ax.scatter(before, after, s=3, color=COLOURS[0], alpha=0.6, linewidths=0, rasterized=True)
        ax.set(title="inner products: latents, embeddings", xticks=[-1, 0, 1], yticks=[-1, 0, 1])

    return paint


def _searches(curves: Mapping[str, Curve], isometries: float, infimum: float | None) -> Panel:
    def paint(ax: Any) -> None:
        for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
            ax.plot(curve.x, curve.y, color=colour, label=name)
        ax.axhline(isometries, color=COLOURS[5], linestyle="--", label="isometries")
        if infimum is not None:
            ax.axhline(infimum, color=COLOURS[7], linestyle=":", label="infimum")
        ax.set_title("limit loss less log M")
        ax.legend()

    return paint
