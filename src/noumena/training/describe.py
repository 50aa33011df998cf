"""How a run is trained, as a table of names and numbers, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from .. import _checks
from .ema import EMA
from .optim import SGD, AbstractOptimizer, Adam, AdamW, Muon
from .schedules import Annealing, BatchGrowth, Schedule
from .target import Target

OPTIMIZERS: dict[str, type[AbstractOptimizer]] = {kind.__name__: kind for kind in (Adam, AdamW, Muon, SGD)}
PARTS = {"schedule": Schedule, "annealing": Annealing, "batch_size": BatchGrowth, "ema": EMA, "until": Target}
NUMBERS = ("steps", "clip", "precision", "chunk", "every")


def options(table: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `train` that a table describes; an unknown name is answered with the nearest.

        steps      = 3000
        batch_size = 512                                     # or { start = 2048, end = 6144 }
        optimizer  = { kind = "Muon", lr = 0.15, rest = { kind = "Adam", lr = 1e-2, rates = { loss = 4.0 } } }
        schedule   = { warmup = 0.02 }
        annealing  = { start = 1.5, end = 0.3 }              # or a list of them
        ema        = { decay = 0.999 }
        until      = { metric = "linear_r2", at_least = 0.999 }

    `clip`, `precision`, `chunk` and `every` are what `train` says. Values that are objects already are left alone.
    """
    _checks.kind("table", table, Mapping)
    return {_checks.choice("train", name, (*NUMBERS, "optimizer", *PARTS)): _part(name, table[name]) for name in table}


def to_table(value: Any) -> Any:
    """What `options` reads: of a description, of a mapping of them, or of a plain value. None is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        entries = {field.name: to_table(getattr(value, field.name)) for field in fields(value)}
        kind = {"kind": type(value).__name__} if isinstance(value, AbstractOptimizer) else {}
        return kind | {name: entry for name, entry in entries.items() if entry is not None and entry != {}}
    if isinstance(value, Mapping):
        return {name: to_table(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_table(entry) for entry in value]
    return value


def _part(name: str, value: Any) -> Any:
    if name == "annealing" and isinstance(value, Sequence):
        return tuple(_part(name, one) for one in value)
    if not isinstance(value, Mapping):
        return value
    if name == "optimizer":
        return _optimizer(name, value)
    if name in PARTS:
        return _construct(name, PARTS[name], value)
    raise TypeError(f"`{name}` must be a plain value, got a table of {sorted(value)}.")


def _optimizer(name: str, table: Mapping[str, Any]) -> AbstractOptimizer:
    if "kind" not in table:
        raise ValueError(f"`{name}` must name its `kind`: one of {', '.join(map(repr, OPTIMIZERS))}.")
    # Tables elsewhere name classes by module, so "optim.Muon" is taken as "Muon" is.
    kind = OPTIMIZERS[_checks.choice(f"{name}.kind", str(table["kind"]).removeprefix("optim."), OPTIMIZERS)]
    rest = {"rest": _optimizer(f"{name}.rest", table["rest"])} if isinstance(table.get("rest"), Mapping) else {}
    return _construct(name, kind, {key: entry for key, entry in table.items() if key != "kind"} | rest)


def _construct(name: str, kind: type, table: Mapping[str, Any]) -> Any:
    known = {field.name: field for field in fields(kind)}
    for key in table:
        _checks.choice(name, key, known)
    for key, field in known.items():
        if key not in table and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"`{name}` must say its `{key}`; it has {sorted(table)}.")
    return kind(**table)
