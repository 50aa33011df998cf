"""Layers whose initial values come from an explicit generator."""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn.utils import skip_init

from .. import _checks

ACTIVATIONS = ("leaky_relu", "relu", "tanh")
INITS = ("torch", "he")


def linear(
    dim_in: int,
    dim_out: int,
    *,
    generator: torch.Generator,
    bias: bool = True,
    init: str = "torch",
    activation: str = "relu",
    slope: float = 0.0,
) -> nn.Linear:
    """A linear layer on the generator's device.

    "torch" is the law of `torch.nn.Linear`: weights and biases uniform within 1/sqrt(dim_in). "he" is Kaiming normal
    for the activation, gain / sqrt(dim_in), with biases 0.
    """
    # Built without its own initial values, which would be drawn from the global generator.
    layer = skip_init(nn.Linear, dim_in, dim_out, bias=bias, device=generator.device)
    assert isinstance(layer, nn.Linear)
    if init == "torch":
        limit = dim_in**-0.5
        for parameter in layer.parameters():
            nn.init.uniform_(parameter, -limit, limit, generator=generator)
    else:
        nn.init.kaiming_normal_(layer.weight, a=slope, nonlinearity=activation, generator=generator)  # pyright: ignore[reportArgumentType]
        if bias:
            nn.init.zeros_(layer.bias)
    return layer


def convolution(
    channels_in: int,
    channels_out: int,
    kernel: int | tuple[int, int],
    *,
    stride: int = 1,
    padding: int = 0,
    bias: bool = False,
    fan: str = "fan_in",
    generator: torch.Generator,
) -> nn.Conv2d:
    """A convolution on the generator's device: Kaiming normal for ReLU, biases 0.

    `fan` counts what an output entry sees ("fan_in", which keeps the size of activations) or what an input entry
    reaches ("fan_out", which keeps that of gradients, and is usual in residual networks).
    """
    layer = skip_init(
        nn.Conv2d,
        channels_in,
        channels_out,
        kernel,
        stride=stride,
        padding=padding,
        bias=bias,
        device=generator.device,
    )
    assert isinstance(layer, nn.Conv2d)
    nn.init.kaiming_normal_(layer.weight, mode=fan, nonlinearity="relu", generator=generator)  # pyright: ignore[reportArgumentType]
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def stack(
    sizes: Sequence[int],
    *,
    generator: torch.Generator,
    activation: str = "relu",
    slope: float = 0.0,
    norm: str | None = None,
    init: str = "torch",
    bias: bool = True,
    last_bias: bool = True,
) -> nn.Sequential:
    """Linear layers between `sizes`, each but the last followed by the activation and then the normalisation."""
    _checks.choice("activation", activation, ACTIVATIONS)
    _checks.choice("init", init, INITS)
    make = {"generator": generator, "init": init, "activation": activation, "slope": slope}
    layers: list[nn.Module] = []
    for dim_in, dim_out in zip(sizes[:-2], sizes[1:-1], strict=True):
        layers += [linear(dim_in, dim_out, bias=bias, **make), activate(activation, slope)]
        if norm is not None:
            layers.append(nn.BatchNorm1d(dim_out, device=generator.device))
    return nn.Sequential(*layers, linear(*sizes[-2:], bias=bias and last_bias, **make))


def activate(name: str, slope: float) -> nn.Module:
    """The activation as a layer."""
    return {"leaky_relu": lambda: nn.LeakyReLU(slope), "relu": nn.ReLU, "tanh": nn.Tanh}[name]()
