"""Cutting a box out of each image and resizing it: two small matrices for each image, one for each axis.

A row of a matrix holds the weights with which one output pixel takes the input pixels of its axis. Every image has its
own box, so matrices differ; as products of matrices they cost less than gathering at fractional places, and one
formula covers bilinear and bicubic weights, with and without antialiasing.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

METHODS = ("bilinear", "bicubic")


class Boxes(NamedTuple):
    """Whole pixels, one box for each image."""

    top: Int64[Tensor, " n"]
    left: Int64[Tensor, " n"]
    height: Int64[Tensor, " n"]
    width: Int64[Tensor, " n"]


def resample(
    images: Float[Tensor, "n c h w"], boxes: Boxes, size: tuple[int, int], method: str, antialias: bool
) -> Float[Tensor, "n c h2 w2"]:
    n, c, h, w = images.shape
    high, wide = size
    down = weights(boxes.top, boxes.height, h, high, method, antialias, images.dtype)
    across = weights(boxes.left, boxes.width, w, wide, method, antialias, images.dtype)
    rows = torch.bmm(images.reshape(n, c * h, w), across.mT).reshape(n, c, h, wide)
    return torch.matmul(down[:, None], rows)


def weights(
    start: Int64[Tensor, " n"],
    length: Int64[Tensor, " n"],
    there_are: int,
    wanted: int,
    method: str,
    antialias: bool,
    dtype: torch.dtype,
) -> Float[Tensor, "n wanted there_are"]:
    """Of `wanted` pixels over an axis with `there_are`, of which `length` from `start` on are used.

    Pixel i lies at its centre, i + 1/2; places beyond the box are taken at its border, as if the box had been cut out
    first. With antialiasing a kernel is as wide as the pixels that it makes, and its weights are divided by their sum.
    """
    result, dtype = dtype, torch.float32 if dtype.itemsize < 4 else dtype  # half precision has too few bits for places
    device = start.device
    length, start = length.to(dtype)[:, None], start.to(dtype)[:, None]
    scale = length / wanted
    centre = (torch.arange(wanted, device=device, dtype=dtype) + 0.5) * scale  # (n, wanted), within the box
    place = torch.arange(there_are, device=device, dtype=dtype) + 0.5 - start  # (n, there_are), within the box
    inside = (place > 0) & (place < length)
    stretch = scale.clamp(min=1)[:, :, None] if antialias else torch.ones((), dtype=dtype, device=device)
    distance = (place[:, None, :] - centre[:, :, None]) / stretch
    # The same kernel as torch's and Pillow's: a = -1/2 where it is widened, -3/4 where it is not.
    kernel = (lambda t: _cubic(t, -0.5 if antialias else -0.75)) if method == "bicubic" else _linear
    found = kernel(distance) * inside[:, None, :]
    if antialias:
        return (found / found.sum(dim=2, keepdim=True)).to(result)
    # Without antialiasing what lies beyond a border counts for the border pixel.
    reach = 2 if method == "bicubic" else 1
    first = (place == 0.5)[:, None, :]
    last = (place == length - 0.5)[:, None, :]
    beyond = torch.arange(1, reach + 1, device=device, dtype=dtype) - 0.5
    before = kernel(-beyond - centre[:, :, None]).sum(dim=2, keepdim=True)
    after = kernel(length[:, :, None] + beyond - centre[:, :, None]).sum(dim=2, keepdim=True)
    return (found + first * before + last * after).to(result)


def _linear(t: Tensor) -> Tensor:
    return (1 - t.abs()).clamp(min=0)


def _cubic(t: Tensor, a: float) -> Tensor:
    """The cubic convolution kernel with parameter a (Keys, 1981)."""
    t = t.abs()
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = (((t - 5) * t + 8) * t - 4) * a
    return torch.where(t < 1, near, torch.where(t < 2, far, torch.zeros_like(t)))
