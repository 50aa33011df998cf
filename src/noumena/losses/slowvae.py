"""SlowVAE, the baseline that knows of slowness."""

import math

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairEmbeddings
from ._elbo import Posterior, Reconstruction, averaged, observed
from .base import AbstractLoss, LossOutput, check_embeddings
from .decoders import AbstractDecoder
from .gather import Gather


class SlowVAE(AbstractLoss):
    """A variational autoencoder whose prior expects small, sparse steps from anchor to positive (Klindt et al., 2021).

    2 reconstruction + beta KL_N + gamma KL_L, as released and as Zimmermann et al. (2021) compare with: the mean over
    images of the reconstruction's cross-entropy; the mean over images of the divergence from N(0, I); the mean over
    pairs of the cross-entropy of each latent, seen from the other's mean, to a Laplace law of the given rate, both
    ways, minus the entropy of *one* image (the mean of the two), although two cross-entropies are added.

    Pairs are neighbouring frames. The encoder ends in a `GaussianHead` of twice the decoder's coordinates; in
    evaluation it gives the means, which is what scores are measured on.

    Args:
        decoder: From latents to logits of observations, such as `ImageDecoder(10, (1, 64, 64), ...)`.
        beta, gamma: Weights of the divergences.
        rate: r of the prior on a step, proportional to exp(-r |step|).
        gather: Average over the batches of all processes, which matters where their lengths differ.
        generator: Gives the seed of the latents' noise.
    """

    uses_observations = True

    def __init__(
        self,
        decoder: AbstractDecoder,
        *,
        beta: float = 1.0,
        gamma: float = 10.0,
        rate: float = 6.0,
        gather: bool = False,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.reconstruction = Reconstruction(decoder, generator)
        self.beta = _checks.at_least("beta", beta, 0.0)
        self.gamma = _checks.at_least("gamma", gamma, 0.0)
        self.rate = _checks.positive("rate", rate)
        self.gather = _checks.kind("gather", gather, bool)

    def forward(self, embeddings: PairEmbeddings) -> LossOutput:
        check_embeddings(embeddings)
        h, dim = embeddings.h, self.reconstruction.decoder.dim
        with torch.autocast(h.device.type, enabled=False):
            here, there = Posterior("h", h, dim), Posterior("h_pos", embeddings.h_pos, dim)
            x, x_pos = observed(embeddings)
            entropy = (here.entropy() + there.entropy()) / 2
            normal = (here.cross_entropy_to_standard() + there.cross_entropy_to_standard()) / 2 - entropy
            step = here.mean - there.mean
            slow = cross_entropy_to_laplace(step, here.deviation, self.rate)
            slow = slow + cross_entropy_to_laplace(-step, there.deviation, self.rate)
            summands = {
                "reconstruction": self.reconstruction(x, here) + self.reconstruction(x_pos, there),
                "normal": self.beta * normal,
                "slow": self.gamma * (slow.sum(dim=1) - entropy),
            }
            return averaged(summands, Gather(self.gather).mean_scale(h))


def cross_entropy_to_laplace(mean: Tensor, deviation: Tensor, rate: float) -> Tensor:
    """-E log p of a normal variable under p(x) = rate/2 exp(-rate |x|): rate E|x| - log(rate / 2), in closed form."""
    standardised = mean / deviation
    folded = deviation * math.sqrt(2 / math.pi) * (-standardised.square() / 2).exp()
    # 1 - 2 Phi(m / s) = -erf(m / (s sqrt 2)).
    return rate * (folded + mean * torch.erf(standardised / math.sqrt(2))) - math.log(rate / 2)
