"""From latents back to observations: the half of an autoencoder that its loss owns."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from .. import _checks
from .._vae import leaky_layers

KERNEL, STRIDE, PADDING = 4, 2, 1


class AbstractDecoder(nn.Module, ABC):
    """(n, dim) -> logits of every entry of an observation, (n, ...).

    Attributes:
        dim: Coordinates of a latent.
        shape: Of one observation.
    """

    dim: int
    shape: tuple[int, ...]

    @abstractmethod
    def forward(self, z: Tensor) -> Tensor: ...


class VectorDecoder(AbstractDecoder):
    """Linear layers with LeakyReLU between them, to observations that are vectors.

    Args:
        dim: Coordinates of a latent.
        dim_x: Entries of an observation.
        widths: Of the hidden layers.
        slope: Of the LeakyReLU.
        generator: Source of the initial values: Kaiming normal, biases 0.
    """

    def __init__(
        self,
        dim: int,
        dim_x: int,
        widths: Sequence[int] = (128, 256),
        *,
        slope: float = 0.01,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dim, self.shape = _checks.count("dim", dim), (_checks.count("dim_x", dim_x),)
        widths = [_checks.count("widths", width) for width in _checks.sequence("widths", widths)]
        self.layers = leaky_layers([dim, *widths, dim_x], _checks.at_least("slope", slope, 0.0), generator.device)
        for layer in self.layers:
            if isinstance(layer, nn.Linear):
                nn.init.kaiming_normal_(layer.weight, a=slope, generator=generator)
                nn.init.zeros_(layer.bias)

    def forward(self, z: Tensor) -> Tensor:
        return self.layers(z)


class ImageDecoder(AbstractDecoder):
    """`ConvNet` backwards: a linear layer, one transposed convolution to a small image, others that double it.

    The defaults, with images (1, 64, 64) and ten coordinates, are the SlowVAE decoder that Zimmermann et al. (2021)
    compare with on KITTI Masks.

    Args:
        dim: Coordinates of a latent.
        shape: Of one image, (channels, height, width); height and width are multiples of 2 to the number of `widths`.
        widths: Channels before each doubling, the smallest image first.
        features: Width of the linear layer.
        generator: Source of the initial values: Kaiming normal by what an output entry sees, biases 0.
    """

    def __init__(
        self,
        dim: int,
        shape: Sequence[int],
        widths: Sequence[int] = (64, 64, 32, 32),
        features: int = 256,
        *,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.dim = _checks.count("dim", dim)
        channels, height, width = (_checks.count("shape", size) for size in _checks.sequence("shape", shape))
        self.shape = (channels, height, width)
        widths = [_checks.count("widths", one) for one in _checks.sequence("widths", widths)]
        shrink = STRIDE ** len(widths)
        if not widths or height % shrink or width % shrink:
            raise ValueError(
                f"`widths` must double a whole image to {height} x {width}, got {len(widths)} of them; height and "
                f"width must be multiples of {shrink}."
            )
        self.linear = skip_init(nn.Linear, dim, _checks.count("features", features), device=generator.device)
        nn.init.kaiming_normal_(self.linear.weight, nonlinearity="relu", generator=generator)  # pyright: ignore
        nn.init.zeros_(self.linear.bias)  # pyright: ignore
        small = (height // shrink, width // shrink)
        layers: list[nn.Module] = [_upward(features, widths[0], small, 1, 0, generator)]
        for before, after in zip(widths, [*widths[1:], channels], strict=True):
            layers += [nn.ReLU(), _upward(before, after, (KERNEL, KERNEL), STRIDE, PADDING, generator)]
        self.layers = nn.Sequential(*layers)

    def forward(self, z: Tensor) -> Tensor:
        return self.layers(torch.relu(self.linear(z))[:, :, None, None])


def _upward(
    before: int, after: int, kernel: tuple[int, int], stride: int, padding: int, generator: torch.Generator
) -> nn.ConvTranspose2d:
    layer = skip_init(
        nn.ConvTranspose2d, before, after, kernel, stride=stride, padding=padding, device=generator.device
    )
    assert isinstance(layer, nn.ConvTranspose2d) and layer.bias is not None
    # Kernels overlap by what they exceed the stride: each output entry sees that many of every channel. The one that
    # starts from a single pixel does not overlap.
    seen = before * (KERNEL // STRIDE) ** 2 if stride > 1 else before
    nn.init.normal_(layer.weight, std=(2 / seen) ** 0.5, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer
