"""Layers between the features of a backbone and the head."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from .. import _checks
from ._layers import ACTIVATIONS, activate, linear


@dataclass(frozen=True)
class Projector:
    """A small network on top of the features, which readers may leave out: features know more of the augmentations.

    Linear, normalisation if any, activation, for each width; then a linear layer to the embeddings.

    - `Projector([512])`, with 256 embedding coordinates, is that of SimCLR's CIFAR-10 code.
    - `Projector([8192, 8192], norm="batch")`, with 8192 coordinates, that of VICReg.
    - `Projector([100], activation="leaky_relu", slope=0.01)` that of 3DIdent in Zimmermann et al. (2021).

    Args:
        widths: Of the hidden layers; none leaves one linear layer.
        activation: "relu", "leaky_relu" or "tanh".
        slope: Of the leaky ReLU.
        norm: None or "batch"; hidden layers before a normalisation have no bias, which it would cancel.
    """

    widths: Sequence[int] = ()
    activation: str = "relu"
    slope: float = 0.0
    norm: str | None = None

    def __post_init__(self) -> None:
        widths = _checks.sequence("widths", self.widths)
        object.__setattr__(self, "widths", tuple(_checks.count("widths", width) for width in widths))
        _checks.choice("activation", self.activation, ACTIVATIONS)
        _checks.at_least("slope", self.slope, 0.0)
        if self.norm is not None:
            _checks.choice("norm", self.norm, ("batch",))

    def build(self, dim_in: int, dim_out: int, *, init: str, generator: torch.Generator) -> nn.Sequential:
        sizes = [dim_in, *self.widths]
        layers: list[nn.Module] = []
        for before, after in zip(sizes[:-1], sizes[1:], strict=True):
            bias = self.norm is None
            layers.append(linear(before, after, bias=bias, init=init, generator=generator))
            if self.norm is not None:
                layers.append(nn.BatchNorm1d(after, device=generator.device))
            layers.append(activate(self.activation, self.slope))
        return nn.Sequential(*layers, linear(sizes[-1], dim_out, init=init, generator=generator))
