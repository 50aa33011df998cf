"""Luminance, blends and turned hues of images in [0, 1], a factor for each image."""

import torch
from jaxtyping import Float
from torch import Tensor

LUMINANCE = (0.299, 0.587, 0.114)  # ITU-R BT.601, as in every published augmentation


def luminance(images: Float[Tensor, "n c h w"]) -> Float[Tensor, "n 1 h w"]:
    """A copy of its own, of grey images too."""
    if images.shape[1] == 1:
        return images.clone()
    red, green, blue = images.split(1, dim=1)
    r, g, b = LUMINANCE
    return (red * r).add_(green, alpha=g).add_(blue, alpha=b)


def brighten(images: Float[Tensor, "n c h w"], factor: Float[Tensor, " n"]) -> Float[Tensor, "n c h w"]:
    """Towards black at factors below 1."""
    return (images * _each(factor)).clamp_(0, 1)


def contrast(images: Float[Tensor, "n c h w"], factor: Float[Tensor, " n"]) -> Float[Tensor, "n c h w"]:
    """Towards the mean luminance of the image at factors below 1."""
    mean = luminance(images).mean(dim=(1, 2, 3))
    return _away(images, _each(mean), factor)


def saturate(images: Float[Tensor, "n c h w"], factor: Float[Tensor, " n"]) -> Float[Tensor, "n c h w"]:
    """Towards the luminance of each pixel at factors below 1; grey stays grey."""
    return _away(images, luminance(images), factor)


def _away(images: Tensor, other: Tensor, factor: Tensor) -> Tensor:
    factor = _each(factor)
    return (images * factor).add_(other * (1 - factor)).clamp_(0, 1)


def turn_hue(images: Float[Tensor, "n c h w"], turns: Float[Tensor, " n"]) -> Float[Tensor, "n c h w"]:
    """Hue moved by a share of the circle; value and chroma stay.

    Written without the three sextant tables of the usual conversion: with hue H in sixths of the circle, value V and
    chroma C, the channel whose peak lies at sextant p is V - C t(|H - p|), where t climbs from 0 to 1 between one and
    two sextants.
    """
    if images.shape[1] == 1:
        return images
    red, green, blue = images.unbind(1)
    value = images.amax(dim=1)
    chroma = value - images.amin(dim=1)
    # Which channel is largest, as 0 and 1: sums of products cost a tenth of choosing pixel by pixel. Of equal ones the
    # first counts. A pixel without chroma has any hue; one that is finite will do.
    is_red = torch.ge(red, value).to(images.dtype)
    is_green = torch.ge(green, value).to(images.dtype).mul_(1 - is_red)
    is_blue = 1 - is_red - is_green
    ahead = (green - blue).mul_(is_red).addcmul_(blue - red, is_green).addcmul_(red - green, is_blue)
    hue = ahead.div_(chroma.clamp(min=torch.finfo(images.dtype).tiny))
    hue.add_(is_green, alpha=2).add_(is_blue, alpha=4).add_((turns * 6)[:, None, None])
    out = torch.empty_like(images)
    for channel, sextant in enumerate((0.0, 2.0, 4.0)):
        away = hue - sextant
        away.sub_((away / 6).round_(), alpha=6).abs_()  # the nearer way round: at most three sextants
        torch.addcmul(value, away.sub_(1).clamp_(0, 1), chroma, value=-1, out=out[:, channel])
    return out


def _each(factor: Tensor) -> Tensor:
    return factor[:, None, None, None]
