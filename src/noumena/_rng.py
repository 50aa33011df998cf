"""One seed, split into named generators, and the random primitives that torch keeps without a generator."""

import hashlib
from typing import NamedTuple

import torch
from torch import Tensor

from . import _checks


class Streams(NamedTuple):
    """Independent generators of one seed: what is drawn from one leaves the others alone.

    `world` fixes the mixing, `pairs` feeds training, `init` fills the encoder, `eval` feeds measurement; so
    evaluating more often does not change training.
    """

    world: torch.Generator
    pairs: torch.Generator
    init: torch.Generator
    eval: torch.Generator


def streams(seed: int, device: str | torch.device = "cpu") -> Streams:
    """The named generators of `seed`, on `device`."""
    _checks.count("seed", seed, low=0)
    try:
        device = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"`device` must be one that torch knows, such as 'cpu' or 'cuda:0'; got {device!r}."
        ) from error
    return Streams(*(stream(seed, name, device) for name in Streams._fields))


def stream(seed: int, name: str, device: str | torch.device) -> torch.Generator:
    """A generator that seed and name decide together."""
    # Hashing keeps the streams of neighbouring seeds apart, which seed + offset would not.
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator(device=device).manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def branches(stream: torch.Generator, count: int) -> list[torch.Generator]:
    """`count` generators, seeded by the next `count` draws of `stream`: processes that hold the same stream can each
    take one, without a word between them and with nothing but the stream to save."""
    seeds = torch.randint(2**63 - 1, (count,), generator=stream, device=stream.device).tolist()
    return [torch.Generator(device=stream.device).manual_seed(seed) for seed in seeds]


def uniform(shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Tensor:
    """Uniform draws in the open interval (0, 1): safe for logarithms and inverse distribution functions."""
    draw = torch.rand(shape, generator=generator, dtype=dtype, device=generator.device)
    return draw.clamp_(min=torch.finfo(dtype).tiny)


def normal(shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=dtype, device=generator.device)


def gamma(shape: Tensor, generator: torch.Generator) -> Tensor:
    """Gamma(shape, rate 1) draws, one for each entry of `shape`.

    torch.distributions offers no generator argument; this is the kernel behind it, which does.
    """
    return torch._standard_gamma(shape, generator=generator)
