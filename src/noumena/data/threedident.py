"""3DIdent and Causal3DIdent in the layout in which they were released."""

from pathlib import Path

import numpy as np
import torch

from .cache import Damaged
from .files import AbstractImageFiles, first_shape, threads

FACTORS = (
    "object x",
    "object y",
    "object z",
    "object rotation alpha",
    "object rotation beta",
    "object rotation gamma",
    "spotlight position",
    "object hue",
    "spotlight hue",
    "ground hue",
)
CAUSAL_SPLITS = {"train": "trainset", "test": "testset"}


class ThreeDIdent(AbstractImageFiles):
    """Renderings of a teapot, each with its ten factors in [-1, 1] (Zimmermann et al., 2021).

    The folder holds `raw_latents.npy` (n, 10), `latents.npy` (the same in the renderer's units) and
    `images/INDEX.png`, INDEX with leading zeros. `noumena render` writes the same layout.

    Args:
        root: The folder.
        split: A folder below it ("train", "test"); by default the layout is in `root` itself.
        workers: Threads that read and decode; by default one for each core, up to eight.
    """

    factor_names = FACTORS

    def __init__(self, root: str | Path, split: str | None = None, *, workers: int | None = None) -> None:
        self.root = Path(root) if split is None else Path(root) / split
        self.name, self.workers = f"3dident/{self.root.name}", threads(workers)
        factors = _factors(self.root / "raw_latents.npy")
        _same_rows(self.root / "latents.npy", factors)
        self.factors, self.factor_names = torch.from_numpy(factors), FACTORS
        self.digits = _digits(self.root / "images", len(factors))
        self.shape = first_shape(self.path(0), f"`{self.name}`")

    def __len__(self) -> int:
        assert self.factors is not None
        return len(self.factors)

    def path(self, row: int) -> Path:
        return self.root / "images" / f"{row:0{self.digits}d}.png"


class CausalThreeDIdent(AbstractImageFiles):
    """Renderings of seven objects, each with its ten factors in [-1, 1] (von Kügelgen et al., 2021).

    The folders `trainset` and `testset` hold `raw_latents_CLASS.npy` and `images_CLASS/INDEX.png` for each object.
    Rows are those of the first object, then those of the second, and so on; labels say which.

    Args:
        root: The folder of both.
        split: "train" or "test"; None if the layout is in `root` itself.
        workers: Threads that read and decode; by default one for each core, up to eight.
    """

    factor_names = FACTORS

    def __init__(self, root: str | Path, split: str | None = "train", *, workers: int | None = None) -> None:
        self.root = Path(root) if split is None else Path(root) / CAUSAL_SPLITS.get(split, split)
        self.name, self.workers = f"causal3dident/{self.root.name}", threads(workers)
        factors = []
        while not factors or (self.root / f"raw_latents_{len(factors)}.npy").is_file():
            factors.append(_factors(self.root / f"raw_latents_{len(factors)}.npy"))
        self.factors, self.factor_names = torch.from_numpy(np.concatenate(factors)), FACTORS
        self.class_names = tuple(f"object {c}" for c in range(len(factors)))
        counts = torch.tensor([len(one) for one in factors])
        self.labels = torch.arange(len(factors)).repeat_interleave(counts)
        self.first = (counts.cumsum(0) - counts).tolist()
        self.digits = [_digits(self.root / f"images_{c}", len(one)) for c, one in enumerate(factors)]
        self.shape = first_shape(self.path(0), f"`{self.name}`")

    def __len__(self) -> int:
        assert self.factors is not None
        return len(self.factors)

    def path(self, row: int) -> Path:
        assert self.labels is not None
        c = int(self.labels[row])
        return self.root / f"images_{c}" / f"{row - self.first[c]:0{self.digits[c]}d}.png"


def _factors(path: Path) -> np.ndarray:
    found = _load(path)
    outside = ~(np.abs(found) <= 1).all(axis=1)  # NaN is outside, too
    if outside.any():
        first = int(outside.argmax())
        raise Damaged(
            f"`{path}` must hold latents in [-1, 1]; {int(outside.sum())} of {len(found)} rows do not, the first is "
            f"row {first}. Copy the file again; latents in the renderer's units belong into latents.npy."
        )
    return found


def _same_rows(path: Path, factors: np.ndarray) -> None:
    """Nothing here needs the renderer's units; but if they are of other images, so may the rest be."""
    if path.is_file() and (found := _load(path)).shape != factors.shape:
        raise Damaged(
            f"`{path}` must have the {len(factors)} rows of raw_latents.npy, got {len(found)}: the files are of two "
            "sets. Copy the set again."
        )


def _load(path: Path) -> np.ndarray:
    if not path.is_file():
        raise FileNotFoundError(
            f"no file `{path}`; name the folder that holds it, copy the set again, or `noumena render` one like it."
        )
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise Damaged(f"`{path}` must be a .npy file of numbers, got {error}. Copy it again.") from error
    if found.ndim != 2 or found.shape[1] != len(FACTORS) or len(found) == 0 or found.dtype.kind != "f":
        raise Damaged(
            f"`{path}` must have the shape (n, {len(FACTORS)}) of floating numbers, got {found.shape} of {found.dtype}."
        )
    return found


def _digits(images: Path, n: int) -> int:
    """To how many digits indices are filled up: as many as the last one needs, unless the files say otherwise."""
    needed = len(str(n - 1))
    for digits in (needed, *range(needed + 1, 10)):
        if (images / f"{0:0{digits}d}.png").is_file():
            return digits
    return needed
