"""What augmenting a batch costs."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from ..data.augmentations import SimCLR
from .measure import Row, seconds

BATCH, SIZE = 256, 32
CLAIM = 2.0


def run(batch: int = BATCH, repeats: int = 15) -> Iterator[Row]:
    """SimCLR's crop, flip, jitter, grey and blur on 256 colour images of 32 x 32, on one thread; and its parts. Plain
    is kornia's, with the same strengths and probabilities and a draw for each image too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield from _rows(batch, repeats)
    finally:
        torch.set_num_threads(threads)


def _rows(batch: int, repeats: int) -> Iterator[Row]:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(batch, 3, SIZE, SIZE, generator=generator)
    ours = SimCLR(SIZE)
    theirs = _kornia()
    plain = None if theirs is None else seconds(lambda: _seeded(theirs, images), repeats)
    took = seconds(lambda: ours(images, generator), repeats)
    note = f"{batch / took:,.0f} images a second" + (
        "; for the ratio, install noumena[test]" if plain is None else f"; kornia {batch / plain:,.0f}"
    )
    yield Row(f"SimCLR on {batch} images of {SIZE} x {SIZE}", took, plain, claim=CLAIM, note=note)
    for operation in ours.operations:
        name = type(operation).__name__
        yield Row(f"{name} alone", seconds(lambda operation=operation: operation(images, generator), repeats))


def _kornia() -> Callable[[Tensor], Tensor] | None:
    try:
        from kornia import augmentation
    except ModuleNotFoundError:
        return None
    return nn.Sequential(
        augmentation.RandomResizedCrop(
            (SIZE, SIZE), scale=(0.08, 1.0), cropping_mode="slice", align_corners=False, p=1.0
        ),
        augmentation.RandomHorizontalFlip(p=0.5),
        augmentation.ColorJitter(0.8, 0.8, 0.8, 0.2, p=0.8),
        augmentation.RandomGrayscale(p=0.2),
        augmentation.RandomGaussianBlur((3, 3), (0.1, 2.0), p=0.5),
    )


def _seeded(augment: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
    """kornia draws from torch's global generator, which is given back as it was."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        return augment(images)
