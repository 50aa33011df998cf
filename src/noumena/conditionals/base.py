"""The law of a positive given its anchor, p(z' | z)."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..spaces import AbstractSpace

_Law = TypeVar("_Law", bound="AbstractConditional")  # `Self` is beyond the type checker of the tests


class AbstractConditional(ABC):
    """A law of z' for every z of a space. Subclasses are frozen dataclasses with a keyword field `space`.

    `space` may be left out: a law without one lives in its natural space (said by the class), of the
    dimension of the anchors it is given, and `Synthetic` places it in the space of the marginal.

    `normalised` says whether `log_prob` integrates to one, or is known up to a term free of z' only, which is
    all that InfoNCE can see.
    """

    space: AbstractSpace | None
    normalised: bool = True

    def on(self: _Law, space: AbstractSpace) -> _Law:
        """This law in `space`; raises ValueError if it cannot live there."""
        return replace(self, space=space)  # pyright: ignore[reportArgumentType]

    @property
    def full_support(self) -> bool:
        """Whether positives can lie anywhere in the space: the diversity condition of "The Loss Is Not Enough"."""
        return True

    @abstractmethod
    def natural_space(self, dim: int) -> AbstractSpace:
        """Where the law lives if no space was given."""

    def space_of(self, z: Tensor) -> AbstractSpace:
        """The space of anchors `z`: the one that was given, or the natural one of their dimension."""
        return self.space if self.space is not None else self.natural_space(z.shape[-1])

    def sample(self, z: Float[Tensor, "n d"], *, generator: torch.Generator) -> Float[Tensor, "n d"]:
        """One z' for each row of `z`, in its dtype and on its device."""
        _checks.generator(generator, _checks.floating("z", z).device)
        self.space_of(_checks.matrix("z", z)).require("z", z)
        return self._sample(z, generator)

    def log_prob(self, z_pos: Float[Tensor, "n d"], z: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """Log density of each row of `z_pos` given the same row of `z`; -inf outside of the support."""
        self.space_of(_checks.matrix("z", z)).require("z", z)
        _checks.matrix("z_pos", z_pos)
        _checks.same_shape("z_pos", z_pos, "z", z)
        _checks.same_kind("z_pos", z_pos, "z", z)
        return self._log_prob(z_pos, z)

    def log_prob_grid(self, z_pos: Float[Tensor, "m d"], z: Float[Tensor, "n d"]) -> Float[Tensor, "n m"]:
        """Log density of every row of `z_pos` given every row of `z`, for points of the space: whether they lie in
        it is not checked again and again."""
        self.space_of(_checks.matrix("z", z)).require("z", z)
        _checks.matrix("z_pos", z_pos, z.shape[1])
        _checks.same_kind("z_pos", z_pos, "z", z)
        return self._log_prob_grid(z_pos, z)

    def sample_support(self, z: Float[Tensor, "n d"], m: int, *, generator: torch.Generator) -> Float[Tensor, "n m d"]:
        """`m` uniform draws for each anchor from where its positives can lie: all of the space, unless the law
        keeps some part of the anchor fixed."""
        _checks.generator(generator, _checks.floating("z", z).device)
        self.space_of(_checks.matrix("z", z)).require("z", z)
        _checks.count("m", m)
        return self._sample_support(z, m, generator)

    @abstractmethod
    def _sample(self, z: Tensor, generator: torch.Generator) -> Tensor: ...

    @abstractmethod
    def _log_prob(self, z_pos: Tensor, z: Tensor) -> Tensor: ...

    def _log_prob_grid(self, z_pos: Tensor, z: Tensor) -> Tensor:
        """Row by row; a law whose normaliser can be had once for each anchor overrides this."""
        n, m = len(z), len(z_pos)
        return self._log_prob(z_pos.repeat(n, 1), z.repeat_interleave(m, dim=0)).view(n, m)

    def _sample_support(self, z: Tensor, m: int, generator: torch.Generator) -> Tensor:
        space = self.space_of(z)
        draws = space.sample_uniform(len(z) * m, generator, z.dtype)
        return draws.reshape(len(z), m, space.dim)
