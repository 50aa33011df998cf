"""KITTI Masks: silhouettes of pedestrians in sequences, read from the released pickle without running it."""

import pickle
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from . import cache
from .base import AbstractImageTable
from .cache import Damaged
from .unpickle import load_arrays

FACTORS = ("vertical", "horizontal", "area")
MASKS, LATENTS = "pedestrians", "pedestrians_latents"
SIDE = 64
HELD_OUT = 10  # every tenth sequence is for testing
OPAQUE = 255


class KITTIMasks(AbstractImageTable):
    """Silhouettes of 64x64 with the centre of mass and the area of each (Klindt et al., 2021).

    The published experiments train and measure on all sequences (`split=None`); the splits part them by sequence, for
    what is to be measured on pedestrians that were never seen.

    Args:
        path: The file, `kitti_peds_v2.pickle`, or one of its layout (`write_masks`).
        split: None for all sequences, "test" for every tenth, "train" for the others.
    """

    shape = (1, SIDE, SIDE)
    factor_names = FACTORS

    def __init__(self, path: str | Path, split: str | None = None) -> None:
        path = Path(path)
        masks, latents = _sequences(path)
        if split is not None:
            held_out = _checks.choice("split", split, ("train", "test")) == "test"
            kept = [i for i in range(len(masks)) if (i % HELD_OUT == HELD_OUT - 1) == held_out]
            if not kept:
                raise ValueError(f"`split` must leave a sequence, got {split!r} of {len(masks)}; leave it out.")
            masks, latents = [masks[i] for i in kept], [latents[i] for i in kept]
        self.name = "kitti-masks" if split is None else f"kitti-masks/{split}"
        self.shape = (1, SIDE, SIDE)
        self.factors, self.factor_names = torch.from_numpy(np.concatenate(latents)), FACTORS
        self.episodes = np.repeat(np.arange(len(masks)), [len(one) for one in masks])
        self._masks = torch.from_numpy(np.concatenate(masks).astype(bool))[:, None]

    def __len__(self) -> int:
        return len(self._masks)

    def _images(self, rows: Tensor) -> Tensor:
        return self._masks[rows.cpu()].to(torch.uint8) * OPAQUE


def write_masks(table: AbstractImageTable, path: str | Path) -> None:
    """Write a table of silhouettes in the layout of the released file.

    Args:
        table: Of one channel and 64x64 pixels, each 0 or 255, with three factors and episodes.
        path: Of the pickle.
    """
    if table.shape != (1, SIDE, SIDE) or table.factors is None or table.episodes is None:
        raise ValueError(f"`table` must have images of 1x{SIDE}x{SIDE}, factors and episodes; `{table.name}` has not.")
    starts = np.flatnonzero(np.diff(table.episodes)) + 1
    masks = (table.images(torch.arange(len(table)))[:, 0] == OPAQUE).numpy().astype(np.uint8)
    latents = table.factors.numpy().astype(np.float32)
    content = {MASKS: np.split(masks, starts), LATENTS: np.split(latents, starts)}
    with cache.writing(Path(path)) as file:
        pickle.dump(content, file, protocol=4)


def _sequences(path: Path) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Masks (T, 64, 64) and latents (T, 3) of each sequence, known to belong together."""
    content = load_arrays(path)
    if not isinstance(content, dict) or not content.keys() >= {MASKS, LATENTS}:
        raise Damaged(f"`{path}` must hold a dictionary of `{MASKS}` and `{LATENTS}`; it is not this set's file.")
    masks, latents = [[np.asarray(one) for one in content[key]] for key in (MASKS, LATENTS)]
    if len(masks) != len(latents) or not masks:
        raise Damaged(f"`{path}` must have latents for each sequence, got {len(latents)} for {len(masks)}.")
    for i, (seen, known) in enumerate(zip(masks, latents, strict=True)):
        where = f"`{path}`, sequence {i},"
        if seen.shape != (len(seen), SIDE, SIDE) or len(seen) == 0 or seen.dtype.kind not in "biu" or seen.max() > 1:
            raise Damaged(f"{where} must hold masks (T, {SIDE}, {SIDE}) of 0 and 1, got {seen.shape} of {seen.dtype}.")
        if known.shape != (len(seen), len(FACTORS)) or known.dtype.kind != "f":
            raise Damaged(f"{where} must have latents ({len(seen)}, 3) of floating numbers, got {known.shape}.")
        if not (np.isfinite(known).all() and (known >= 0).all()):
            raise Damaged(f"{where} must have centres and areas that are finite and not negative; download it again.")
    return masks, latents
