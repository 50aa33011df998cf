"""The loss that an encoder has come to, without the noise of batches: in the limit of many negatives."""

import copy
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from .. import _checks
from ..finding import Finding
from ..losses import InfoNCE
from ..theory import asymptotic_loss
from ..theory.asymptotic import Laws
from .base import AbstractDiagnostic, Subject

RESOLUTION = 16


@runtime_checkable
class World(Laws, Protocol):
    """Laws, and the mixing that observations come from."""

    @property
    def mixing(self) -> nn.Module: ...


@dataclass(frozen=True)
class LimitLoss(AbstractDiagnostic):
    """`theory.asymptotic_loss` of the encoder after the mixing, under the score that it was trained with.

    Losses of batches of different kinds and sizes cannot be compared, and are noisy; this one is the same integral for
    all of them, and theory knows its value at the latents and at maps that beat them. On spheres of up to three
    dimensions it is exact to several digits, elsewhere Monte Carlo.

    Gives `limit_loss`, and `limit_gap`: what it exceeds that of the latents by, below 0 where the loss prefers another
    map.

    Args:
        share: Of negatives from the anchor's own support: 0 is the plain loss, 1 the adapted one.
        negatives: None for the limit less log M; or M, for the loss with that many.
    """

    share: float = 0.0
    negatives: int | None = None

    def __post_init__(self) -> None:
        _checks.within("share", self.share, 0.0, 1.0)
        if self.negatives is not None:
            _checks.count("negatives", self.negatives)

    @property
    def names(self) -> tuple[str, ...]:
        return ("limit_loss", "limit_gap")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        world, encoder, loss = subject.source, subject.encoder, subject.loss
        if not isinstance(loss, InfoNCE):
            raise ValueError(f"`subject` must have been trained with `InfoNCE`, got `{type(loss).__name__}`.")
        _checks.kind("source", world, World, "Measure in a source with known laws, such as `Synthetic`.")
        assert isinstance(world, World)
        # The limit is computed on the CPU, where its latents are; the encoder stays where it is.
        like, score = next(encoder.parameters(), torch.empty(0)), copy.deepcopy(loss.score).cpu()

        def recovered(z: Tensor) -> Tensor:
            return encoder(world.mixing(z.to(like))).cpu().double()

        seed = int(torch.randint(2**62, (1,), generator=generator, device=generator.device))
        found, latents = (
            asymptotic_loss(
                h,
                world,
                score,
                share=self.share,
                negatives=self.negatives,
                resolution=RESOLUTION,
                # The same draws for both, where there are any, so that their difference is sure.
                generator=torch.Generator().manual_seed(seed),
            ).total
            for h in (recovered, _same)
        )
        return Finding({"limit_loss": found, "limit_gap": found - latents})


def _same(z: Tensor) -> Tensor:
    return z
