"""Pixel by pixel: inverted highlights, and the statistics that a network expects."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ... import _checks
from .base import AbstractAugmentation, AbstractOperation, Parameters, Shape, chosen, where


@dataclass(frozen=True)
class Solarize(AbstractOperation):
    """Channels at the threshold or above are inverted, as in an overexposed film.

    Records `solarised`.

    Args:
        threshold: From which on values are inverted.
        probability: Of being solarised.
    """

    threshold: float = 128 / 255
    probability: float = 0.5

    names: ClassVar = ("solarised",)
    effects: ClassVar = ("solarise",)

    def __post_init__(self) -> None:
        _checks.within("threshold", self.threshold, 0, 1)
        _checks.within("probability", self.probability, 0, 1)

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        return {"solarised": chosen(n, self.probability, generator)}

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        return where(
            parameters["solarised"],
            images,
            lambda these, _: torch.where(these >= self.threshold, 1 - these, these),
        )


@dataclass(frozen=True)
class Normalize(AbstractAugmentation):
    """Channels less their mean, over their deviation. Nothing is random; it ends a composition, since what comes out is
    no longer in [0, 1].

    Args:
        mean, std: One for each channel, or one for all.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("mean", "std"):
            for value in _checks.sequence(name, getattr(self, name)):
                _checks.number(name, value)
        if len(self.mean) != len(self.std) or min(self.std, default=0.0) <= 0:
            raise ValueError(
                f"`std` must be positive, with one value for each of `mean`; got {self.std} for {self.mean}."
            )

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        return {}

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        if len(self.mean) not in (1, images.shape[1]):
            raise ValueError(
                f"`mean` must have one value for each of the {images.shape[1]} channels, or one; got {self.mean}."
            )
        mean, std = (torch.tensor(values).to(images)[:, None, None] for values in (self.mean, self.std))
        return (images - mean) / std

    def _switched(self, effect: str, on: bool) -> "Normalize":
        raise AssertionError("it has no effects to switch")
