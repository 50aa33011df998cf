"""One after another."""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from ... import _checks
from .base import AbstractAugmentation, Parameters, Shape


class AbstractComposition(AbstractAugmentation):
    """Operations one after another, in an order that is the same for every image; their parameters together are its
    own. Subclasses say which, and hand them to this constructor.

    Attributes:
        operations: First to last.
    """

    @abstractmethod
    def __init__(self, operations: Sequence[AbstractAugmentation]) -> None:
        self.operations = tuple(operations)
        self.names = tuple(name for one in self.operations for name in one.names)  # type: ignore[misc]
        self.effects = tuple(effect for one in self.operations for effect in one.effects)  # type: ignore[misc]
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(
                f"`operations` must record each parameter once; {', '.join(twice)} would be recorded twice. Use one "
                "operation of a kind."
            )

    def shape_after(self, shape: Shape) -> Shape:
        for operation in self.operations:
            shape = operation.shape_after(shape)
        return shape

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        drawn: dict[str, Tensor] = {}
        for operation in self.operations:
            drawn |= operation.draw(n, shape, generator)
            shape = operation.shape_after(shape)
        return drawn

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        for operation in self.operations:
            images = operation.apply(images, parameters)
        return images

    def _switched(self, effect: str, on: bool) -> "Compose":
        return Compose([one._switched(effect, on) if effect in one.effects else one for one in self.operations])


class Compose(AbstractComposition):
    """The operations as given.

    Args:
        operations: First to last, each kind once.
    """

    def __init__(self, operations: Sequence[AbstractAugmentation]) -> None:
        for i, one in enumerate(_checks.sequence("operations", operations)):
            _checks.kind(f"operations[{i}]", one, AbstractAugmentation, "Pass operations such as `HorizontalFlip()`.")
        super().__init__(operations)


class Shuffled(AbstractComposition):
    """The operations in one random order, drawn here and kept: a run has one order, and another seed another.

    Args:
        operations: Each kind once.
        generator: Decides the order.
    """

    def __init__(self, operations: Sequence[AbstractAugmentation], *, generator: torch.Generator) -> None:
        given = Compose(operations).operations
        _checks.generator(generator)
        order = torch.randperm(len(given), generator=generator, device=generator.device).tolist()
        super().__init__([given[i] for i in order])
