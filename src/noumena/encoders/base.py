"""From observations to embeddings."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace
from .heads import AbstractHead, make_head


class AbstractEncoder(nn.Module, ABC):
    """f: (n, dim_in) -> (n, dim_out), trained: a body that computes, and a head that places the result in a space.

    An encoder is an ordinary module and knows nothing of pairs, losses or latents, so it fits any training loop:
    `h = encoder(x)`, `encoder.parameters()`, `encoder.space`. Initial values come from an explicit generator and are
    made on its device, so that a seed fixes them whatever the global state; their dtype is torch's default one, and
    `encoder.double()` gives another. Shape, dtype and device of every batch are checked; its entries are not,
    which would cost a pass over the data in each step.

    A new encoder defines `body`, and `observation_shape` if it reads something other than vectors:

        class Quadratic(AbstractEncoder):
            def __init__(self, dim_in: int, dim_out: int, *, generator: torch.Generator):
                super().__init__(dim_in, dim_out, head="sphere", generator=generator)
                self.weight = nn.Parameter(torch.randn(dim_in, dim_out, generator=generator))

            def body(self, x: Tensor) -> Tensor:
                return x.square() @ self.weight

    Args:
        dim_in, dim_out: Coordinates of observations and of embeddings.
        head: How embeddings end: a head, a space (then radius or bounds are fixed to its own), or one of "free",
            "sphere" (the unit sphere), "box" (the published box, with learned bounds) and "gaussian" (`GaussianHead`).
            A head that is handed to two encoders is shared between them, with its learned values.
        generator: Source of the initial values.
    """

    dim_in: int
    dim_out: int
    head: AbstractHead

    def __init__(
        self, dim_in: int, dim_out: int, *, head: AbstractHead | AbstractSpace | str, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.dim_in = _checks.count("dim_in", dim_in)
        self.dim_out = _checks.count("dim_out", dim_out)
        self.head = make_head(head, dim_out).to(_checks.generator(generator).device)

    @abstractmethod
    def body(self, x: Tensor) -> Tensor:
        """(n, dim_out), before the head."""

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of one observation, of `dim_in` entries; rows of that many are taken too, and reshaped."""
        return (self.dim_in,)

    @property
    def space(self) -> AbstractSpace:
        """Where embeddings lie, at the current values of the head."""
        return self.head.space

    def forward(self, x: Float[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        return self.head(self.body(self._checked(x)))

    def _checked(self, x: Tensor) -> Tensor:
        _checks.floating("x", x)
        shape = self.observation_shape
        if x.ndim == 0 or tuple(x.shape[1:]) not in (shape, (self.dim_in,)):
            wanted = f"({', '.join(map(str, ('n', *shape)))})"
            flat = f", or (n, {self.dim_in})" if len(shape) > 1 else ""
            raise ValueError(f"`x` must have the shape {wanted}{flat}; got {tuple(x.shape)}.")
        parameter = next(self.parameters(), None)
        # Under autocast the dtypes of a step are autocast's affair.
        if parameter is not None and not torch.is_autocast_enabled(parameter.device.type):
            _checks.same_kind("x", x, "encoder", parameter)
        return x.reshape(len(x), *shape)
