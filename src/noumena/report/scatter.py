"""True against recovered, a panel for each coordinate."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .align import Aligned
from .figure import COLOURS, Panel

MOST = 10  # coordinates drawn


def scatter_panels(z: np.ndarray, aligned: Aligned, names: Sequence[str] = ()) -> list[Panel]:
    """Latents `z` (n, d) across, aligned embeddings upwards; the title says how much of the variance is explained.

    Latents without names are z1, z2 and so on.
    """
    named = names or [f"z{i + 1}" for i in range(z.shape[1])]
    return [_panel(named[i], z[:, i], aligned.h[:, i]) for i in range(min(MOST, z.shape[1]))]


def _panel(name: str, true: np.ndarray, recovered: np.ndarray) -> Panel:
    def paint(ax: Any) -> None:
        low, high = true.min(), true.max()
        ax.plot([low, high], [low, high], color=COLOURS[5], linewidth=0.8)
        ax.set_title(f"{name}: {explained(true, recovered):.4f}")
        ax.set_xticks([low, high], [f"{low:.1f}", f"{high:.1f}"])
        ax.set_yticks([])
        if np.isfinite(recovered).all():
            # As pixels: a thousand dots are smaller so than a thousand shapes.
            ax.scatter(true, recovered, s=2, color=COLOURS[0], alpha=0.6, linewidths=0, rasterized=True)

    return paint


def explained(true: np.ndarray, recovered: np.ndarray) -> float:
    """Share of the variance of `true` that `recovered` explains, as it stands."""
    return float(1 - np.square(true - recovered).sum() / np.square(true - true.mean()).sum())
