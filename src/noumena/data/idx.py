"""The IDX format, in which MNIST and its relatives come."""

import gzip
from pathlib import Path

import numpy as np

from .cache import Damaged

BYTES = 0x08  # the format's mark of unsigned bytes, the only kind that these sets have


def read_idx(path: str | Path) -> np.ndarray:
    """The bytes of an IDX file, plain or gzipped (.gz), in the shape that it states."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`.")
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            content = bytearray(file.read())
    except (EOFError, gzip.BadGzipFile) as error:
        raise Damaged(f"`{path}` must be whole, got an end in its midst ({error}); fetch it again.") from error
    if len(content) < 4 or content[:3] != bytes([0, 0, BYTES]) or len(content) < 4 + 4 * content[3]:
        raise Damaged(f"`{path}` must be an IDX file of bytes, got one that begins with {bytes(content[:4])!r}.")
    axes = content[3]
    shape = tuple(int(n) for n in np.frombuffer(content, ">u4", axes, offset=4))
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
    if values.size != np.prod(shape, dtype=np.int64):
        raise Damaged(f"`{path}` must hold {shape} bytes by its own header, got {values.size}; fetch it again.")
    return values.reshape(shape)
