"""Tables of images as an encoder sees them, a part at a time."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from .. import _checks
from ..data.augmentations import AbstractAugmentation
from ..data.base import AbstractImageTable
from ..data.pixels import unit

CHUNK = 512
OF = ("features", "embedding")
Read = Callable[[Tensor], Tensor]


def reader(encoder: nn.Module, of: str) -> Read:
    """From images to what is read: the embedding, or the backbone's features before the projection."""
    if of == "embedding":
        return lambda x: encoder(_shaped(encoder, x))
    features: Read | None = getattr(encoder, "features", None)
    if features is None:
        raise ValueError(
            f'`of="features"` needs an encoder with a method `features`; `{type(encoder).__name__}` has none. Use '
            '`of="embedding"`.'
        )
    return lambda x: features(_shaped(encoder, x))


def _shaped(encoder: nn.Module, x: Tensor) -> Tensor:
    """Images as vectors, for an encoder of vectors."""
    return x.flatten(1) if len(getattr(encoder, "observation_shape", x.shape[1:])) == 1 else x


def pixels(
    encoder: nn.Module,
    table: AbstractImageTable,
    rows: Int64[Tensor, " n"],
    augmentation: AbstractAugmentation | None,
    generator: torch.Generator,
) -> Iterator[Float[Tensor, "m c h w"]]:
    """Some images in parts, augmented if asked, in the dtype and on the device of the encoder."""
    like = next((one for one in encoder.parameters() if one.is_floating_point()), torch.empty(0))
    for part in rows.split(CHUNK):
        # Augmented where the generator draws, so that a seed decides whatever the encoder's device.
        images = unit(table.images(part), like.dtype, generator.device)
        if augmentation is not None:
            images = augmentation(images, generator).images
        yield images.to(like.device)


def encode(
    encoder: nn.Module,
    table: AbstractImageTable,
    rows: Int64[Tensor, " n"],
    *,
    of: str,
    augmentation: AbstractAugmentation | None,
    generator: torch.Generator,
) -> Float[Tensor, "n d"]:
    read = reader(encoder, of)
    found = [read(x) for x in pixels(encoder, table, rows, augmentation, generator)]
    return _checks.finite("h", torch.cat(found))


def some(table: AbstractImageTable, n: int, generator: torch.Generator) -> Int64[Tensor, " n"]:
    """Distinct rows of a table, on the CPU."""
    if n > len(table):
        raise ValueError(f"`n` must be at most the {len(table)} images of `{table.name}`, got {n}.")
    return torch.randperm(len(table), generator=generator, device=generator.device)[:n].cpu()


def check_table(name: str, table: AbstractImageTable) -> None:
    _checks.kind(name, table, AbstractImageTable, "Pass a table such as `InMemory(images)`.")


def check_augmentation(name: str, augmentation: AbstractAugmentation) -> None:
    _checks.kind(name, augmentation, AbstractAugmentation, "Pass one such as `SimCLR(32)`.")
