"""The pieces of an evidence lower bound."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from .. import _checks
from .._draws import Draws
from ..batch import PairEmbeddings
from .base import LossOutput, wide
from .decoders import AbstractDecoder


class Posterior:
    """The normal laws that embeddings of a `GaussianHead` say, one for each observation.

    Args:
        name: What errors call the embeddings.
        h: Means, then log-variances, (n, 2 dim).
        dim: Coordinates of a latent.
    """

    def __init__(self, name: str, h: Tensor, dim: int) -> None:
        if h.shape[1] != 2 * dim:
            raise ValueError(
                f"`{name}` must hold {dim} means and as many log-variances, got {h.shape[1]} columns. Give the encoder "
                f'head="gaussian" and `dim_out` {2 * dim}, and keep it in training mode: in evaluation it gives means.'
            )
        self.mean, self.log_variance = wide(h).split(dim, dim=1)

    @property
    def deviation(self) -> Tensor:
        return (self.log_variance / 2).exp()

    def entropy(self) -> Tensor:
        """(n,), in nats."""
        return (self.log_variance + math.log(2 * math.pi * math.e)).sum(dim=1) / 2

    def cross_entropy_to_standard(self) -> Tensor:
        """(n,), to the standard normal law."""
        return (self.mean.square() + self.log_variance.exp() + math.log(2 * math.pi)).sum(dim=1) / 2

    def sample(self, draws: Draws) -> Tensor:
        noise = torch.randn(
            self.mean.shape, generator=draws.next(self.mean.device), dtype=self.mean.dtype, device=self.mean.device
        )
        return self.mean + noise * self.deviation


class Reconstruction(torch.nn.Module):
    """What a decoder misses of observations, in nats: cross-entropy of each entry, summed, (n,).

    In training a latent is drawn from its posterior; in evaluation it is the mean, so that nothing is drawn.
    """

    def __init__(self, decoder: AbstractDecoder, generator: torch.Generator) -> None:
        super().__init__()
        self.decoder = _checks.kind("decoder", decoder, AbstractDecoder, "Pass one such as `VectorDecoder(...)`.")
        self.draws = Draws(generator)

    def forward(self, x: Tensor, posterior: Posterior) -> Tensor:
        z = posterior.sample(self.draws) if self.training else posterior.mean
        logits = self.decoder(z).flatten(1)
        if x.flatten(1).shape != logits.shape:
            raise ValueError(f"`x` must be decoded to its own shape, {tuple(x.shape)}; got {tuple(logits.shape)}.")
        missed = functional.binary_cross_entropy_with_logits(logits, wide(x).flatten(1), reduction="none")
        return missed.sum(dim=1)


def observed(embeddings: PairEmbeddings) -> tuple[Tensor, Tensor]:
    """The observations, which must be there and lie in [0, 1]."""
    if embeddings.x is None or embeddings.x_pos is None:
        raise ValueError("`x` and `x_pos` must hold the observations, got None; `embed` passes them.")
    for name, x in {"x": embeddings.x, "x_pos": embeddings.x_pos}.items():
        low, high = float(x.min()), float(x.max())
        if not (low >= 0 and high <= 1):
            raise ValueError(f"`{name}` must lie in [0, 1], as grey levels do; got {low:g} to {high:g}.")
    return embeddings.x, embeddings.x_pos


def averaged(summands: dict[str, Tensor], scale: float) -> LossOutput:
    """The loss whose summands (n,) are these."""
    per_anchor = torch.stack(list(summands.values())).sum(dim=0)
    return LossOutput(
        scale * per_anchor.sum(), per_anchor, {name: scale * one.detach().sum() for name, one in summands.items()}
    )
