"""Writing a set of rendered images, in the layout in which 3DIdent and Causal3DIdent were released."""

import errno
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64

from .. import _checks, _files
from ..mixings.render import Renderer
from ..mixings.render.scene import FACTORS, to_render_units
from ..mixings.render.shapes import digest, named
from . import png

DESCRIPTION = "rendered.json"
SPLITS = ("train", "test")
BLOCK = 64  # images that a worker renders at once: a second or so at 64 pixels


@dataclass(frozen=True)
class Rendered:
    """What decides every image of a set: equal descriptions, equal bytes, however the work was divided.

    Image i depends on the seed, the split and i alone, so a larger set begins with a smaller one's images.

    Args:
        n: Images; of each class, where there are several.
        size: Pixels of a side.
        seed: Decides latents and the sampling of lights.
        split: "train" or "test", which differ in their latents and get a folder each; None for one set, with the
            latents of "train", in the folder itself.
        classes: Objects: "teapot", a stand-in such as "cube" or "torus", or a file ending in .obj or .npz. None for
            the layout of 3DIdent with its teapot; any number gives the layout of Causal3DIdent.
        pixel_samples, light_samples, truncated_hues: See `mixings.Renderer`.
    """

    n: int
    size: int = 64
    seed: int = 0
    split: str | None = None
    classes: tuple[str, ...] | None = None
    pixel_samples: int = 2
    light_samples: int = 2
    truncated_hues: bool = False

    def __post_init__(self) -> None:
        for name in ("n", "size", "pixel_samples", "light_samples"):
            _checks.count(name, getattr(self, name))
        _checks.count("seed", self.seed, low=0)
        if self.split is not None:
            _checks.choice("split", self.split, SPLITS)
        _checks.kind("truncated_hues", self.truncated_hues, bool)
        if self.classes is not None:
            object.__setattr__(self, "classes", _checks.sequence("classes", self.classes))
            if not self.classes:
                raise ValueError("`classes` must name at least one object; None stands for 3DIdent's teapot.")

    def latents(self, which: int = 0) -> Float64[np.ndarray, "n 10"]:
        """Raw latents of a class, uniform on [-1, 1]; the first rows are those of any larger set."""
        return np.random.default_rng(self.stream(which)).uniform(-1, 1, (self.n, len(FACTORS)))

    def stream(self, which: int) -> np.random.SeedSequence:
        """Of the random numbers of a class."""
        return np.random.SeedSequence((self.seed, SPLITS.index(self.split or SPLITS[0]), which))

    def folder(self, root: str | Path) -> Path:
        """Where the set lies: ROOT itself; with a split ROOT/train, or ROOT/trainset where there are classes."""
        if self.split is None:
            return Path(root)
        return Path(root) / (self.split if self.classes is None else f"{self.split}set")

    def image(self, root: str | Path, which: int, i: int) -> Path:
        name = f"{i:0{len(str(self.n - 1))}d}.png"
        return self.folder(root) / ("images" if self.classes is None else f"images_{which}") / name


class Progress(NamedTuple):
    """Images that are whole, of how many; `found` of them were there before."""

    done: int
    total: int
    found: int


def write(root: str | Path, description: Rendered, *, workers: int = 1) -> Iterator[Progress]:
    """Render what is missing of a set, a block at a time; stop at any time, and call it again to go on.

    Every image is written under another name and then renamed, and those found are read through before they count, so
    that neither a crash nor a power failure leaves half of one in the set.

    Args:
        root: The folder of the splits; made if it is not there.
        description: What is rendered. A folder that holds another set of this split is refused.
        workers: Processes.
    """
    _checks.count("workers", workers)
    classes = ("teapot",) if description.classes is None else description.classes
    _prepare(Path(root), description, classes)
    total = description.n * len(classes)
    missing = {which: _missing(Path(root), description, which) for which in range(len(classes))}
    done = found = total - sum(map(len, missing.values()))
    yield Progress(done, total, found)
    blocks = [
        (str(root), description, which, rows[k : k + BLOCK])
        for which, rows in missing.items()
        for k in range(0, len(rows), BLOCK)
    ]
    for count in _each(blocks, workers):
        done += count
        yield Progress(done, total, found)


def described(folder: str | Path) -> Rendered | None:
    """What lies in a folder, if it was written by `write`; its images may not all be there yet."""
    path = Path(folder) / DESCRIPTION
    if not path.is_file():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        known: dict[str, Any] = {field.name: kept[field.name] for field in fields(Rendered)}
        if known["classes"] is not None:
            known["classes"] = tuple(known["classes"])
        return Rendered(**known)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"`{path}` must describe a rendered set, got {error}; name another folder.") from error


def _prepare(root: Path, description: Rendered, classes: Sequence[str]) -> None:
    """The folders, the description and the latents; before the first image, so that a set is never without them."""
    folder = description.folder(root)
    path = folder / DESCRIPTION
    there = described(folder)
    digests = [digest(named(name)) for name in classes]
    if there is not None:
        pairs = {
            field.name: (getattr(there, field.name), getattr(description, field.name)) for field in fields(Rendered)
        }
        told = ", ".join(f"{name} {old}, not {new}" for name, (old, new) in pairs.items() if old != new)
        if told:
            raise ValueError(f"`{folder}` holds another set, with {told}. Name another folder, or go on with that set.")
        if json.loads(path.read_text(encoding="utf-8"))["meshes"] != digests:
            raise ValueError(f"`{folder}` shows other meshes than {', '.join(classes)} are now; name another folder.")
        return
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"`{folder}` must be empty or hold a set that was rendered here; it holds something else.")
    with _told(folder):
        for which in range(len(classes)):
            description.image(root, which, 0).parent.mkdir(parents=True, exist_ok=True)
            raw, suffix = description.latents(which), "" if description.classes is None else f"_{which}"
            _save(folder / f"raw_latents{suffix}.npy", raw)
            _save(folder / f"latents{suffix}.npy", to_render_units(raw))
        kept = {**asdict(description), "factors": FACTORS, "meshes": digests}
        _files.replace(path, (json.dumps(kept, indent=1) + "\n").encode())


def _missing(root: Path, description: Rendered, which: int) -> list[int]:
    folder = description.image(root, which, 0).parent
    for left in folder.glob(".*.tmp"):
        left.unlink()
    there = {entry.name for entry in os.scandir(folder)}
    paths = [description.image(root, which, i) for i in range(description.n)]
    size = description.size
    return [
        i for i, path in enumerate(paths) if path.name not in there or not png.is_whole(path.read_bytes(), size, size)
    ]


def _each(blocks: Sequence[tuple[str, Rendered, int, list[int]]], workers: int) -> Iterator[int]:
    if workers == 1 or len(blocks) < 2:
        yield from (_render(*block) for block in blocks)
        return
    from joblib import Parallel, delayed

    # The first block is rendered here: the compiled code is then on disk when the others ask for it.
    yield _render(*blocks[0])
    parallel = Parallel(n_jobs=min(workers, len(blocks) - 1), backend="loky", return_as="generator_unordered")
    yield from parallel(delayed(_render)(*block) for block in blocks[1:])  # pyright: ignore


def _render(root: str, description: Rendered, which: int, rows: list[int]) -> int:
    """Renders and writes images of one class; returns how many."""
    renderer = _renderer(description, which)
    index = np.array(rows, dtype=np.int64)
    seed = int(description.stream(which).generate_state(1)[0])
    images = renderer.images(description.latents(which)[index], index, seed=seed)
    for i, image in zip(rows, images, strict=True):
        path = description.image(root, which, i)
        with _told(path.parent):
            temporary = path.with_name(f".{path.name}.tmp")
            temporary.write_bytes(png.encode(image))
            os.replace(temporary, path)
    return len(rows)


@lru_cache(maxsize=8)
def _renderer(description: Rendered, which: int) -> Renderer:
    return Renderer(
        description.size,
        pixel_samples=description.pixel_samples,
        light_samples=description.light_samples,
        meshes=[named("teapot" if description.classes is None else description.classes[which])],
        truncated_hues=description.truncated_hues,
    )


def _save(path: Path, rows: np.ndarray) -> None:
    held = io.BytesIO()
    np.save(held, rows)
    _files.replace(path, held.getvalue())


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Says what to do where the disk is full or closed to us."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(
                f"no space left for `{folder}`; make room and call it again: what is there is kept."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR):
            raise OSError(f"`{folder}` cannot be written to ({error.strerror}); name another folder.") from error
        raise
