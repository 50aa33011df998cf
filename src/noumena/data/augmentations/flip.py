"""Left becomes right."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ... import _checks
from .base import AbstractOperation, Parameters, Shape, chosen, where


@dataclass(frozen=True)
class HorizontalFlip(AbstractOperation):
    """The mirror image, for one image in two: positives that gather in two places.

    Records `flipped`.

    Args:
        probability: Of being flipped.
    """

    probability: float = 0.5

    names: ClassVar = ("flipped",)
    effects: ClassVar = ("flip",)

    def __post_init__(self) -> None:
        _checks.within("probability", self.probability, 0, 1)

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        return {"flipped": chosen(n, self.probability, generator)}

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        return where(parameters["flipped"], images, lambda these, _: these.flip(3))
