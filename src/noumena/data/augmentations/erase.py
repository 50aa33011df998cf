"""A part that is missing."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ... import _checks
from .base import AbstractOperation, Parameters, Shape, below, chosen, interval

TRIES = 10


@dataclass(frozen=True)
class RandomErasing(AbstractOperation):
    """A box of random area and aspect ratio painted over ("cutout").

    The share of the area is uniform on `scale`, the logarithm of height over width uniform on that of `ratio`, and the
    sides are rounded to whole pixels. A box that is not smaller than the image on both sides is drawn anew, ten times
    at most; if none is, nothing is erased. Boxes are placed uniformly, and lie in the image whole.

    Records `erased`, and `erase_top`, `erase_left`, `erase_height`, `erase_width` in pixels, the sides 0 where nothing
    was erased.

    Args:
        scale: Share of the area, from and to.
        ratio: Height over width, from and to.
        value: That the box gets.
        probability: Of being erased.
    """

    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    value: float = 0.0
    probability: float = 0.5

    names: ClassVar = ("erased", "erase_top", "erase_left", "erase_height", "erase_width")
    effects: ClassVar = ("erase",)

    def __post_init__(self) -> None:
        interval("scale", self.scale, 0, 1)
        if interval("ratio", self.ratio, 0)[0] == 0:
            raise ValueError(f"`ratio` must be positive, got {self.ratio}.")
        _checks.number("value", self.value)
        _checks.within("probability", self.probability, 0, 1)

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        _, height, width = shape
        draws = torch.rand((2, n, TRIES), generator=generator, device=generator.device, dtype=torch.float64)
        area = (self.scale[0] + draws[0] * (self.scale[1] - self.scale[0])) * height * width
        low, high = map(math.log, self.ratio)
        ratio = (low + draws[1] * (high - low)).exp()
        tall, wide = (area * ratio).sqrt().round().long(), (area / ratio).sqrt().round().long()
        fits = (tall < height) & (wide < width)
        first = fits.long().argmax(dim=1, keepdim=True)
        erased = chosen(n, self.probability, generator) & fits.any(dim=1)
        tall, wide = (torch.where(erased, side.gather(1, first).squeeze(1), 0) for side in (tall, wide))
        top, left = below(height - tall + 1, generator), below(width - wide + 1, generator)
        return dict(zip(self.names, (erased, top, left, tall, wide), strict=True))

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        inside = [
            _between(images.shape[axis], parameters[f"erase_{start}"], parameters[f"erase_{length}"])
            for axis, start, length in ((2, "top", "height"), (3, "left", "width"))
        ]
        return images.masked_fill((inside[0][:, :, None] & inside[1][:, None, :])[:, None], self.value)


def _between(there_are: int, start: Tensor, length: Tensor) -> Tensor:
    """(n, there_are): which places of an axis lie in the box."""
    place = torch.arange(there_are, device=start.device)
    return (place >= start[:, None]) & (place < (start + length)[:, None])
