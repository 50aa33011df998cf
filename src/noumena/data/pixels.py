"""Bytes as numbers that a network reads."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor


def unit(images: UInt8[Tensor, "*n c h w"], dtype: torch.dtype, device: torch.device) -> Float[Tensor, "*n c h w"]:
    """Pixels in [0, 1]: bytes cross to the device as bytes, a quarter of what floats would take."""
    return images.to(device).to(dtype).div_(255)
