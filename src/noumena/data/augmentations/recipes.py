"""Augmentations as published, by name."""

from collections.abc import Sequence

import torch

from ... import _checks
from .base import AbstractAugmentation
from .blur import GaussianBlur
from .compose import AbstractComposition, Shuffled
from .crop import RandomResizedCrop
from .erase import RandomErasing
from .flip import HorizontalFlip
from .jitter import ColorJitter, Grayscale
from .tone import Normalize, Solarize

IMAGENET = Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
REGIMES = ("all", "crop", "all_without_crop")
DEFINITIONS = ("final", "january")
ORDERS = ("drawn", "adapted")


class SimCLR(AbstractComposition):
    """Crop, flip, jitter, grey and blur, with the strengths of Chen et al. (2020).

    The defaults are those for ImageNet, which also stand in for the augmentations of 3DIdent (Zimmermann et al.,
    2021, Table 4, row 4.5: theirs are not published). For CIFAR-10, `strength=0.5, blur=0.0` is what SimCLR's authors
    did, and `scale=(0.2, 1.0)` what the code base behind Table 1 of AnInfoNCE does.

    Args:
        size: Of what comes out, a number of pixels.
        scale: Share of the area that a crop keeps.
        strength: Of the jitter: 0.8 times it for brightness, contrast and saturation, 0.2 times it for hue.
        colour: Whether there is jitter and grey at all; AnInfoNCE, Section G, has neither.
        blur: Probability of being blurred, with a kernel of a tenth of the size.
        interpolation: Of crops.
    """

    def __init__(
        self,
        size: int,
        *,
        scale: tuple[float, float] = (0.08, 1.0),
        strength: float = 1.0,
        colour: bool = True,
        blur: float = 0.5,
        interpolation: str = "bilinear",
    ) -> None:
        _checks.at_least("strength", strength, 0)
        light = 0.8 * strength
        steps: list[AbstractAugmentation] = [
            RandomResizedCrop(size, scale=scale, interpolation=interpolation),
            HorizontalFlip(),
        ]
        if _checks.kind("colour", colour, bool):
            steps += [ColorJitter(light, light, light, 0.2 * strength, probability=0.8), Grayscale(0.2)]
        super().__init__([*steps, GaussianBlur(_tenth(size), probability=blur)])


class VICReg(AbstractComposition):
    """The two unlike views of the public VICReg code base, which AnInfoNCE uses on ImageNet: the first always blurred,
    the second seldom, and solarised at times.

    Args:
        view: 1 or 2.
        size: Of what comes out.
        normalise: Whether to end with the statistics of ImageNet.
    """

    def __init__(self, view: int, size: int = 224, *, normalise: bool = True) -> None:
        if view not in (1, 2):
            raise ValueError(f"`view` must be 1 or 2, got {view!r}.")
        steps: list[AbstractAugmentation] = [
            RandomResizedCrop(size, interpolation="bicubic"),
            HorizontalFlip(),
            ColorJitter(0.4, 0.4, 0.2, 0.1, probability=0.8),
            Grayscale(0.2),
            GaussianBlur(_tenth(size), probability=1.0 if view == 1 else 0.1),
            Solarize(probability=0.0 if view == 1 else 0.2),
        ]
        super().__init__([*steps, IMAGENET] if normalise else steps)


class CropAndFlip(AbstractComposition):
    """Random crops and horizontal flips alone: what AnInfoNCE trains its VAE of Figure 6 on, with MNIST.

    Args:
        size: Of what comes out.
        scale: Share of the area that a crop keeps; not published.
    """

    def __init__(self, size: int, *, scale: tuple[float, float] = (0.08, 1.0)) -> None:
        super().__init__([RandomResizedCrop(size, scale=scale), HorizontalFlip()])


class LossIsNotEnough(AbstractComposition):
    """The three regimes of The Loss Is Not Enough on CIFAR-10, under both definitions that its code has had.

    "all" is jitter, crop, flip, grey, blur and cutout; "crop" the crop alone; "all_without_crop" the rest. Under the
    definition of January 2026, by which the only stored accuracies were made, cutout goes with the crop: "crop" has
    it and "all_without_crop" has not. Only the positive is augmented there (`Augmented(views="second")`), and nothing
    is normalised.

    Args:
        regime: "all", "crop" or "all_without_crop".
        definition: "final" or "january".
        order: Of "all": "drawn", one order at random for the whole run, or "adapted", the fixed one of the
            observation-space adapted step. The other regimes have one order.
        size: Of what comes out.
        generator: Draws the order; not needed where none is drawn.
    """

    def __init__(
        self,
        regime: str,
        definition: str = "final",
        *,
        order: str = "drawn",
        size: int = 32,
        generator: torch.Generator | None = None,
    ) -> None:
        _checks.choice("regime", regime, REGIMES)
        _checks.choice("definition", definition, DEFINITIONS)
        _checks.choice("order", order, ORDERS)
        jitter = ColorJitter(0.8, 0.8, 0.8, 0.2, probability=0.8)
        crop, flip, gray = RandomResizedCrop(size), HorizontalFlip(), Grayscale(0.2)
        blur = GaussianBlur(3, probability=1.0)
        cutout = RandomErasing(scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0.0, probability=1.0)
        steps: Sequence[AbstractAugmentation]
        if regime == "all":
            steps = (flip, crop, jitter, gray, blur, cutout)
            if order == "drawn":
                steps = Shuffled(steps, generator=_checks.generator(generator)).operations
        elif regime == "crop":
            steps = (crop,) if definition == "final" else (crop, cutout)
        else:
            steps = (jitter, flip, gray, blur, cutout) if definition == "final" else (jitter, flip, gray, blur)
        super().__init__(steps)


def _tenth(size: int) -> int:
    """The odd number of pixels nearest to a tenth of the size: 3 of 32, 23 of 224; at least 3, since 1 does nothing."""
    return max(3, 2 * int(_checks.count("size", size) / 20) + 1)
