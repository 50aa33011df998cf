"""Residual networks."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace
from ._layers import convolution
from .heads import AbstractHead
from .image import AbstractImageEncoder
from .projector import Projector

STAGES = {10: (1, 1, 1, 1), 18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}  # blocks of each, by depth
BOTTLENECK = 4  # by which the blocks of depth 50 widen their output


class ResNet(AbstractImageEncoder):
    """The residual networks of He et al. (2016), stride on the 3 x 3 convolution: for natural images.

    A stem, four stages of which all but the first halve the image and double the channels, and the mean over what is
    left of it. At width 64 the backbone has the usual 11 176 512 (depth 18) or 23 508 032 parameters (depth 50).

    Args:
        shape: Of one image, (channels, height, width).
        dim_out: Coordinates of embeddings.
        depth: 18, 34 or 50, or 10 for one block in each stage.
        width: Channels of the first stage. 16 or 32 make the small networks that a CPU trains in minutes.
        stem: "imagenet", 7 x 7 with stride 2 and a pooling that halves again; "cifar", 3 x 3 without either, which
            sees small images sharper, at sixteen times the work.
        norm: "batch", or "group" (groups of 16 channels), under which images do not see one another in training.
        projector: After the features; see `AbstractImageEncoder`.
        mean, std: Of each channel; see there.
        channels_last: Faster on the CPU, by some 10 to 30 %; `docs/encoders.md` has times. Rounding differs.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values: Kaiming normal by fan-out for convolutions, torch's law for the rest.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dim_out: int,
        depth: int = 18,
        *,
        width: int = 64,
        stem: str = "imagenet",
        norm: str = "batch",
        projector: Projector | Sequence[int] | str = "linear",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        channels_last: bool = False,
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        if depth not in STAGES:
            raise ValueError(f"`depth` must be one of {', '.join(map(str, STAGES))}; got {depth!r}.")
        widen = BOTTLENECK if depth == 50 else 1
        super().__init__(
            shape,
            dim_out,
            feature_dim=8 * _checks.count("width", width) * widen,
            projector=projector,
            mean=mean,
            std=std,
            channels_last=channels_last,
            head=head,
            generator=generator,
        )
        _checks.choice("stem", stem, ("imagenet", "cifar"))
        _checks.choice("norm", norm, ("batch", "group"))
        blocks: list[nn.Module] = []
        channels = width
        for stage, count in enumerate(STAGES[depth]):
            for i in range(count):
                stride = 2 if i == 0 and stage > 0 else 1
                block = _Bottleneck if depth == 50 else _Basic
                blocks.append(block(channels, width * 2**stage, stride, norm, generator))
                channels = width * 2**stage * widen
        self.layers = nn.Sequential(*_stem(self.shape[0], width, stem, norm, generator), *blocks)

    def backbone(self, x: Tensor) -> Tensor:
        return self.layers(x).mean(dim=(2, 3))


class _Residual(nn.Module):
    """ReLU of a branch plus its input; where sizes differ, the input goes through a convolution of one pixel."""

    branch: nn.Sequential

    def __init__(self, channels: int, out: int, stride: int, norm: str, generator: torch.Generator) -> None:
        super().__init__()
        self.shortcut = (
            nn.Identity()
            if stride == 1 and channels == out
            else nn.Sequential(_conv(channels, out, 1, stride, generator), _norm(norm, out, generator))
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.branch(x) + self.shortcut(x))


class _Basic(_Residual):
    def __init__(self, channels: int, width: int, stride: int, norm: str, generator: torch.Generator) -> None:
        super().__init__(channels, width, stride, norm, generator)
        self.branch = nn.Sequential(
            _conv(channels, width, 3, stride, generator),
            _norm(norm, width, generator),
            nn.ReLU(),
            _conv(width, width, 3, 1, generator),
            _norm(norm, width, generator),
        )


class _Bottleneck(_Residual):
    def __init__(self, channels: int, width: int, stride: int, norm: str, generator: torch.Generator) -> None:
        out = BOTTLENECK * width
        super().__init__(channels, out, stride, norm, generator)
        self.branch = nn.Sequential(
            _conv(channels, width, 1, 1, generator),
            _norm(norm, width, generator),
            nn.ReLU(),
            _conv(width, width, 3, stride, generator),
            _norm(norm, width, generator),
            nn.ReLU(),
            _conv(width, out, 1, 1, generator),
            _norm(norm, out, generator),
        )


def _stem(channels: int, width: int, stem: str, norm: str, generator: torch.Generator) -> list[nn.Module]:
    rest = [_norm(norm, width, generator), nn.ReLU()]
    if stem == "cifar":
        return [_conv(channels, width, 3, 1, generator), *rest]
    return [_conv(channels, width, 7, 2, generator), *rest, nn.MaxPool2d(3, stride=2, padding=1)]


def _conv(channels: int, out: int, kernel: int, stride: int, generator: torch.Generator) -> nn.Conv2d:
    padding = kernel // 2
    return convolution(channels, out, kernel, stride=stride, padding=padding, fan="fan_out", generator=generator)


def _norm(kind: str, channels: int, generator: torch.Generator) -> nn.Module:
    if kind == "batch":
        return nn.BatchNorm2d(channels, device=generator.device)
    return nn.GroupNorm(channels // math.gcd(channels, 16), channels, device=generator.device)
