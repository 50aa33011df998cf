"""Rows that differ in a few values, written once: `[[grid]]`.

    [[grid]]
    over = [{ d = [5, 10], widths = [[50], [100]] }, { b = [64, 256, 512] }]
    id = "d{d}-b{b}"
    name = "dimension {d}, batch {b}"
    space = { kind = "sphere.Sphere", dim = "{d}" }
    recipes.fast = { encoder = { widths = "{widths}" }, train = { batch_size = "{b}" } }
    reported = [{ metric = "mcc", mean = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], source = "Figure 1, dimension {d}" }]

Values in one table of `over` vary together, tables of `over` in all combinations, the last one fastest: six rows here.
Everything else is a row in which `{name}` stands for a value: a text that is nothing else becomes the value, of any
kind; within other text it is written out. Expanded before anything else is looked at, so that a row of a grid and the
same row written by hand are one: their digests are equal.
"""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from . import _toml
from ._names import nearest
from .sections import BASELINES

COUNTED = ("mean", "spread", "negatives")  # of a reported number: may be lists, an entry for each row
_NAME = re.compile(r"\{([A-Za-z]\w*)\}")


def expand(where: str, grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a grid, as they would be written by hand."""
    _toml.required_keys(where, grid, ("over",))
    points = _points(f"{where}, over", grid["over"])
    template = {key: value for key, value in grid.items() if key != "over"}
    used: set[str] = set()
    for i, point in enumerate(points):
        row = {
            key: _numbers(f"{where}, {key}", key, value, i, len(points), point, used)
            if key in ("reported", "baselines")
            else _filled(f"{where}, {key}", value, point, used)
            for key, value in template.items()
        }
        yield row
    if unused := [name for name in points[0] if name not in used]:
        raise ValueError(f"{where}: nothing says `{{{unused[0]}}}`, so that rows would not differ by it.")


def _points(where: str, over: Any) -> list[dict[str, Any]]:
    """What the names stand for in each row."""
    axes: list[list[dict[str, Any]]] = []
    names: list[str] = []
    for i, axis in enumerate(_toml.of_kind(where, "over", over, list)):
        here = f"{where}[{i}]"
        values = {name: _toml.of_kind(here, name, given, list) for name, given in _table(here, axis).items()}
        lengths = {name: len(given) for name, given in values.items()}
        if len(set(lengths.values())) != 1 or 0 in lengths.values():
            raise ValueError(f"{here}: values that vary together must be equally many, at least one; got {lengths}.")
        for name in values:
            if name in names or not _NAME.fullmatch(f"{{{name}}}"):
                raise ValueError(f"{here}: names must be words and none twice, got `{name}`.")
            names.append(name)
        axes.append([dict(zip(values, point, strict=True)) for point in zip(*values.values(), strict=True)])
    if not axes:
        raise ValueError(f"{where} must list at least one table of values.")
    return [{name: value for part in parts for name, value in part.items()} for parts in product(*axes)]


def _table(where: str, axis: Any) -> Mapping[str, Any]:
    if not _toml.of_kind(where, "over", axis, dict):
        raise ValueError(f"{where} must name at least one value, such as {{ kappa = [1.0, 2.0] }}.")
    return axis


def _filled(where: str, value: Any, point: Mapping[str, Any], used: set[str]) -> Any:
    """`value` with the names that it says replaced, at any depth."""
    if isinstance(value, Mapping):
        return {key: _filled(f"{where}.{key}", inner, point, used) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(f"{where}[{i}]", inner, point, used) for i, inner in enumerate(value)]
    if not isinstance(value, str):
        return value
    said = _NAME.findall(value)
    for name in said:
        if name not in point:
            raise ValueError(f"{where}: `over` has no `{name}`; {nearest(name, point)}")
    used.update(said)
    if _NAME.fullmatch(value):
        return point[said[0]]
    return _NAME.sub(lambda found: _written(where, found[1], point[found[1]]), value)


def _written(where: str, name: str, value: Any) -> str:
    if isinstance(value, Mapping | list):
        raise ValueError(f"{where}: `{{{name}}}` is {value!r} and cannot stand within a text.")
    return str(value)


def _numbers(
    where: str, key: str, value: Any, i: int, rows: int, point: Mapping[str, Any], used: set[str]
) -> list[Any] | dict[str, Any]:
    """The reported numbers of row `i`, those of its baselines likewise."""
    if key == "baselines":
        baselines = _toml.of_kind(where, key, value, dict)
        _toml.known_keys(where, baselines, BASELINES)
        return {
            name: _numbers(f"{where}.{name}", "reported", numbers, i, rows, point, used)
            for name, numbers in baselines.items()
        }
    found = []
    for j, number in enumerate(_toml.of_kind(where, key, value, list)):
        here = f"{where}[{j}]"
        number = dict(_toml.of_kind(where, f"{key}[{j}]", number, dict))
        number |= {name: _own(here, name, number[name], i, rows) for name in COUNTED if name in number}
        # Of a list that skips a row.
        if not (isinstance(number.get("mean"), float) and math.isnan(number["mean"])):
            found.append(_filled(here, number, point, used))
    return found


def _own(where: str, name: str, given: Any, i: int, rows: int) -> Any:
    if not isinstance(given, list):
        return given
    if len(given) != rows:
        raise ValueError(f"{where}: `{name}` must have an entry for each of the {rows} rows, got {len(given)}.")
    return given[i]
