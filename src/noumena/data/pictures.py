"""Pictures in files -> bytes (c, h, w). Pillow is imported here alone."""

import io
from pathlib import Path
from types import ModuleType

import numpy as np

from .cache import Damaged


def pillow() -> ModuleType:
    """Its module of images, or an error that says what to install."""
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        message = f"pictures in files are read by Pillow ({error}): run `pip install noumena[images]`."
        raise ModuleNotFoundError(message, name=error.name) from error
    return Image


def decode(content: bytes, what: str | Path, resize: int | None = None, crop: int | None = None) -> np.ndarray:
    """The picture that a file holds, as red, green and blue.

    Args:
        content: All bytes of the file.
        what: What it is called in errors.
        resize: What the shorter side becomes, by area-weighted linear interpolation; left as it is by default.
        crop: The side of the square that is kept of the centre; all is kept by default.
    """
    image = pillow()
    try:
        with image.open(io.BytesIO(content)) as opened:
            picture = opened.convert("RGB")
    except (OSError, SyntaxError, ValueError, image.DecompressionBombError, image.DecompressionBombWarning) as error:
        reason = str(error).split("<")[0].strip()
        raise Damaged(f"`{what}` must be a whole picture, got one that cannot be read ({reason}).") from error
    if resize is not None:
        scale = resize / min(picture.size)
        width, height = (max(resize, round(side * scale)) for side in picture.size)
        picture = picture.resize((width, height), image.Resampling.BILINEAR)
    if crop is not None:
        left, top = (round((side - crop) / 2) for side in picture.size)
        picture = picture.crop((left, top, left + crop, top + crop))
    return np.asarray(picture).transpose(2, 0, 1)
