"""The world of a description: laws seen through a mixing, or images that exist already."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from .. import _checks
from .._rng import Streams, streams
from ..data.base import AbstractImageTable
from ..mixings.base import AbstractMixing
from ..pairs import Images, Synthetic
from ..pairs.base import AbstractPairSource
from ..spaces import AbstractSpace
from .description import Description
from .resolve import Plan, Stored
from .stored import grey, loaded


def built(plan: Plan, kind: type, stored: Stored | None = None, /, **supplied: Any) -> Any:
    """The object of a plan, which must be a `kind`."""
    made = plan.build(stored, **supplied)
    try:
        return _checks.kind("kind", made, kind)
    except TypeError as error:
        raise ValueError(f"{plan.where}: {error}") from error


class World:
    """Laws and mixing, or a table, of a description, and the pairs that come from them.

    Args:
        plans: Of each section.
        own: The streams of the seed.
        device: Where a mixing of a `world_seed` is drawn.
        mixings: A mixing that is in here is taken, and one that is not is put here.
        stored: How tables of images come about: `stored.loaded` or `stored.stand_in`.

    Attributes:
        space: Of the latents; None for images without laws.
        laws: `marginal` and `conditional`, where there are any.
        mixing: None for images.
        table: Of the images trained on; None for laws.
        tested: Of the images that scores are measured on.
    """

    def __init__(
        self,
        description: Description,
        plans: Mapping[str, Any],
        own: Streams,
        device: str | torch.device,
        mixings: dict[str, AbstractMixing],
        stored: Stored,
    ) -> None:
        self.stored = stored
        self.space: AbstractSpace | None = built(plans["space"], AbstractSpace) if "space" in plans else None
        self.laws = {
            name: plans[name].build(stored, space=self.space) for name in ("marginal", "conditional") if name in plans
        }
        world_seed = description.sections.get("world_seed")
        self.generator = own.world if world_seed is None else streams(world_seed, device).world
        self.mixing: AbstractMixing | None = None
        self.table: AbstractImageTable | None = None
        self.tested: AbstractImageTable | None = None
        if "data" in plans:
            self.table = built(plans["data"], AbstractImageTable, stored)
            self.tested = built(plans["test"]["data"], AbstractImageTable, stored) if plans["test"] else self.table
            return
        assert self.space is not None
        dim = self.space.dim
        key = repr((dim, description.canonical()["mixing"]))
        if key not in mixings:
            mixings[key] = self._mixing(plans["mixing"], dim)
        self.mixing = mixings[key]

    def _mixing(self, plan: Plan, dim: int) -> AbstractMixing:
        try:
            return built(plan, AbstractMixing, self.stored, dim=dim, dim_in=dim, generator=self.generator)
        except FileNotFoundError:
            if self.stored is loaded:
                raise
            return grey(dim)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one observation."""
        if self.table is not None:
            return tuple(self.table.shape)
        return tuple(getattr(self.mixing, "shape_out", None) or (self.mixing.dim_out,))  # pyright: ignore

    @property
    def dim(self) -> int | None:
        """How many latents there are, as far as that is known: those of the space, or the factors of the table."""
        if self.space is not None:
            return self.space.dim
        factors = None if self.table is None else self.table.factors
        return None if factors is None else factors.shape[1]

    @property
    def dims(self) -> dict[str, Any]:
        """What an encoder or a loss may ask for."""
        known = {} if self.dim is None else {"dim": self.dim, "dim_out": self.dim}
        return {**known, "dim_in": math.prod(self.shape), "shape": self.shape}

    def source(self, plan: Plan) -> AbstractPairSource:
        """Pairs of training."""
        # An augmentation may draw once for a whole run, in what order it does things.
        world = {"mixing": self.mixing} if self.table is None else {"table": self.table, "generator": self.generator}
        return built(plan, AbstractPairSource, self.stored, **world, **self.laws)

    def test(self, plans: Mapping[str, Plan]) -> Synthetic | Images:
        """Where scores are measured: fresh draws of the laws, or images of a table as they are."""
        if self.tested is not None:
            return Images(self.tested)
        changed = {name: plan.build(space=self.space) for name, plan in plans.items()}
        return Synthetic(**{**self.laws, **changed}, mixing=self.mixing)
