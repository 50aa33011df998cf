"""Tables of images that a description names: loaded once in a process, or stood in for where none is needed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..data import cache
from ..data.base import AbstractImageTable, InMemory
from ..mixings import AbstractMixing, InjectiveLinear
from .resolve import Plan

ROWS = 4096  # of a stand-in
KEPT = 8  # tables in one process; a row has two or three
PLACES = ("root", "path", "folder")  # arguments that say where data lie
GREY = (1, 28, 28)


@dataclass(frozen=True)
class _Described:
    """A plan that is another one's equal if their descriptions are."""

    text: str
    plan: Plan = field(compare=False)


def loaded(plan: Plan) -> AbstractImageTable:
    """The table itself; equal descriptions share one, since a diagnostic often reads what training reads.

    A place that is not absolute lies in the folder of data (`data.cache.folder`), so that a table file is the same on
    every machine.
    """
    return _loaded(_Described(_text(plan), plan))


@lru_cache(maxsize=KEPT)
def _loaded(described: _Described) -> AbstractImageTable:
    return _placed(described.plan).build()


def _placed(plan: Plan) -> Plan:
    def place(name: str, value: Any) -> Any:
        if isinstance(value, Plan):
            return _placed(value)
        return str(cache.folder() / value) if name in PLACES else value

    return replace(plan, arguments={name: place(name, value) for name, value in plan.arguments.items()})


def _text(value: Any) -> str:
    if isinstance(value, Plan):
        return f"{value.target.__module__}.{value.target.__qualname__}{_text(value.arguments)}"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{_text(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return repr(value)


def stand_in(plan: Plan) -> AbstractImageTable:
    """A black table of the same shape, with a class, factors and an order for each row.

    For what must hold together before anything runs, on machines without the data as well. The shape is the one that
    the class states, that of a table within, or the `size` that the table file gives; of classes and factors no more is
    known than the class says.
    """
    inner = next((stand_in(value) for value in plan.arguments.values() if isinstance(value, Plan)), None)
    size = plan.arguments.get("size", 64)
    shape = getattr(plan.target, "shape", (3, size, size)) if inner is None else inner.shape
    names = getattr(plan.target, "factor_names", ()) or ("factor",)
    return InMemory(
        torch.zeros(1, 1, 1, 1, dtype=torch.uint8).expand(ROWS, *shape),
        labels=torch.zeros(ROWS, dtype=torch.int64),
        factors=torch.zeros(ROWS, len(names)),
        episodes=np.zeros(ROWS, dtype=np.int64),
        class_names=getattr(plan.target, "class_names", ()),
        factor_names=tuple(names),
        name=plan.target.__name__,
    )


def grey(dim: int) -> AbstractMixing:
    """A mixing into small images, where one that is stored is not here."""
    return _Grey(dim, math.prod(GREY), generator=torch.Generator().manual_seed(0))


class _Grey(InjectiveLinear):
    shape_out = GREY
