"""Contact sheets: what pairs of images look like."""

from typing import Any

import numpy as np

from .figure import Panel

ACROSS = 12  # pairs in a line
GAP = 2  # picture elements between pictures


def pair_panels(anchors: np.ndarray, positives: np.ndarray) -> list[Panel]:
    """Anchors (n, c, h, w) as bytes, each with its positive below, twelve in a line."""
    return [
        _panel(sheet(anchors[start : start + ACROSS], positives[start : start + ACROSS]))
        for start in range(0, len(anchors), ACROSS)
    ]


def sheet(*lines: np.ndarray) -> np.ndarray:
    """Lines of pictures (n, c, h, w), bytes in one size -> (height, width, 3) in [0, 1], NaN in the gaps."""
    count, channels, height, width = lines[0].shape
    shape = (len(lines) * (height + GAP) - GAP, count * (width + GAP) - GAP, 3)
    found = np.full(shape, np.nan)
    for row, pictures in enumerate(lines):
        for column, picture in enumerate(pictures):
            top, left = row * (height + GAP), column * (width + GAP)
            coloured = np.repeat(picture, 3, axis=0) if channels == 1 else picture
            found[top : top + height, left : left + width] = coloured.transpose(1, 2, 0) / 255
    return found


def _panel(picture: np.ndarray) -> Panel:
    def paint(ax: Any) -> None:
        gaps = np.isnan(picture).any(axis=2)
        # Gaps are transparent: the page may be light or dark.
        ax.imshow(np.dstack([np.nan_to_num(picture), ~gaps]), interpolation="nearest")
        ax.set_axis_off()

    return paint
