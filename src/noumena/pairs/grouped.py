"""Anchors in groups that share a support, so that the group supplies its own negatives."""

import torch

from .. import _checks
from ..batch import PairBatch
from ..conditionals import AbstractConditional
from ..marginals import Uniform
from ..mixings import AbstractMixing
from .base import AbstractPairSource
from .synthetic import mix, mixing_for, place


class GroupedSupport(AbstractPairSource):
    """Support-corrected negatives without extra encodings.

    A group draws one support (the fixed part u of one point of the marginal) and `group_size` anchors uniform on
    it. Given u they are independent, so the other members of a group are for each anchor exact uniform draws from
    its own support: what `FromSupport(group_size - 1)` draws privately, at the cost of none. Losses take them with
    `GroupMates`. Anchors of one group are dependent through u; averages over a batch keep their expectation and
    gain variance.

    Args:
        marginal: The uniform law of a bounded space; only then are draws uniform on a support draws of the marginal.
        conditional: Law of positives, such as `FixedContent`.
        mixing: What turns latents into observations; the identity by default.
        group_size: Anchors of one group, at least 2; batches must be multiples of it.
        negatives: Draws from the marginal, shared by all anchors, for a share of ordinary negatives; 0 for none.
            Other groups cannot supply them: their members share a support and are not independent.
    """

    def __init__(
        self,
        marginal: Uniform,
        conditional: AbstractConditional,
        mixing: AbstractMixing | None = None,
        *,
        group_size: int,
        negatives: int = 0,
    ) -> None:
        self.marginal = _checks.kind("marginal", marginal, Uniform, "Other marginals are not uniform on a support.")
        self.space = marginal.space
        self.conditional = place(conditional, marginal)
        self.mixing = mixing_for(mixing, marginal)
        self.group_size = _checks.count("group_size", group_size, low=2)
        self.negatives = _checks.count("negatives", negatives, low=0)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        if n % self.group_size:
            lower = n - n % self.group_size
            raise ValueError(
                f"`n` must be a multiple of the group size {self.group_size}, got {n}; "
                f"{lower or self.group_size} would do."
            )
        supports = self.marginal.sample(n // self.group_size, generator=generator, dtype=dtype)
        z = self.conditional.sample_support(supports, self.group_size, generator=generator).reshape(n, -1)
        z_pos = self.conditional.sample(z, generator=generator)
        z_neg = None
        if self.negatives:
            z_neg = self.marginal.sample(self.negatives, generator=generator, dtype=dtype)
        return PairBatch(
            x=self.mixing(z),
            x_pos=self.mixing(z_pos),
            x_neg=None if z_neg is None else mix(self.mixing, z_neg),
            z=z,
            z_pos=z_pos,
            z_neg=z_neg,
            group_size=self.group_size,
        )
