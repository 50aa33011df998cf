"""A network that takes an image for a vector."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace
from ._layers import linear
from .dropout import Dropout
from .heads import AbstractHead
from .image import AbstractImageEncoder
from .projector import Projector


class ImageMLP(AbstractImageEncoder):
    """Layers of linear map, batch normalisation, GELU and dropout on the flattened image: no idea of images at all.

    The defaults, with 512 coordinates and images (3, 32, 32), are the MLP of "The Loss Is Not Enough"
    (arXiv 2606.04280), of 15 747 584 parameters.

    Args:
        shape: Of one image, (channels, height, width).
        dim_out: Coordinates of embeddings.
        widths: Of the hidden layers, at least one.
        dropout: Probability of a zero, at least 0, below 1.
        projector, mean, std: See `AbstractImageEncoder`.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values, in the law of `torch.nn.Linear`, and of the masks' seeds.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dim_out: int,
        widths: Sequence[int] = (2048, 2048, 2048),
        *,
        dropout: float = 0.1,
        projector: Projector | Sequence[int] | str = "linear",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        widths = [_checks.count("widths", width) for width in _checks.sequence("widths", widths)]
        if not widths:
            raise ValueError("`widths` must name at least one hidden layer, got none.")
        super().__init__(
            shape,
            dim_out,
            feature_dim=widths[-1],
            projector=projector,
            mean=mean,
            std=std,
            head=head,
            generator=generator,
        )
        layers: list[nn.Module] = [nn.Flatten()]
        for before, after in zip([self.dim_in, *widths[:-1]], widths, strict=True):
            layers += [
                linear(before, after, generator=generator),
                nn.BatchNorm1d(after, device=generator.device),
                nn.GELU(),
                Dropout(dropout, generator=generator),
            ]
        self.layers = nn.Sequential(*layers)

    def backbone(self, x: Tensor) -> Tensor:
        return self.layers(x)
