"""What a table can ask of theory alone."""

from abc import ABC, abstractmethod

import torch

from ..finding import Finding


class AbstractComputation(ABC):
    """Numbers that need no training. A recipe names one under `compute`, in place of encoder, loss and training.

    Subclasses take the row's `space`, `marginal`, `conditional` and `mixing` where their constructors ask for them.
    """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Of its numbers, so that a table can report them."""

    @abstractmethod
    def __call__(self, generator: torch.Generator) -> Finding:
        """The numbers, and curves to look at; the generator decides every draw, where there are any."""
