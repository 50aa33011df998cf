"""Other light, other colours."""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from ... import _checks
from . import _colour
from .base import AbstractAugmentation, AbstractOperation, Parameters, Shape, chosen, uniform, where

EFFECTS = {
    "brightness": (_colour.brighten, 1.0),
    "contrast": (_colour.contrast, 1.0),
    "saturation": (_colour.saturate, 1.0),
    "hue": (_colour.turn_hue, 0.0),
}


@dataclass(frozen=True)
class ColorJitter(AbstractAugmentation):
    """Brightness, contrast, saturation and hue of each image changed by factors of its own.

    Factors of the first three are uniform on [max(0, 1 - strength), 1 + strength]; hue moves by a share of the circle,
    uniform on [-strength, strength]. Contrast moves pixels from the mean luminance of the image, saturation from the
    luminance of each pixel, and results are clamped to [0, 1] after every step, so that the order of steps matters.

    Records `jittered`, and `brightness`, `contrast`, `saturation`, `hue` as applied: 1, 1, 1 and 0 where an image was
    left alone. `jitter_order` (n, 4) are the steps in their order, 0 to 3 in the order just given.

    Args:
        brightness, contrast, saturation: Strengths, at least 0; 0 leaves them alone.
        hue: At most 1/2, which reaches every hue.
        probability: That an image is jittered at all.
        order: "random", drawn for each image, or "fixed", as above.
    """

    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    hue: float = 0.0
    probability: float = 1.0
    order: str = "random"

    names: ClassVar = ("jittered", *EFFECTS, "jitter_order")

    def __post_init__(self) -> None:
        for name in ("brightness", "contrast", "saturation"):
            _checks.at_least(name, getattr(self, name), 0)
        _checks.within("hue", self.hue, 0, 0.5)
        _checks.within("probability", self.probability, 0, 1)
        _checks.choice("order", self.order, ("random", "fixed"))
        # What has no strength is no effect, and no probe can be asked to find it.
        object.__setattr__(self, "effects", tuple(name for name in EFFECTS if getattr(self, name)))

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        jittered = chosen(n, self.probability, generator)
        drawn = {"jittered": jittered}
        for name, (_, neutral) in EFFECTS.items():
            strength = getattr(self, name)
            low = -strength if name == "hue" else max(0.0, 1 - strength)
            drawn[name] = torch.where(jittered, uniform(n, low, neutral + strength, generator), neutral)
        order = torch.arange(len(EFFECTS), device=generator.device).expand(n, -1)
        if self.order == "random":
            order = torch.rand((n, len(EFFECTS)), generator=generator, device=generator.device).argsort(dim=1)
        return {**drawn, "jitter_order": order}

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        moved = {name: parameters[name] != neutral for name, (_, neutral) in EFFECTS.items()}
        images = images.clone()
        for step in parameters["jitter_order"].T:
            for i, (name, (change, _)) in enumerate(EFFECTS.items()):
                rows = (moved[name] & (step == i)).nonzero().squeeze(1)
                if len(rows):
                    factor = parameters[name][rows].to(images.dtype)
                    images.index_copy_(0, rows, change(images[rows], factor))
        return images

    def _switched(self, effect: str, on: bool) -> "ColorJitter":
        return replace(self, probability=1.0) if on else replace(self, **{effect: 0.0})


@dataclass(frozen=True)
class Grayscale(AbstractOperation):
    """The luminance of an image in all its channels.

    Records `gray`.

    Args:
        probability: Of being grey.
    """

    probability: float = 0.2

    names: ClassVar = ("gray",)
    effects: ClassVar = ("grayscale",)

    def __post_init__(self) -> None:
        _checks.within("probability", self.probability, 0, 1)

    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        return {"gray": chosen(n, self.probability, generator)}

    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor:
        return where(parameters["gray"], images, lambda these, _: _colour.luminance(these).expand_as(these))
