"""Out of focus."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from ... import _checks
from .base import AbstractOperation, Parameters, Shape, chosen, interval, uniform, where


@dataclass(frozen=True)
class GaussianBlur(AbstractOperation):
    """Convolution with a normal density of random width, sampled at whole pixels; borders are reflected.

    Records `blurred`, and `blur_sigma` in pixels, 0 where an image was left alone.

    Args:
        kernel_size: Pixels of the kernel on a side, odd. SimCLR takes a tenth of the image.
        sigma: Standard deviation, from and to, uniform.
        probability: Of being blurred.
    """

    kernel_size: int
    sigma: tuple[float, float] = (0.1, 2.0)
    probability: float = 0.5

    names: ClassVar = ("blurred", "blur_sigma")
    effects: ClassVar = ("blur",)

    def __post_init__(self) -> None:
        if _checks.count("kernel_size", self.kernel_size) % 2 == 0:
            raise ValueError(f"`kernel_size` must be odd, so that it has a middle; got {self.kernel_size}.")
        if interval("sigma", self.sigma, 0)[0] == 0:
            raise ValueError(f"`sigma` must be positive, got {self.sigma}; `probability` leaves images sharp.")
        _checks.within("probability", self.probability, 0, 1)

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        if self.kernel_size // 2 >= min(shape[1:]):
            raise ValueError(
                f"`kernel_size` must be less than {2 * min(shape[1:])} for images of {shape[1]} x {shape[2]}, so that "
                f"borders can be reflected; got {self.kernel_size}."
            )
        blurred = chosen(n, self.probability, generator)
        return {"blurred": blurred, "blur_sigma": torch.where(blurred, uniform(n, *self.sigma, generator), 0.0)}

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        sigma = parameters["blur_sigma"].to(images.dtype)
        radius = self.kernel_size // 2
        return where(parameters["blurred"], images, lambda these, rows: _blur(these, sigma[rows], radius))


def _blur(images: Float[Tensor, "n c h w"], sigma: Float[Tensor, " n"], radius: int) -> Float[Tensor, "n c h w"]:
    """Shifted copies, weighed and added: one axis after the other, both neighbours at one distance together."""
    steps = torch.arange(radius + 1, device=images.device, dtype=images.dtype)
    weights = (-(steps / sigma[:, None]).square() / 2).exp()
    weights = weights / (2 * weights.sum(dim=1, keepdim=True) - 1)  # the middle counts once, the others twice
    padded = pad(images, (radius,) * 4, mode="reflect")
    for axis in (3, 2):
        length = padded.shape[axis] - 2 * radius
        total = padded.narrow(axis, radius, length) * weights[:, 0, None, None, None]
        for step in range(1, radius + 1):
            both = padded.narrow(axis, radius - step, length) + padded.narrow(axis, radius + step, length)
            total.addcmul_(both, weights[:, step, None, None, None])
        padded = total
    return padded
