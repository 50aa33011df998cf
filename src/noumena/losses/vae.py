"""The loss of a variational autoencoder."""

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from ._elbo import Posterior, Reconstruction, averaged, observed
from .base import AbstractLoss, LossOutput, check_embeddings
from .decoders import AbstractDecoder
from .gather import Gather


class VAE(AbstractLoss):
    """Reconstruction + beta KL(q(z | x) || N(0, I)), averaged over the images of both views (Kingma & Welling, 2014).

    With beta = 1 minus the evidence lower bound, in nats. A pair is two images and nothing more: no positive is
    compared with its anchor. The encoder ends in a `GaussianHead`; the decoder is trained with the loss. Entries of
    observations are grey levels in [0, 1], taken as probabilities.

    Args:
        decoder: From latents to logits of observations.
        beta: Weight of the divergence.
        gather: Average over the batches of all processes, which matters where their lengths differ.
        generator: Gives the seed of the latents' noise.
    """

    uses_observations = True

    def __init__(
        self, decoder: AbstractDecoder, *, beta: float = 1.0, gather: bool = False, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.reconstruction = Reconstruction(decoder, generator)
        self.beta = _checks.at_least("beta", beta, 0.0)
        self.gather = _checks.kind("gather", gather, bool)

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        h, dim = embeddings.h, self.reconstruction.decoder.dim
        with torch.autocast(h.device.type, enabled=False):
            posteriors = [Posterior("h", h, dim), Posterior("h_pos", embeddings.h_pos, dim)]
            missed = _mean([self.reconstruction(*one) for one in zip(observed(embeddings), posteriors, strict=True)])
            divergence = _mean([one.cross_entropy_to_standard() - one.entropy() for one in posteriors])
            summands = {"reconstruction": missed, "divergence": self.beta * divergence}
            return averaged(summands, Gather(self.gather).mean_scale(h))


def _mean(values: list[Tensor]) -> Tensor:
    return torch.stack(values).mean(dim=0)
