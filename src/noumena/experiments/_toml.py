"""Values of a table file, checked where they are read. Needs no torch, so that listing tables stays quick."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ._names import nearest

KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


def of_kind(where: str, key: str, value: Any, kind: type) -> Any:
    """`value`, if it is what `key` asks for; a whole number counts as a number, true and false do not."""
    accepted = (int, float) if kind is float else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{where}: `{key}` must be {KINDS[kind]}, got {value!r}.")
    return value


def number(where: str, key: str, value: Any) -> float:
    value = of_kind(where, key, value, float)
    if not math.isfinite(value):
        raise ValueError(f"{where}: `{key}` must be finite, got {value!r}.")
    return float(value)


def count(where: str, key: str, value: Any, low: int = 1) -> int:
    if of_kind(where, key, value, int) < low:
        raise ValueError(f"{where}: `{key}` must be at least {low}, got {value}.")
    return value


def texts(where: str, key: str, value: Any) -> tuple[str, ...]:
    return tuple(of_kind(where, f"{key}[{i}]", text, str) for i, text in enumerate(of_kind(where, key, value, list)))


def known_keys(where: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    keys = list(keys)
    for key in table:
        if key not in keys:
            raise ValueError(f"{where}: unknown key `{key}`; {nearest(key, keys)}")


def required_keys(where: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    missing = [f"`{key}`" for key in keys if key not in table]
    if missing:
        raise ValueError(f"{where}: {', '.join(missing)} must be given.")


def plain(where: str, key: str, value: Any) -> None:
    """Refuse what a description cannot hold: dates, and numbers that are not finite."""
    if isinstance(value, dict):
        for name, inner in value.items():
            plain(where, f"{key}.{name}", inner)
        if "kind" in value:
            of_kind(where, f"{key}.kind", value["kind"], str)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            plain(where, f"{key}[{i}]", inner)
    elif isinstance(value, float):
        number(where, key, value)
    elif not isinstance(value, str | int):
        raise ValueError(f"{where}: `{key}` must be text, a number, true, false, a list or a table, got {value!r}.")
