"""The decoder of a trained autoencoder, as a world."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from .. import _checks, _vae
from .base import AbstractMixing

ROWS = 16  # whose equations the inverse solves at once


class Decoder(AbstractMixing):
    """x = sigmoid(D(scale z)): images that a variational autoencoder of real ones decodes from latents.

    AnInfoNCE (arXiv 2407.00143) takes latents of the unit sphere, times the root of their dimension, into the decoder
    of an MNIST autoencoder: z then has the length that the autoencoder's own latents have. The world looks real, and
    its latents are known.

    Layers that do not narrow and have full column rank, LeakyReLUs and the sigmoid are injective, so the mixing is; the
    inverse undoes them one by one. An entry of x that rounding made 0 or 1 cannot take part in that, and enough others
    must remain.

    Args:
        vae: What `noumena.experiments.vae.train_vae` wrote: a name in the cache ("mnist"), or the path of a file.
        scale: Multiplies latents; the root of their dimension by default.
    """

    def __init__(self, vae: str | Path, scale: float | None = None) -> None:
        super().__init__()
        description, values = _vae.read(_vae.place(_checks.kind("vae", vae, (str, Path))), "decoder")
        self.description = description
        self.dim_in, self.dim_out, self.shape_out = description.dim, description.entries, description.shape
        self.scale = description.dim**0.5 if scale is None else _checks.positive("scale", scale)
        sizes = description.decoder_sizes
        self.invertible = sizes == sorted(sizes)
        self.count = len(sizes) - 1
        # The values of a Sequential in which every other layer is an activation.
        for layer in range(self.count):
            self.register_buffer(f"weight_{layer}", values[f"{2 * layer}.weight"])
            self.register_buffer(f"bias_{layer}", values[f"{2 * layer}.bias"])

    def _layers(self, like: Tensor) -> Sequence[tuple[Tensor, Tensor]]:
        return [
            (self.get_buffer(f"weight_{i}").to(like), self.get_buffer(f"bias_{i}").to(like)) for i in range(self.count)
        ]

    def _forward(self, z: Tensor) -> Tensor:
        *hidden, (weight, bias) = self._layers(z)
        y = self.scale * z
        for inner, shift in hidden:
            y = torch.nn.functional.leaky_relu(y @ inner.mT + shift, self.description.slope)
        return torch.sigmoid(y @ weight.mT + bias)

    def _inverse(self, x: Tensor) -> Tensor:
        *hidden, (weight, bias) = self._layers(x)
        y = torch.cat([_solved(weight, bias, block) for block in x.split(ROWS)])
        for inner, shift in reversed(hidden):
            y = torch.where(y < 0, y / self.description.slope, y)
            y = torch.linalg.lstsq(inner, (y - shift).mT).solution.mT
        return y / self.scale


def _solved(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
    """The least squares solution y of sigmoid(weight y + bias) = x."""
    inside = (x > 0) & (x < 1)
    if bool((inside.sum(dim=1) < weight.shape[1]).any()):
        raise ValueError(
            f"`x` must have at least {weight.shape[1]} entries strictly between 0 and 1 in each row, or its latents "
            f"cannot be told; some row has {int(inside.sum(dim=1).min())}. Decode in float64."
        )
    # Rounding moves an entry near 1 by eps and its logit by eps / (1 - x), one near 0 by as many digits as it has.
    trust = torch.where(inside, 1 - x, torch.zeros_like(x))
    logits = torch.where(inside, x.log() - torch.log1p(-x), torch.zeros_like(x))
    equations, values = trust[:, :, None] * weight, trust * (logits - bias)
    return torch.linalg.lstsq(equations, values[:, :, None]).solution.squeeze(-1)
