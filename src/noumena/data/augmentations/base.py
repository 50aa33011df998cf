"""What is drawn for an image, and what is done to it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ... import _checks

Parameters = Mapping[str, Tensor]
Shape = tuple[int, int, int]


class Augmented(NamedTuple):
    """Images after an augmentation, and what was done to each."""

    images: Float[Tensor, "n c h w"]
    parameters: dict[str, Tensor]


class AbstractAugmentation(ABC):
    """A random change of images, in two halves: `draw` decides what happens to each, `apply` does it.

    Every image has a draw of its own, and everything drawn is a tensor with one row for each image: what was done can
    be recorded, done again, and compared with another implementation. `apply` draws nothing, and row i of what it
    returns depends on row i of images and parameters alone. Parameters state what is done, not what was considered:
    a jitter factor of 1 or a blur of sigma 0 where nothing is done, and such images come back bit for bit.

    Images are floating, in [0, 1], and keep their dtype and device. Parameters are float32 or int64 or bool whatever
    the dtype of the images, so that a seed decides the same in single and double precision.

    Subclasses define `_draw`, `_apply` and `_switched`, which see checked arguments; those that change the size of
    images define `shape_after`.

    Attributes:
        names: Of the parameters that are drawn.
        effects: Words for what it does that can be turned on and off, such as "blur"; see `without`.
    """

    names: ClassVar[tuple[str, ...]] = ()
    effects: ClassVar[tuple[str, ...]] = ()

    @torch.no_grad()
    def draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]:
        """What is to happen to `n` images of a shape (channels, height, width), on the generator's device."""
        _checks.count("n", n, low=0)
        shape = _shape(shape)
        drawn = self._draw(n, shape, _checks.generator(generator))
        assert set(drawn) == set(self.names), "an augmentation must name its parameters"
        return drawn

    @torch.no_grad()
    def apply(self, images: Float[Tensor, "n c h w"], parameters: Parameters) -> Float[Tensor, "n c h2 w2"]:
        """The images, changed as the parameters say."""
        _checks.floating("images", images)
        if images.ndim != 4:
            raise ValueError(
                f"`images` must have the shape (n, channels, height, width), got {tuple(images.shape)}; "
                "a single image is images[None]."
            )
        _, channels, height, width = images.shape
        _shape((channels, height, width))
        for name in self.names:
            if name not in parameters:
                raise ValueError(
                    f"`parameters` must have {name!r}, got {', '.join(map(repr, parameters)) or 'none'}; draw them "
                    "with the augmentation that is applied."
                )
            if len(parameters[name]) != len(images):
                raise ValueError(
                    f"`parameters` must have {len(images)} rows, one for each image; {name!r} has "
                    f"{len(parameters[name])}."
                )
        return self._apply(images, {name: parameters[name].to(images.device) for name in self.names})

    def __call__(self, images: Float[Tensor, "n c h w"], generator: torch.Generator) -> Augmented:
        """Draw and apply."""
        _checks.floating("images", images)
        _checks.generator(generator, images.device)
        channels, height, width = images.shape[1:]
        parameters = self.draw(len(images), (channels, height, width), generator)
        return Augmented(self.apply(images, parameters), parameters)

    def shape_after(self, shape: Shape) -> Shape:
        """Of an image of `shape`, once augmented."""
        return shape

    def without(self, effect: str) -> "AbstractAugmentation":
        """The same augmentation with one effect turned off; sizes of images stay what they are."""
        return self._switched(_checks.choice("effect", effect, self.effects), on=False)

    def always(self, effect: str) -> "AbstractAugmentation":
        """The same augmentation, in which one effect never fails to be applied."""
        return self._switched(_checks.choice("effect", effect, self.effects), on=True)

    @abstractmethod
    def _draw(self, n: int, shape: Shape, generator: torch.Generator) -> dict[str, Tensor]: ...

    @abstractmethod
    def _apply(self, images: Tensor, parameters: Parameters) -> Tensor: ...

    @abstractmethod
    def _switched(self, effect: str, on: bool) -> "AbstractAugmentation": ...


class AbstractOperation(AbstractAugmentation):
    """One effect that an image has or has not. Subclasses are frozen dataclasses of options, `probability` among them,
    and name the parameters and the effect."""

    probability: float

    def _switched(self, effect: str, on: bool) -> "AbstractOperation":
        # A dataclass of options is what every subclass is; the abstract class itself is none.
        options: dict[str, Any] = {"probability": float(on)}
        return replace(self, **options)  # type: ignore[type-var]


def _shape(shape: Shape) -> Shape:
    if len(shape) != 3 or shape[0] not in (1, 3) or min(shape) < 1:
        raise ValueError(
            f"`shape` must be (channels, height, width) with one grey or three colour channels, got {shape}."
        )
    return shape


def uniform(n: int, low: float, high: float, generator: torch.Generator) -> Tensor:
    """(n,) float32 in [low, high]."""
    return torch.rand(n, generator=generator, device=generator.device).mul_(high - low).add_(low)


def chosen(n: int, probability: float, generator: torch.Generator) -> Tensor:
    """(n,) bool."""
    return torch.rand(n, generator=generator, device=generator.device) < probability


def below(limit: Tensor, generator: torch.Generator) -> Tensor:
    """Whole numbers, each uniform on 0, ..., limit - 1."""
    # In float64 the product cannot be rounded up to the limit, as it can in float32.
    return (torch.rand(limit.shape, generator=generator, device=limit.device, dtype=torch.float64) * limit).long()


def size_pair(name: str, value: int | tuple[int, int]) -> tuple[int, int]:
    """Height and width, of a number or of two."""
    pair = (value, value) if isinstance(value, int) else _checks.sequence(name, value)
    if len(pair) != 2:
        raise ValueError(f"`{name}` must be one number, or height and width; got {value!r}.")
    return _checks.count(name, pair[0]), _checks.count(name, pair[1])


def interval(name: str, value: tuple[float, float], low: float, high: float = float("inf")) -> tuple[float, float]:
    """Two ends in order, between `low` and `high`."""
    pair = _checks.sequence(name, value)
    if len(pair) != 2 or not low <= _checks.number(name, pair[0]) <= _checks.number(name, pair[1]) <= high:
        limits = f"at least {low:g}" if high == float("inf") else f"between {low:g} and {high:g}"
        raise ValueError(f"`{name}` must be two numbers in ascending order, {limits}; got {value!r}.")
    return float(pair[0]), float(pair[1])


def where(rows: Tensor, images: Tensor, change: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """The images, those whose entry in `rows` is true changed by `change(these images, their numbers)`."""
    numbers = rows.nonzero().squeeze(1)
    # Copying whole images costs a fraction of choosing pixel by pixel.
    return images.index_copy(0, numbers, change(images[numbers], numbers)) if len(numbers) else images
