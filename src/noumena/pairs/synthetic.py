"""Pairs from a described process: marginal x conditional x mixing."""

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch
from ..conditionals import AbstractConditional
from ..marginals import AbstractMarginal
from ..mixings import AbstractMixing, Identity
from .base import AbstractPairSource
from .negatives import AbstractNegatives


class Synthetic(AbstractPairSource):
    """Anchors z from the marginal, positives z' from the conditional given z, both seen through one mixing.

    Args:
        marginal: Law of z; its space is the world's.
        conditional: Law of z' given z. One built without a space is placed in the marginal's.
        mixing: What turns latents into observations; the identity by default.
        negatives: What else is drawn; by default nothing, and the loss contrasts within the batch.
    """

    def __init__(
        self,
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        mixing: AbstractMixing | None = None,
        negatives: AbstractNegatives | None = None,
    ) -> None:
        self.marginal = _checks.kind("marginal", marginal, AbstractMarginal, "Pass one such as `Uniform(Sphere(10))`.")
        self.space = marginal.space
        self.conditional = place(conditional, marginal)
        self.mixing = mixing_for(mixing, marginal)
        self.negatives = negatives
        if negatives is not None:
            _checks.kind("negatives", negatives, AbstractNegatives, "Pass negatives such as `FromMarginal(2000)`.")

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        z = self.marginal.sample(n, generator=generator, dtype=dtype)
        z_pos = self.conditional.sample(z, generator=generator)
        z_neg = None
        if self.negatives is not None:
            z_neg = self.negatives.draw(z, self.marginal, self.conditional, generator)
        return PairBatch(
            x=self.mixing(z),
            x_pos=self.mixing(z_pos),
            x_neg=None if z_neg is None else mix(self.mixing, z_neg),
            z=z,
            z_pos=z_pos,
            z_neg=z_neg,
        )


def place(conditional: AbstractConditional, marginal: AbstractMarginal) -> AbstractConditional:
    """The conditional in the marginal's space; an error if it was built for another."""
    _checks.kind("conditional", conditional, AbstractConditional, "Pass one such as `VonMisesFisher(kappa=10.0)`.")
    if conditional.space is None:
        return conditional.on(marginal.space)
    if conditional.space != marginal.space:
        raise ValueError(
            f"`conditional` must live in the space of `marginal`, {marginal.space}; got {conditional.space}. "
            "Leave its space out to place it there."
        )
    return conditional


def mixing_for(mixing: AbstractMixing | None, marginal: AbstractMarginal) -> AbstractMixing:
    """The mixing, checked to take the marginal's latents; the identity if there is none."""
    if mixing is None:
        return Identity(marginal.space.dim)
    _checks.kind("mixing", mixing, AbstractMixing, "Pass one such as `Spiral()`.")
    if mixing.dim_in != marginal.space.dim:
        raise ValueError(
            f"`mixing` must take {marginal.space.dim} latents, those of `marginal`; it takes {mixing.dim_in}."
        )
    return mixing


def mix(mixing: AbstractMixing, z: Tensor) -> Tensor:
    """The mixing of latents with any number of leading axes."""
    return mixing(z.reshape(-1, z.shape[-1])).reshape(*z.shape[:-1], *mixing.shape_out)
