"""Sections of a table file, checked key by key. Classes are looked up later, by `resolve`."""

from collections.abc import Mapping
from typing import Any

from . import _toml

RECIPES = ("published", "fast", "small")
VARIANTS = ("untrained", "supervised", "plain")  # sections of a recipe that change it into a baseline
BASELINES = ("identity", *VARIANTS)
EMPTY = ("identity", "untrained")  # baselines that say nothing but that they are wanted
LAWS = ("space", "marginal", "conditional", "mixing")
DATA = ("data", "pairs")  # in place of a mixing: images that exist already, and who is paired with whom
WORLD = (*LAWS, *DATA)
LEARNER = ("pairs", "encoder", "loss", "train")
STAGE = ("pairs", "loss", "train")  # what a stage before the main one may say
READERS = ("metrics", "diagnostics")
MODES = ("eval", "train")
SHARED = (
    *(*WORLD, *READERS, "world_seed", "evaluation", "evaluation_mode", "test"),
    *("milestones", "sweep", "recipes", "baselines", "notes"),
)
SMALL = (*WORLD, "diagnostics", "evaluation", "test")  # what the recipe `small` may replace of its row


def row(where: str, given: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """`[base]` or a row, with its keys and types checked and the short forms written out."""
    _toml.known_keys(where, given, keys)
    checked = dict(given)
    _toml.texts(where, "notes", given.get("notes", []))
    for key in WORLD:
        if key in given:
            checked[key] = component(where, key, given[key])
    for key in READERS:
        if key in given:
            readers = _toml.of_kind(where, key, given[key], list)
            checked[key] = [component(where, f"{key}[{i}]", reader) for i, reader in enumerate(readers)]
            if not readers or any("kind" not in reader for reader in checked[key]):
                raise ValueError(f"{where}: `{key}` must list at least one, each with a `kind`.")
    for key, low in (("evaluation", 1), ("world_seed", 0)):
        if key in given:
            _toml.count(where, key, given[key], low)
    if given.get("evaluation_mode", "eval") not in MODES:
        raise ValueError(f"{where}: `evaluation_mode` must be one of {MODES}, got {given['evaluation_mode']!r}.")
    if "test" in given:
        test = _toml.of_kind(where, "test", given["test"], dict)
        _toml.known_keys(f"{where}, test", test, ("marginal", "conditional", "data"))
        checked["test"] = {key: component(f"{where}, test", key, one) for key, one in test.items()}
    if "milestones" in given:
        _milestones(f"{where}, milestones", given["milestones"])
    if "sweep" in given:
        _sweep(f"{where}, sweep", given["sweep"])
    if "recipes" in given:
        recipes = _toml.of_kind(where, "recipes", given["recipes"], dict)
        _toml.known_keys(f"{where}, recipes", recipes, RECIPES)
        checked["recipes"] = {name: recipe(f"{where}, recipe `{name}`", name, one) for name, one in recipes.items()}
    if "baselines" in given:
        baselines = _toml.of_kind(where, "baselines", given["baselines"], dict)
        _toml.known_keys(f"{where}, baselines", baselines, BASELINES)
    return checked


def recipe(where: str, name: str, given: Any) -> dict[str, Any]:
    """How one learns: a learner, perhaps a stage before it and changes that make baselines; or a computation.

    `small` may also have a `world`: what it replaces of the row's.
    """
    replaced = ("world",) if name == "small" else ()
    checked = _part(where, given, (*LEARNER, "compute", "pretrain", *BASELINES, *replaced, "notes"))
    if "pretrain" in checked:
        checked["pretrain"] = _part(f"{where}, pretrain", checked["pretrain"], STAGE)
    for variant in BASELINES:
        if variant in checked:
            keys = () if variant in EMPTY else LEARNER
            checked[variant] = _part(f"{where}, {variant}", checked[variant], keys)
    if "world" in checked:
        world = _toml.of_kind(where, "world", checked["world"], dict)
        checked["world"] = row(f"{where}, world", world, SMALL)
    return checked


def check_world(where: str, world: Mapping[str, Any]) -> None:
    """Laws and a mixing, or data and pairs, perhaps with laws."""
    if "data" not in world:
        _toml.required_keys(where, world, LAWS)
        if "pairs" in world:
            raise ValueError(f"{where}: `pairs` of laws belong to the recipes; a row has them where it has `data`.")
        if "data" in world.get("test", {}):
            raise ValueError(f"{where}: `test.data` needs `data`.")
        return
    _toml.required_keys(where, world, ("pairs",))
    if "mixing" in world:
        raise ValueError(f"{where}: `mixing` must be left out where there are `data`: images exist already.")
    if {"marginal", "conditional"} & world.keys():
        _toml.required_keys(where, world, ("space", "marginal", "conditional"))
    if set(world.get("test", {})) - {"data"}:
        raise ValueError(f"{where}: `test` must name `data` alone where there are `data`.")


def _part(where: str, given: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    checked = dict(_toml.of_kind(where, "recipe", given, dict))
    _toml.known_keys(where, checked, keys)
    _toml.texts(where, "notes", checked.get("notes", []))
    for key in (*LEARNER, "compute"):
        if key in checked:
            checked[key] = component(where, key, checked[key])
    train = checked.get("train", {})
    for key in ("steps", "every", "batch_size"):
        if key in train and not (key == "batch_size" and isinstance(train[key], dict)):
            _toml.count(where, f"train.{key}", train[key])
    return checked


def component(where: str, key: str, value: Any) -> dict[str, Any]:
    """A table; a class that needs no arguments may be written as its name alone."""
    value = {"kind": value} if isinstance(value, str) else _toml.of_kind(where, key, value, dict)
    _toml.plain(where, key, value)
    return value


def _milestones(where: str, given: Any) -> None:
    _toml.of_kind(where, "milestones", given, dict)
    _toml.known_keys(where, given, ("metric", "at"))
    _toml.required_keys(where, given, ("metric", "at"))
    _toml.of_kind(where, "metric", given["metric"], str)
    levels = _toml.of_kind(where, "at", given["at"], list)
    if not [_toml.number(where, f"at[{i}]", level) for i, level in enumerate(levels)]:
        raise ValueError(f"{where}: `at` must list at least one level.")


def _sweep(where: str, given: Any) -> None:
    """`name` and `value` must be there once the row has inherited; the others say how the figure is drawn."""
    _toml.of_kind(where, "sweep", given, dict)
    _toml.known_keys(where, given, ("name", "value", "series", "panel", "draw", "mark"))
    if "value" in given:
        _toml.number(where, "value", given["value"])
    for key in ("name", "series", "panel"):
        _toml.of_kind(where, key, given.get(key, ""), str)
    if "draw" in given:
        for i, metrics in enumerate(_toml.of_kind(where, "draw", given["draw"], list)):
            _toml.texts(where, f"draw[{i}]", [metrics] if isinstance(metrics, str) else metrics)
    if "mark" in given:
        mark = _toml.of_kind(where, "mark", given["mark"], dict)
        _toml.known_keys(f"{where}, mark", mark, ("name", "value"))
        _toml.required_keys(f"{where}, mark", mark, ("name", "value"))
        _toml.of_kind(f"{where}, mark", "name", mark["name"], str)
        _toml.number(f"{where}, mark", "value", mark["value"])
