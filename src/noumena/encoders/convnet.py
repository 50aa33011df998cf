"""A plain stack of convolutions."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace
from ._layers import convolution
from .heads import AbstractHead
from .image import AbstractImageEncoder
from .projector import Projector

KERNEL, STRIDE, PADDING = 4, 2, 1


class ConvNet(AbstractImageEncoder):
    """Convolutions of 4 x 4 that halve the image, one over all that is left of it, ReLU after each: for small images.

    The defaults, with images (1, 64, 64) and ten coordinates, are the KITTI Masks encoder of Zimmermann et al. (2021)
    as released: 32, 32, 64 and 64 channels, 256 features, a linear layer; Kaiming normal weights, biases 0. Images of
    another size take as many halvings as `widths` says, which must leave at least one pixel.

    Args:
        shape: Of one image, (channels, height, width).
        dim_out: Coordinates of embeddings.
        widths: Channels after each halving.
        features: Width of the last convolution.
        projector, mean, std: See `AbstractImageEncoder`.
        channels_last: See there.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dim_out: int,
        widths: Sequence[int] = (32, 32, 64, 64),
        features: int = 256,
        *,
        projector: Projector | Sequence[int] | str = "linear",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        channels_last: bool = False,
        head: AbstractHead | AbstractSpace | str = "free",
        generator: torch.Generator,
    ) -> None:
        super().__init__(
            shape,
            dim_out,
            feature_dim=_checks.count("features", features),
            projector=projector,
            mean=mean,
            std=std,
            channels_last=channels_last,
            init="he",
            head=head,
            generator=generator,
        )
        widths = [_checks.count("widths", width) for width in _checks.sequence("widths", widths)]
        channels, *left = self.shape
        layers: list[nn.Module] = []
        for width in widths:
            left = [(size + 2 * PADDING - KERNEL) // STRIDE + 1 for size in left]
            if min(left) < 1:
                raise ValueError(
                    f"`widths` must halve images of {self.shape[1]} x {self.shape[2]} at most until a pixel is left, "
                    f"got {len(widths)} of them."
                )
            layers += [
                convolution(channels, width, KERNEL, stride=STRIDE, padding=PADDING, bias=True, generator=generator),
                nn.ReLU(),
            ]
            channels = width
        layers += [convolution(channels, features, (left[0], left[1]), bias=True, generator=generator), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def backbone(self, x: Tensor) -> Tensor:
        return self.layers(x).flatten(1)
