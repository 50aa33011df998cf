"""What a verdict needs to know of a learner. Encoders are read by their attributes, since theory imports none."""

from dataclasses import dataclass
from typing import Any

from torch import nn

from ... import _checks
from ...losses import AbstractLoss
from ...spaces import AbstractSpace


@dataclass(frozen=True)
class Head:
    """How embeddings end.

    Args:
        space: Where they lie; `Euclidean` for no restriction.
        learnable: Whether its size (radius, bounds) is trained.
    """

    space: AbstractSpace
    learnable: bool = False

    def __post_init__(self) -> None:
        _checks.kind("space", self.space, AbstractSpace, "Pass a space such as `Sphere(3)`, or `Euclidean(3)`.")
        _checks.kind("learnable", self.learnable, bool)


@dataclass(frozen=True, eq=False)
class Learner:
    """A loss, how embeddings end, and the encoder itself where there is one.

    `Learner.of(encoder, loss)` reads the head of any encoder of this package; for a network of your own say how it
    ends, `Learner(loss, Head(Sphere(3)))`.

    Args:
        loss: What is minimised.
        head: How embeddings end; a space stands for a head of its fixed size.
        encoder: For whether it can represent the inverse.
    """

    loss: AbstractLoss
    head: Head | AbstractSpace
    encoder: nn.Module | None = None

    def __post_init__(self) -> None:
        _checks.kind("loss", self.loss, AbstractLoss, "Pass a loss such as `InfoNCE(Dot(tau=0.1))`.")
        if isinstance(self.head, AbstractSpace):
            object.__setattr__(self, "head", Head(self.head))
        _checks.kind("head", self.head, Head, "Pass `Head(Sphere(3))`, or the space alone.")

    @classmethod
    def of(cls, encoder: nn.Module, loss: AbstractLoss) -> "Learner":
        """The learner of an encoder whose `head` has a `space`, as those of `noumena.encoders` do."""
        head: Any = getattr(encoder, "head", None)
        space = getattr(head, "space", None)
        if not isinstance(space, AbstractSpace):
            raise TypeError(
                f"`encoder` must say where it ends by `head.space`; `{type(encoder).__name__}` does not. "
                "Pass `Learner(loss, Head(space), encoder)`, with `Euclidean(d)` for no restriction."
            )
        learnable = getattr(head, "space_learns", any(one.requires_grad for one in head.parameters()))
        return cls(loss, Head(space, learnable), encoder)

    @property
    def ends(self) -> Head:
        assert isinstance(self.head, Head)
        return self.head
