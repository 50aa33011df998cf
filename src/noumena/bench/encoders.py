"""Training steps of image encoders, and what chunks cost and save."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import torch

from ..encoders import AbstractEncoder, ConvNet, ImageMLP, ResNet, ViT
from ..losses import Dot, InfoNCE
from ..pairs import Given
from ..training import AdamW, train
from .measure import Row, peak_megabytes

BATCH = 128  # pairs of a timed step; two images each
LARGE, CHUNK = 512, 128  # pairs of a step in chunks, and the images of a chunk

CASES: dict[str, tuple[tuple[int, int, int], Callable[..., AbstractEncoder]]] = {
    "ResNet-18, ImageNet stem": ((3, 32, 32), partial(ResNet, dim_out=512, projector="none")),
    "ResNet-18 width 32, ImageNet stem": ((3, 32, 32), partial(ResNet, dim_out=128, width=32)),
    "ResNet-18 width 16, CIFAR stem": ((3, 32, 32), partial(ResNet, dim_out=128, width=16, stem="cifar")),
    "ResNet-18 width 16, ImageNet stem": ((3, 64, 64), partial(ResNet, dim_out=10, width=16)),
    "ResNet-18 width 32, ImageNet stem, 64 px": ((3, 64, 64), partial(ResNet, dim_out=10, width=32)),
    "KITTI convolutions": ((1, 64, 64), partial(ConvNet, dim_out=10)),
    "ViT 384 x 6, patch 4": ((3, 32, 32), partial(ViT, dim_out=512)),
    "ViT 128 x 4, patch 8": ((3, 32, 32), partial(ViT, dim_out=128, patch=8, width=128, depth=4, heads=4)),
    "MLP 2048 x 3": ((3, 32, 32), partial(ImageMLP, dim_out=512)),
    "MLP 1024 x 3": ((3, 32, 32), partial(ImageMLP, dim_out=512, widths=[1024] * 3)),
}


def run(batch: int = BATCH, large: int = LARGE, chunk: int = CHUNK) -> Iterator[Row]:
    """Processor time of a whole step: drawing, forward, InfoNCE, backward and AdamW. Where an encoder takes
    `channels_last`, that is "ours", and the usual layout of memory "plain"."""
    for name in CASES:
        shape, make = CASES[name]
        both = [_core_seconds(name, batch, last) for last in ((False, True) if _takes_layout(make) else (False,))]
        rates = " and ".join(f"{2 * batch / taken:.0f}" for taken in both)
        layouts = " (usual layout and channels last)" if len(both) > 1 else ""
        yield Row(
            f"{name}, {shape[1]} x {shape[2]}, {2 * batch} images",
            both[-1],
            plain=both[0] if len(both) > 1 else None,
            note=f"{rates} images per core-second{layouts}",
        )
    name = "ResNet-18 width 16, ImageNet stem"
    yield Row(
        f"{name}, 64 x 64, {2 * large} images, {chunk} at a time",
        _core_seconds(name, large, chunk=chunk, steps=1),
        plain=_core_seconds(name, large, steps=1),
        megabytes=peak_megabytes(_prepare, name, large, False, chunk),
        plain_megabytes=peak_megabytes(_prepare, name, large, False, None),
        note="plain encodes them at once",
    )


def _takes_layout(make: Callable[..., AbstractEncoder]) -> bool:
    return isinstance(make, partial) and make.func in (ResNet, ConvNet)


def _core_seconds(
    name: str, batch: int, channels_last: bool = False, chunk: int | None = None, steps: int = 3
) -> float:
    """Of the fastest of some steps, after one to warm up."""
    step = _prepare(name, batch, channels_last, chunk)
    step()
    taken = []
    for _ in range(steps):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return min(taken)


def _prepare(name: str, batch: int, channels_last: bool, chunk: int | None) -> Callable[[], object]:
    shape, make = CASES[name]
    generator = torch.Generator().manual_seed(0)
    x, x_pos = torch.rand(2, batch, *shape, generator=generator)
    layout = {"channels_last": True} if channels_last else {}
    encoder, loss = make(shape, generator=generator, **layout), InfoNCE(Dot(tau=0.5))
    optimizer = AdamW(3e-4).build(encoder, loss)[0]
    source = Given(x, x_pos)
    return lambda: list(
        train(source, encoder, loss, optimizer=optimizer, steps=1, batch_size=batch, generator=generator, chunk=chunk)
    )
