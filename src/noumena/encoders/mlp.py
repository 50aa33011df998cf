"""Multilayer perceptrons, for observations that are vectors."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .. import _checks
from ..spaces import AbstractSpace
from ._layers import stack
from .base import AbstractEncoder
from .heads import AbstractHead
from .whitening import Whitening


class MLP(AbstractEncoder):
    """Layers of Linear -> activation (-> normalisation), then a Linear and the head.

    The encoder to use unless the inverse has a known shape (`structured`). Three layers of 64 reach the published
    scores of the synthetic experiments within seconds (`MLP.small`); the constructors named after papers
    build the published networks, which are far larger.

    Args:
        dim_in, dim_out: Coordinates of observations and of embeddings.
        widths: Widths of the hidden layers; none at all makes an affine map. Left out, they are those of Zimmermann
            et al. (2021): 10 d, then 50 d four times, then 10 d, with d = dim_out.
        head: How embeddings end; see `AbstractEncoder`.
        activation: "leaky_relu", "relu" or "tanh".
        slope: Slope of "leaky_relu" on the negative side; the other activations do not read it.
        norm: "batch" normalises after each activation (the order of the published networks, not the usual one).
            Each call in training mode then depends on the rest of its batch, so anchors and negatives that are encoded
            apart see different statistics.
        fourier_octaves: With K > 0 the layers see (x, and sin and cos of 2^k pi x for k < K) instead of x alone:
            periods of 2, 1, 1/2, ..., for inverses that jump or turn fast within [-1, 1].
        odd: Makes h(-x) = -h(x) hold exactly: the body is its odd part, (f(x) - f(-x)) / 2. That costs two passes
            and restricts nothing else: any odd map is the odd part of itself. The last bias would cancel and is left
            out. It needs an odd head, and no batch normalisation, under which f(x) and f(-x) were two functions.
        whiten: Let the layers see observations of mean 0 and covariance I, by the first batch in training mode; see
            `Whitening`. It shortens training several times where a mixing is badly conditioned.
        init: "torch" (uniform within 1/sqrt(fan-in), as `torch.nn.Linear`) or "he" (Kaiming normal for the
            activation, biases 0), for all layers.
        bias: Whether linear layers have biases.
        generator: Source of the initial values.
    """

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        widths: Sequence[int] | None = None,
        *,
        head: AbstractHead | AbstractSpace | str = "sphere",
        activation: str = "leaky_relu",
        slope: float = 0.01,
        norm: str | None = None,
        fourier_octaves: int = 0,
        odd: bool = False,
        whiten: bool = False,
        init: str = "torch",
        bias: bool = True,
        generator: torch.Generator,
    ) -> None:
        super().__init__(dim_in, dim_out, head=head, generator=generator)
        widths = _published_widths(dim_out) if widths is None else _checks.sequence("widths", widths)
        for width in widths:
            _checks.count("widths", width)
        self.fourier_octaves = _checks.count("fourier_octaves", fourier_octaves, low=0)
        self.odd = _checks.kind("odd", odd, bool)
        if norm is not None:
            _checks.choice("norm", norm, ("batch",))
        if odd and not self.head.odd:
            raise ValueError(
                f"`odd` needs a head with head(-y) = -head(y), got `{type(self.head).__name__}`; use `SphereHead`."
            )
        if odd and norm is not None:
            raise ValueError(
                f"`norm` must be None in an odd network, got {norm!r}: x and -x would be normalised apart."
            )
        if _checks.kind("whiten", whiten, bool) and (odd or fourier_octaves):
            raise ValueError(
                "`whiten` must be False beside `odd`, which a shift breaks, and beside `fourier_octaves`, whose "
                "periods are those of the observations as they are."
            )
        self.whitening = Whitening(dim_in, generator.device) if whiten else None
        self.layers = stack(
            [dim_in * (1 + 2 * fourier_octaves), *widths, dim_out],
            generator=generator,
            activation=activation,
            slope=_checks.at_least("slope", slope, 0.0),
            norm=norm,
            init=init,
            bias=_checks.kind("bias", bias, bool),
            last_bias=not odd,
        )

    def body(self, x: Tensor) -> Tensor:
        if not self.odd:
            return self.layers(self._features(x))
        # Two calls, not one on both signs stacked: rounding may depend on a row's place in the batch, and -x must
        # meet exactly the sums that x met.
        return (self.layers(self._features(x)) - self.layers(self._features(-x))) / 2

    def _features(self, x: Tensor) -> Tensor:
        if self.whitening is not None:
            return self.whitening(x)
        waves = [wave(2**k * math.pi * x) for k in range(self.fourier_octaves) for wave in (torch.sin, torch.cos)]
        return torch.cat([x, *waves], dim=-1)

    @classmethod
    def small(
        cls,
        dim_in: int,
        dim_out: int,
        *,
        width: int = 64,
        head: AbstractHead | AbstractSpace | str = "sphere",
        fourier_octaves: int = 0,
        odd: bool = False,
        generator: torch.Generator,
    ) -> "MLP":
        """Three layers of `width`, LeakyReLU 0.2, He's initial values: for the fast recipes, with a high rate."""
        return cls(
            dim_in,
            dim_out,
            [width] * 3,
            head=head,
            slope=0.2,
            fourier_octaves=fourier_octaves,
            odd=odd,
            init="he",
            generator=generator,
        )

    @classmethod
    def zimmermann(
        cls, n: int, *, head: AbstractHead | AbstractSpace | str = "sphere", generator: torch.Generator
    ) -> "MLP":
        """The encoder of Zimmermann et al. (2021) and of AnInfoNCE's code: n -> 10n, 50n x 4, 10n -> n, slope 0.01."""
        return cls(n, n, _published_widths(n), head=head, slope=0.01, generator=generator)

    @classmethod
    def loss_is_not_enough(cls, dim_in: int = 3, dim_out: int = 3, *, generator: torch.Generator) -> "MLP":
        """The encoder of "The Loss Is Not Enough" for three latents: ReLU, then batch normalisation."""
        widths = [128, 256, 256, 256, 128]
        return cls(dim_in, dim_out, widths, activation="relu", norm="batch", generator=generator)

    @classmethod
    def loss_is_not_enough_progressive(
        cls, dim_in: int = 70, dim_out: int = 10, *, generator: torch.Generator
    ) -> "MLP":
        """The same for its progressive violation of diversity, with ten latents and seventy observed coordinates."""
        widths = [512, 1024, 1024, 512, 256, 128, 64, 32]
        return cls(dim_in, dim_out, widths, activation="relu", norm="batch", generator=generator)


def _published_widths(n: int) -> list[int]:
    return [10 * n, *[50 * n] * 4, 10 * n]
