"""Random numbers of a module that draws while it is trained."""

import torch
import torch.distributed as dist
from torch import Tensor, nn

from . import _checks, _rng


class Draws(nn.Module):
    """The randomness of dropout or of a sampled latent, as part of the module's state.

    What is kept is a seed and the number of draws so far, both buffers, and every draw has a generator of its own that
    the two decide. So a checkpoint holds them, a copy goes on as its original would, and a count that is set back
    repeats the same draws, as `train(chunk=...)` does. Of several processes, which share one state, each draws
    numbers of its own.

    Args:
        generator: Gives the seed.
    """

    seed: Tensor
    count: Tensor

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        device = _checks.generator(generator).device
        self.register_buffer("seed", torch.randint(2**63 - 1, (), generator=generator, device=device))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64, device=device))

    def next(self, device: torch.device) -> torch.Generator:
        """The generator of the next draw, on `device`."""
        rank = dist.get_rank() if dist.is_available() and dist.is_initialized() else 0
        generator = _rng.stream(int(self.seed), f"draw {int(self.count)} of {rank}", device)
        self.count += 1
        return generator
