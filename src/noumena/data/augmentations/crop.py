"""A random part of an image, resized."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ... import _checks
from . import _resample
from .base import AbstractOperation, Parameters, Shape, below, chosen, interval, size_pair

TRIES = 10


@dataclass(frozen=True)
class RandomResizedCrop(AbstractOperation):
    """A box of random area and aspect ratio, resized to one size: the augmentation that contrastive learning of images
    leans on most.

    The share of the area is uniform on `scale`, the logarithm of width over height uniform on that of `ratio`, and
    the sides are rounded to whole pixels. A box that does not fit into the image is drawn anew, ten times at most; if
    none fits, the largest one in the middle whose ratio is within `ratio` is taken. So ratios far from the image's own
    come with smaller areas, and areas near the whole image are rarer than `scale` says: the law that published
    results were made with. A box that fits is placed uniformly.

    Records `crop_top`, `crop_left`, `crop_height` and `crop_width`, in pixels.

    Args:
        size: Of what comes out, a number or (height, width).
        scale: Share of the area, from and to.
        ratio: Width over height, from and to.
        probability: Of being cropped; otherwise the whole image is resized.
        interpolation: "bilinear" or "bicubic". The latter overshoots, and is clamped to [0, 1].
        antialias: Average over all that a pixel covers where an image becomes smaller. Without, pixels are skipped.
    """

    size: int | tuple[int, int]
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    probability: float = 1.0
    interpolation: str = "bilinear"
    antialias: bool = True

    names: ClassVar = ("crop_top", "crop_left", "crop_height", "crop_width")
    effects: ClassVar = ("crop",)

    def __post_init__(self) -> None:
        size_pair("size", self.size)
        if interval("scale", self.scale, 0, 1)[0] == 0 or interval("ratio", self.ratio, 0)[0] == 0:
            raise ValueError(f"`scale` and `ratio` must be positive, got {self.scale} and {self.ratio}.")
        _checks.within("probability", self.probability, 0, 1)
        _checks.choice("interpolation", self.interpolation, _resample.METHODS)

    def shape_after(self, shape: Shape) -> Shape:
        return (shape[0], *size_pair("size", self.size))

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        _, height, width = shape
        draws = torch.rand((2, n, TRIES), generator=generator, device=generator.device, dtype=torch.float64)
        area = (self.scale[0] + draws[0] * (self.scale[1] - self.scale[0])) * height * width
        low, high = map(math.log, self.ratio)
        ratio = (low + draws[1] * (high - low)).exp()
        tall, wide = (area / ratio).sqrt().round().long(), (area * ratio).sqrt().round().long()
        fits = (tall > 0) & (tall <= height) & (wide > 0) & (wide <= width)
        first = fits.long().argmax(dim=1, keepdim=True)
        tall, wide = (side.gather(1, first).squeeze(1) for side in (tall, wide))
        top, left = below(height - tall + 1, generator), below(width - wide + 1, generator)
        middle = _middle(height, width, self.ratio)
        whole = (0, 0, height, width)
        cut = chosen(n, self.probability, generator)
        drawn = zip((top, left, tall, wide), middle, whole, strict=True)
        boxes = [torch.where(cut, torch.where(fits.any(dim=1), box, m), w) for box, m, w in drawn]
        return dict(zip(self.names, boxes, strict=True))

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        boxes = _resample.Boxes(*(parameters[name] for name in self.names))
        size = size_pair("size", self.size)
        made = _resample.resample(images, boxes, size, self.interpolation, self.antialias)
        return made.clamp_(0, 1) if self.interpolation == "bicubic" else made


def _middle(height: int, width: int, ratio: tuple[float, float]) -> tuple[int, int, int, int]:
    """The largest box in the middle with a ratio between two: top, left, height, width."""
    tall, wide = height, width
    if width / height < ratio[0]:
        tall = min(height, round(width / ratio[0]))
    elif width / height > ratio[1]:
        wide = min(width, round(height * ratio[1]))
    return (height - tall) // 2, (width - wide) // 2, tall, wide
