"""Encoders with the shape of a known inverse, and free parameters within it.

They ask what a loss recovers when the encoder's family is little larger than the answer. They follow the encoders
of "The Loss Is Not Enough" (arXiv 2606.04280), and say where they depart from them.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from .. import _checks
from .._geometry import rotate_plane
from ..spaces import AbstractSpace
from ._layers import linear, stack
from .base import AbstractEncoder
from .heads import AbstractHead


class InverseLinear(AbstractEncoder):
    """head(W x + b): holds the inverse of the identity and of any injective linear or affine mixing.

    The published encoder has the bias; without one the encoder is odd, h(-x) = -h(x), under an odd head.

    Args:
        dim_in, dim_out: Coordinates of observations and of embeddings.
        bias: Whether there is a b.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values, in the law of `torch.nn.Linear`.
    """

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        *,
        bias: bool = True,
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        super().__init__(dim_in, dim_out, head=head, generator=generator)
        self.linear = linear(dim_in, dim_out, bias=_checks.kind("bias", bias, bool), generator=generator)

    def body(self, x: Tensor) -> Tensor:
        return self.linear(x)


class InverseSpiral(AbstractEncoder):
    """Turns (x_1, x_2) back by period pi c(x) and puts c(x) in place of x_3, for a learned control c.

    Exact for the mixing `Spiral` of the same period when c(x) = x_3, which its ReLU network can be.

    Args:
        period: Turns are period * pi for each unit of height.
        hidden: Widths of the hidden layers of the control network.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values.
    """

    def __init__(
        self,
        *,
        period: float = 2.0,
        hidden: Sequence[int] = (64, 32),
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        super().__init__(3, 3, head=head, generator=generator)
        self.period = _checks.number("period", period)
        widths = [_checks.count("hidden", width) for width in _checks.sequence("hidden", hidden)]
        self.control = stack([3, *widths, 1], generator=generator)

    def body(self, x: Tensor) -> Tensor:
        height = self.control(x)
        turned = rotate_plane(x[:, :2], -self.period * math.pi * height.squeeze(-1))
        return torch.cat([turned, height], dim=-1)


class InversePatches(AbstractEncoder):
    """Undoes `Patches`: turn (x_1, x_2) back by the angle of a slice, swap axes back, turn back again.

    Networks choose the slice; its angle pi / (slices - i) is known. A choice is a weight for each slice, and what
    comes out is the mixture, with these weights, of the turns of all slices.

    - "exact": each of the two turns has its own network. It sees |height|, which decided that turn in the mixing and
      which the turn kept, so that the third coordinate is passed on and not predicted. The family holds the exact
      inverse, and each of its members is odd.
    - "published": one network that sees all of x chooses for both turns, always softly, and another predicts the
      third coordinate, within tanh. It has no weights for the inverse: on a fifth of the sphere (four slices) no
      mixture shared by both turns comes within 0.2 radians of the latents, whatever the networks say.

    Args:
        slices: Number of slices.
        variant: "exact" or "published".
        hard: Only the likeliest slice counts, and the gradient is that of the soft mixture (straight-through). Off,
            the mixture stays soft until `anneal_to` or `encoder.hard = True` makes it sure; supervised runs of a few
            hundred steps then got half of the sphere right, where hard ones got nearly all of it. The published
            variant does not read it.
        temperature: Divides the logits of the choice. The published variant does not read it.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values.
    """

    temperature: Tensor

    def __init__(
        self,
        *,
        slices: int = 4,
        variant: str = "exact",
        hard: bool = True,
        temperature: float = 1.0,
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        super().__init__(3, 3, head=head, generator=generator)
        self.variant = _checks.choice("variant", variant, ("exact", "published"))
        slices = _checks.count("slices", slices)
        self.angles = [math.pi / (slices - i) for i in range(slices)]
        self.hard = _checks.kind("hard", hard, bool)
        self.register_buffer("temperature", torch.ones((), device=generator.device))
        self.anneal_to(temperature)
        if self.variant == "exact":
            self.last_slice = stack([1, 64, 32, slices], generator=generator)
            self.first_slice = stack([1, 64, 32, slices], generator=generator)
        else:
            self.slice = stack([3, 64, 32, slices], generator=generator)
            self.height = stack([3, 32, 16, 1], generator=generator)

    def anneal_to(self, temperature: float) -> None:
        """Replace the temperature in place, for a schedule."""
        self.temperature.fill_(_checks.positive("temperature", temperature))

    def body(self, x: Tensor) -> Tensor:
        if self.variant == "exact":
            y = self._turn_back(x, self._weights(self.last_slice, x))
            y = _swap_back(y)
            return self._turn_back(y, self._weights(self.first_slice, y))
        weights = self.slice(x).softmax(dim=-1)
        y = self._turn_back(_swap_back(self._turn_back(x, weights)), weights)
        return torch.cat([y[:, :2], torch.tanh(self.height(x))], dim=-1)

    def _weights(self, network: nn.Sequential, x: Tensor) -> Tensor:
        """(n, slices), from the absolute height of each row."""
        soft = (network(x[:, 2:].abs()) / self.temperature).softmax(dim=-1)
        if not self.hard:
            return soft
        # soft - soft.detach() is exactly 0, so that the value is exactly one-hot.
        return functional.one_hot(soft.argmax(dim=-1), soft.shape[-1]).to(soft.dtype) + (soft - soft.detach())

    def _turn_back(self, x: Tensor, weights: Tensor) -> Tensor:
        # A mixture of turns is a turn and a shrinking at once, so that its two entries are all that need mixing.
        turns = x.new_tensor([[math.cos(angle), math.sin(angle)] for angle in self.angles])
        cos, sin = (weights @ turns).unbind(dim=-1)
        a, b, c = x.unbind(dim=-1)
        return torch.stack([cos * a + sin * b, cos * b - sin * a, c], dim=-1)


def _swap_back(x: Tensor) -> Tensor:
    """The inverse of the mixing's quarter turn about the second axis, (a, b, c) -> (c, b, -a)."""
    a, b, c = x.unbind(dim=-1)
    return torch.stack([-c, b, a], dim=-1)
