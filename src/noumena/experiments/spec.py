"""A table file: rows of a published table, the numbers printed for them, and recipes to recompute them.

    title = "..."
    source = "..."                  # paper and table
    seeds = [0, 1, 2, 3, 4]
    [base]                          # what rows share
    space = { kind = "sphere.Sphere", dim = 10 }
    [base.recipes.published]
    encoder = { kind = "mlp.MLP", head = "sphere" }
    [[row]]
    id = "1.1"
    name = "..."
    conditional = { kind = "vmf.VonMisesFisher", kappa = 1.0 }

The world (`space`, `marginal`, `conditional`, `mixing`) and how it is read (`metrics`, `evaluation`) belong to the
row; a recipe says only how one learns (`pairs`, `encoder`, `loss`, `train`). So every recipe of a row is measured in
the same world by the same metrics, by construction.

A row inherits `[base]` by `description.merge`; a recipe is base.recipes.NAME, then row.recipes.NAME. Notes add up.
Everything is validated on loading, except that classes exist and take their arguments, which needs them imported:
`build.check`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _toml
from ._names import nearest
from .description import Description, merge

TABLES = Path(__file__).parent / "tables"

RECIPES = ("published", "fast")
VARIANTS = ("supervised", "plain")  # sections of a recipe that change it into a baseline
BASELINES = ("identity", *VARIANTS)
WORLD = ("space", "marginal", "conditional", "mixing")
LEARNER = ("pairs", "encoder", "loss", "train")
LOSS = "loss"  # may be reported beside metrics

_PAIRS = {"kind": "synthetic.Synthetic"}
_SHARED = (*WORLD, "world_seed", "metrics", "evaluation", "recipes", "baselines", "notes")


@dataclass(frozen=True)
class Reported:
    """One printed number.

    Attributes:
        metric: Name of the metric, or "loss".
        mean, spread: Over the paper's runs; the spread is its standard deviation, None where none is printed.
        source: Table, row and column that it was copied from.
        negatives: How many negatives a loss was measured with: losses compare after subtracting its logarithm.
    """

    metric: str
    mean: float
    spread: float | None
    source: str
    negatives: int | None = None


@dataclass(frozen=True)
class Row:
    """One row, with everything it inherits.

    Attributes:
        table, id, name: What it is called.
        world: `space`, `marginal`, `conditional`, `mixing`, `metrics`, `evaluation` (fresh anchors that scores are
            measured on) and perhaps `world_seed` (whose mixing all seeds share; by default each draws its own).
        recipes: By name: `pairs`, `encoder`, `loss`, `train`, and perhaps the changes to these that make a baseline:
            `supervised`, which is shown the latents, and `plain`, InfoNCE where the recipe has another objective.
        reported: Numbers of the row; `baselines` has those of its baselines, by name.
        notes, recipe_notes: Quirks of the published setting, and deviations from it.
    """

    table: str
    id: str
    name: str
    world: Mapping[str, Any]
    recipes: Mapping[str, Mapping[str, Any]]
    reported: tuple[Reported, ...]
    baselines: Mapping[str, tuple[Reported, ...]]
    notes: tuple[str, ...]
    recipe_notes: Mapping[str, tuple[str, ...]]

    def describe(self, recipe: str, baseline: str | None = None) -> Description:
        """The row under a recipe, as the data that decide its numbers."""
        if recipe not in self.recipes:
            raise LookupError(f"{self._where}: no recipe `{recipe}`; {nearest(recipe, self.recipes)}")
        known = self.baselines_of(recipe)
        if baseline is not None and baseline not in known:
            raise LookupError(f"{self._where}, recipe `{recipe}`: no baseline `{baseline}`; {nearest(baseline, known)}")
        learner = {key: value for key, value in self.recipes[recipe].items() if key in LEARNER}
        if baseline == "identity":
            learner = {"pairs": _PAIRS}
        elif baseline is not None:
            learner = merge(learner, self.recipes[recipe][baseline])
        return Description(self.table, self.id, recipe, baseline, {**self.world, **learner})

    def baselines_of(self, recipe: str) -> tuple[str, ...]:
        """What can stand beside the row under a recipe: the identity always, and what the recipe describes."""
        return ("identity", *(variant for variant in VARIANTS if variant in self.recipes[recipe]))

    @property
    def _where(self) -> str:
        return f"{self.table}, row `{self.id}`"


@dataclass(frozen=True)
class Table:
    """One table file."""

    name: str
    title: str
    source: str
    seeds: tuple[int, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def row(self, id: str) -> Row:
        rows = {row.id: row for row in self.rows}
        if id not in rows:
            raise LookupError(f"{self.name}: no row `{id}`; {nearest(id, rows)}")
        return rows[id]


def table_names() -> list[str]:
    """The tables that come with the package."""
    return sorted(path.relative_to(TABLES).with_suffix("").as_posix() for path in TABLES.rglob("*.toml"))


def load_table(name: str | Path) -> Table:
    """A table of the package by its name, or one of your own by the path of its file, which ends in `.toml`."""
    path = Path(name)
    if path.suffix == ".toml":
        if not path.is_file():
            raise FileNotFoundError(f"no table file `{path}`; `noumena list` names the tables of the package.")
        name = path.name  # run folders are named after a table: not where its file happens to be
    else:
        names = table_names()
        if str(name) not in names:
            raise LookupError(f"no table `{name}`; {nearest(str(name), names)} A file of your own ends in `.toml`.")
        path = TABLES / f"{name}.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{name} is not a TOML file: {error}") from error
    return parse_table(str(name), content)


def parse_table(name: str, content: Mapping[str, Any]) -> Table:
    """The table that a parsed TOML file means; ValueError says which file, row and key are wrong."""
    _toml.known_keys(name, content, ("title", "source", "seeds", "notes", "base", "row"))
    _toml.required_keys(name, content, ("title", "source", "seeds", "row"))
    seeds = [_toml.count(name, "seeds", seed, 0) for seed in _toml.of_kind(name, "seeds", content["seeds"], list)]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"{name}: `seeds` must name at least one seed and none twice, got {seeds}.")
    base = _checked(f"{name}, base", _toml.of_kind(name, "base", content.get("base", {}), dict), _SHARED)
    given = _toml.of_kind(name, "row", content["row"], list)
    rows = tuple(_row(name, i, _toml.of_kind(name, f"row[{i}]", row, dict), base) for i, row in enumerate(given))
    ids = [row.id for row in rows]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError(f"{name}: there must be at least one row and no `id` twice, got {ids}.")
    return Table(
        name=name,
        title=_toml.of_kind(name, "title", content["title"], str),
        source=_toml.of_kind(name, "source", content["source"], str),
        seeds=tuple(seeds),
        rows=rows,
        notes=_toml.texts(name, "notes", content.get("notes", [])),
    )


def _row(table: str, index: int, given: Mapping[str, Any], base: Mapping[str, Any]) -> Row:
    where = f"{table}, row {index + 1}"
    _toml.required_keys(where, given, ("id", "name"))
    id = _toml.of_kind(where, "id", given["id"], str)
    if not re.fullmatch(r"\w[\w.-]*", id, re.ASCII):
        raise ValueError(
            f"{where}: `id` names a folder, so it must be made of letters, digits, `_`, `-`, `.`; got {id!r}."
        )
    where = f"{table}, row `{id}`"
    merged = merge(base, _checked(where, given, ("id", "name", "reported", *_SHARED)))
    _toml.required_keys(where, merged, (*WORLD, "metrics", "recipes"))
    recipes = {name: {"pairs": _PAIRS, **recipe} for name, recipe in merged["recipes"].items()}
    baselines = {name: _reported(where, numbers) for name, numbers in merged.get("baselines", {}).items()}
    for name, recipe in recipes.items():
        _toml.required_keys(f"{where}, recipe `{name}`", recipe, LEARNER)
        recipe.pop("notes", None)
        _toml.required_keys(f"{where}, recipe `{name}`, train", recipe["train"], ("steps", "batch_size", "optimizer"))
        _toml.required_keys(f"{where}, recipe `{name}`", recipe, baselines.keys() - {"identity"})
    world = {key: merged[key] for key in (*WORLD, "metrics")} | {"evaluation": merged.get("evaluation", 4096)}
    if "world_seed" in merged:
        world["world_seed"] = merged["world_seed"]
    return Row(
        table=table,
        id=id,
        name=_toml.of_kind(where, "name", given["name"], str),
        world=world,
        recipes=recipes,
        reported=_reported(where, given.get("reported", [])),
        baselines=baselines,
        notes=_notes(base, given),
        recipe_notes={
            name: _notes(*(part.get("recipes", {}).get(name, {}) for part in (base, given))) for name in recipes
        },
    )


def _checked(where: str, given: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """`[base]` or a row, with its keys and types checked and the short forms written out."""
    _toml.known_keys(where, given, keys)
    checked = dict(given)
    _toml.texts(where, "notes", given.get("notes", []))
    for key in WORLD:
        if key in given:
            checked[key] = _component(where, key, given[key])
    if "metrics" in given:
        metrics = _toml.of_kind(where, "metrics", given["metrics"], list)
        checked["metrics"] = [_component(where, f"metrics[{i}]", metric) for i, metric in enumerate(metrics)]
        if not metrics or any("kind" not in metric for metric in checked["metrics"]):
            raise ValueError(f"{where}: `metrics` must list at least one, each with a `kind`.")
    for key, low in (("evaluation", 1), ("world_seed", 0)):
        if key in given:
            _toml.count(where, key, given[key], low)
    if "recipes" in given:
        recipes = _toml.of_kind(where, "recipes", given["recipes"], dict)
        _toml.known_keys(f"{where}, recipes", recipes, RECIPES)
        checked["recipes"] = {name: _recipe(f"{where}, recipe `{name}`", recipe) for name, recipe in recipes.items()}
    if "baselines" in given:
        baselines = _toml.of_kind(where, "baselines", given["baselines"], dict)
        _toml.known_keys(f"{where}, baselines", baselines, BASELINES)
    return checked


def _recipe(where: str, given: Any, extra: tuple[str, ...] = (*VARIANTS, "notes")) -> dict[str, Any]:
    recipe = dict(_toml.of_kind(where, "recipe", given, dict))
    _toml.known_keys(where, recipe, (*LEARNER, *extra))
    _toml.texts(where, "notes", recipe.get("notes", []))
    for key in LEARNER:
        if key in recipe:
            recipe[key] = _component(where, key, recipe[key])
    train = recipe.get("train", {})
    for key in ("steps", "every", "batch_size"):
        if key in train and not (key == "batch_size" and isinstance(train[key], dict)):
            _toml.count(where, f"train.{key}", train[key])
    for variant in VARIANTS:
        if variant in recipe:
            recipe[variant] = _recipe(f"{where}, {variant}", recipe[variant], extra=())
    return recipe


def _component(where: str, key: str, value: Any) -> dict[str, Any]:
    """A table; a class that needs no arguments may be written as its name alone."""
    value = {"kind": value} if isinstance(value, str) else _toml.of_kind(where, key, value, dict)
    _toml.plain(where, key, value)
    return value


def _reported(where: str, numbers: Any) -> tuple[Reported, ...]:
    reported = []
    for i, given in enumerate(_toml.of_kind(where, "reported", numbers, list)):
        here = f"{where}, reported[{i}]"
        _toml.of_kind(here, "reported", given, dict)
        _toml.known_keys(here, given, Reported.__dataclass_fields__)
        _toml.required_keys(here, given, ("metric", "mean", "source"))
        reported.append(
            Reported(
                metric=_toml.of_kind(here, "metric", given["metric"], str),
                mean=_toml.number(here, "mean", given["mean"]),
                spread=_toml.number(here, "spread", given["spread"]) if "spread" in given else None,
                source=_toml.of_kind(here, "source", given["source"], str),
                negatives=_toml.count(here, "negatives", given["negatives"]) if "negatives" in given else None,
            )
        )
    return tuple(reported)


def _notes(*parts: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(note for part in parts for note in part.get("notes", ()))
