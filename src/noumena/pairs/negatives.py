"""What is drawn besides the pairs, for a loss to contrast with."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..conditionals import AbstractConditional
from ..marginals import AbstractMarginal


class AbstractNegatives(ABC):
    """Negatives of a batch of anchors, as latents. Subclasses are frozen dataclasses.

    Private negatives cost n * m encodings a batch; shared ones cost m.
    """

    @abstractmethod
    def draw(
        self,
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        generator: torch.Generator,
    ) -> Float[Tensor, "m d"] | Float[Tensor, "n m d"]:
        """(m, d) shared by all anchors, or (n, m, d) private to each."""

    def log_ratio(
        self,
        candidates: Float[Tensor, "n d"],
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
    ) -> Float[Tensor, " n"]:
        """Log of how much likelier each candidate is as the positive of its row's anchor than as a negative, up to
        a term that is equal for all candidates of an anchor: the best score there is."""
        raise ValueError(
            f"`{type(self).__name__}` draws negatives whose density against the positives' is not available; "
            "the loss floor needs `FromMarginal`, `FromSupport` or `Harder`."
        )


@dataclass(frozen=True)
class FromMarginal(AbstractNegatives):
    """Independent draws from the marginal.

    Args:
        m: How many.
        private: Draw `m` for each anchor instead of `m` for all. The loss has the same expectation either way.
    """

    m: int
    private: bool = False

    def __post_init__(self) -> None:
        _checks.count("m", self.m)
        _checks.kind("private", self.private, bool)

    def draw(
        self,
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        generator: torch.Generator,
    ) -> Float[Tensor, "m d"] | Float[Tensor, "n m d"]:
        count = self.m * len(z) if self.private else self.m
        draws = marginal.sample(count, generator=generator, dtype=z.dtype)
        return draws.view(len(z), self.m, -1) if self.private else draws

    def log_ratio(
        self,
        candidates: Float[Tensor, "n d"],
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
    ) -> Float[Tensor, " n"]:
        if not conditional.full_support:
            raise ValueError(
                f"`{type(conditional).__name__}` keeps part of the anchor fixed, so a score that sees it tells the "
                "positive from marginal negatives for certain and the floor is 0; draw negatives `FromSupport`."
            )
        return conditional.log_prob(candidates, z) - marginal.log_prob(candidates)


@dataclass(frozen=True)
class FromSupport(AbstractNegatives):
    """Private draws, uniform on where the anchor's own positives can lie: the support-corrected (adapted) loss.

    Args:
        m: How many for each anchor.
    """

    m: int

    def __post_init__(self) -> None:
        _checks.count("m", self.m)

    def draw(
        self,
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        generator: torch.Generator,
    ) -> Float[Tensor, "n m d"]:
        return conditional.sample_support(z, self.m, generator=generator)

    def log_ratio(
        self,
        candidates: Float[Tensor, "n d"],
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
    ) -> Float[Tensor, " n"]:
        return conditional.log_prob(candidates, z)


@dataclass(frozen=True)
class Mixed(AbstractNegatives):
    """A stated share of private negatives from the anchor's own support, the rest private from the marginal.

    Args:
        m: How many for each anchor.
        share: c, the share from the support; round(c * m) of them.
    """

    m: int
    share: float

    def __post_init__(self) -> None:
        _checks.count("m", self.m)
        _checks.within("share", self.share, 0.0, 1.0)

    def draw(
        self,
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        generator: torch.Generator,
    ) -> Float[Tensor, "n m d"]:
        constrained = round(self.share * self.m)
        parts = []
        if constrained:
            parts.append(FromSupport(constrained).draw(z, marginal, conditional, generator))
        if constrained < self.m:
            parts.append(FromMarginal(self.m - constrained, private=True).draw(z, marginal, conditional, generator))
        return torch.cat(parts, dim=1)


@dataclass(frozen=True)
class Harder(AbstractNegatives):
    """Private draws from a conditional of their own about the anchor: negatives that lie near it.

    With `Anisotropic` positives and negatives of precisions L+ and L- the best trained precision is L+ - L-.

    Args:
        law: The conditional of the negatives.
        m: How many for each anchor.
    """

    law: AbstractConditional
    m: int

    def __post_init__(self) -> None:
        _checks.kind("law", self.law, AbstractConditional, "Pass a conditional such as `Anisotropic(precision)`.")
        _checks.count("m", self.m)

    def draw(
        self,
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        generator: torch.Generator,
    ) -> Float[Tensor, "n m d"]:
        rows = z.repeat_interleave(self.m, dim=0)
        return self._law(marginal).sample(rows, generator=generator).view(len(z), self.m, -1)

    def log_ratio(
        self,
        candidates: Float[Tensor, "n d"],
        z: Float[Tensor, "n d"],
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
    ) -> Float[Tensor, " n"]:
        return conditional.log_prob(candidates, z) - self._law(marginal).log_prob(candidates, z)

    def _law(self, marginal: AbstractMarginal) -> AbstractConditional:
        return self.law if self.law.space is not None else self.law.on(marginal.space)
