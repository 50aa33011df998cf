"""Small sets in the layouts in which the real ones come."""

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image


def scratch() -> Path:
    """A folder that lasts as long as the tests: contracts make their subject without a fixture."""
    path = Path(tempfile.mkdtemp(prefix="noumena-tests-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def pictures(n: int, size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, size, size, 3), dtype=np.uint8)


def save(path: Path, picture: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path, **({} if path.suffix == ".png" else {"quality": 100}))


def threedident(root: Path, n: int = 12, size: int = 8, seed: int = 0) -> np.ndarray:
    """Returns the pictures (n, size, size, 3)."""
    drawn = pictures(n, size, seed)
    raw = np.random.default_rng(seed).uniform(-1, 1, (n, 10))
    for i, picture in enumerate(drawn):
        save(root / "images" / f"{str(i).zfill(int(np.ceil(np.log10(n))))}.png", picture)
    np.save(root / "raw_latents.npy", raw)
    np.save(root / "latents.npy", raw * ([3.0] * 3 + [np.pi / 2] * 7))
    return drawn


def causal(root: Path, counts: tuple[int, ...] = (3, 11, 2), size: int = 8) -> list[np.ndarray]:
    """Returns the pictures of each class."""
    found = []
    for c, n in enumerate(counts):
        found.append(pictures(n, size, seed=c))
        for i, picture in enumerate(found[-1]):
            save(root / f"images_{c}" / f"{i:05d}.png", picture)
        np.save(root / f"raw_latents_{c}.npy", np.random.default_rng(c).uniform(-1, 1, (n, 10)))
    return found


def imagenet(root: Path, counts: dict[str, int], sides: tuple[tuple[int, int], ...] = ((40, 30), (30, 50))) -> None:
    """Pictures (width, height) of `sides` in turn, in each of `counts` classes."""
    generator = np.random.default_rng(5)
    for name, n in counts.items():
        for i in range(n):
            width, height = sides[i % len(sides)]
            # Smooth, so that what JPEG takes away is little.
            slope = np.linspace(0, 1, width)[None, :, None] * np.linspace(0.2, 1, height)[:, None, None]
            picture = (255 * slope * generator.uniform(0.3, 1, 3)).astype(np.uint8)
            save(root / name / f"{name}_{i}.JPEG", picture)


def idx(values: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return header + values.astype(np.uint8).tobytes()


def sequences(lengths=(4, 2, 7), seed: int = 0) -> dict:
    """What a file of KITTI Masks holds."""
    generator = np.random.default_rng(seed)
    masks = [(generator.random((n, 64, 64)) < 0.1).astype(np.uint8) for n in lengths]
    latents = [generator.uniform(0, 64, (n, 3)).astype(np.float32) for n in lengths]
    return {"pedestrians": masks, "pedestrians_latents": latents}
