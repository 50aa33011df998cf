"""Tables of images that a description names: loaded once in a process, or stood in for where none is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..data.base import AbstractImageTable, InMemory
from .resolve import Plan

ROWS = 4096  # of a stand-in
KEPT = 8  # tables in one process; a row has two or three


@dataclass(frozen=True)
class _Described:
    """A plan that is another one's equal if their descriptions are."""

    text: str
    plan: Plan = field(compare=False)


def loaded(plan: Plan) -> AbstractImageTable:
    """The table itself; equal descriptions share one, since a diagnostic often reads what training reads."""
    return _loaded(_Described(_text(plan), plan))


@lru_cache(maxsize=KEPT)
def _loaded(described: _Described) -> AbstractImageTable:
    return described.plan.build()


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
    the class states, or the `size` that the table file gives; of classes and factors no more is known than the class
    says.
    """
    size = plan.arguments.get("size", 64)
    shape = getattr(plan.target, "shape", (3, size, size))
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
