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

Rows that differ in a few values may be written together, as a `[[grid]]` (`grid.expand`).

The world (`space`, `marginal`, `conditional`, `mixing`, or `data` and `pairs`) and how it is read (`metrics`,
`diagnostics`, `evaluation`, `test`, `milestones`) belong to the row; a recipe says only how one learns (`pairs`,
`encoder`, `loss`, `train`, `pretrain`), or what is computed without learning (`compute`). So every recipe of a row is
measured in the same world by the same metrics, by construction. The one exception is called `small`, for rows whose
data or time are out of reach: it may replace parts of the world, in a section of that name, and says so in its notes.

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

from . import _toml, grid, sections
from ._names import nearest
from .description import Description, merge
from .sections import BASELINES as BASELINES
from .sections import LEARNER, SHARED, WORLD
from .sections import RECIPES as RECIPES

TABLES = Path(__file__).parent / "tables"

LOSS = "loss"  # may be reported beside metrics

_PAIRS = {"kind": "synthetic.Synthetic"}
_TRAIN = ("steps", "batch_size", "optimizer")


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
        world: `space`, `marginal`, `conditional`, `mixing`, or `data` and `pairs` with perhaps the first three;
            `metrics`, `evaluation` (fresh anchors that scores are measured on) and perhaps `evaluation_mode` (of the
            encoder meanwhile), `world_seed` (whose mixing all seeds share; by default each draws its own), `test` (the
            laws or data that scores are measured under, where others than in training), `diagnostics` and `milestones`
            (levels of a metric whose first step is kept).
        recipes: By name: `pairs`, `encoder`, `loss`, `train`, perhaps `pretrain` (how the encoder is trained before),
            and perhaps the changes to these that make a baseline: `supervised`, which is shown the latents, `plain`,
            InfoNCE where the recipe has another objective, and `untrained`, the encoder as it begins. Or `compute`
            alone: nothing is trained. `small` may have a `world`, which is put over the row's.
        reported: Numbers of the row; `baselines` has those of its baselines, by name.
        notes, recipe_notes: Quirks of the published setting, and deviations from it.
        sweep: Where the row stands in a figure that varies one number: `name` and `value`, and perhaps `series`,
            `panel`, `draw` and `mark`, which say how it is drawn.
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
    sweep: Mapping[str, Any] | None = None

    def describe(self, recipe: str, baseline: str | None = None) -> Description:
        """The row under a recipe, as the data that decide its numbers."""
        if recipe not in self.recipes:
            raise LookupError(f"{self._where}: no recipe `{recipe}`; {nearest(recipe, self.recipes)}")
        known = self.baselines_of(recipe)
        if baseline is not None and baseline not in known:
            raise LookupError(f"{self._where}, recipe `{recipe}`: no baseline `{baseline}`; {nearest(baseline, known)}")
        given = self.recipes[recipe]
        learner = {key: given[key] for key in (*LEARNER, "pretrain") if key in given}
        if "compute" in given:
            learner = {"compute": given["compute"]}
        elif baseline == "identity":
            learner = {"pairs": given["pairs"] if self._of_data else _PAIRS}
        elif baseline == "untrained":
            learner = {key: learner[key] for key in ("pairs", "encoder", "loss")}
        elif baseline is not None:
            learner = merge(learner, given[baseline])
            learner.pop("pretrain", None)  # a baseline learns in one stage
        return Description(self.table, self.id, recipe, baseline, {**self.world_of(recipe), **learner})

    def world_of(self, recipe: str) -> dict[str, Any]:
        """The row's, with what the recipe `small` replaces of it."""
        return merge(self.world, self.recipes[recipe].get("world", {}))

    def baselines_of(self, recipe: str) -> tuple[str, ...]:
        """What can stand beside the row under a recipe: what the recipe describes, and the identity always, but for
        images, which are too large for some readers: there the recipe says that it is wanted."""
        given = self.recipes[recipe]
        if "compute" in given:
            return ()
        return tuple(name for name in BASELINES if name in given or (name == "identity" and not self._of_data))

    @property
    def _of_data(self) -> bool:
        return "data" in self.world

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
    _toml.known_keys(name, content, ("title", "source", "seeds", "notes", "base", "row", "grid"))
    _toml.required_keys(name, content, ("title", "source", "seeds", *(() if "grid" in content else ("row",))))
    seeds = [_toml.count(name, "seeds", seed, 0) for seed in _toml.of_kind(name, "seeds", content["seeds"], list)]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"{name}: `seeds` must name at least one seed and none twice, got {seeds}.")
    base = sections.row(f"{name}, base", _toml.of_kind(name, "base", content.get("base", {}), dict), SHARED)
    given = {f"row {i + 1}": row for i, row in enumerate(_tables(name, "row", content))}
    for i, one in enumerate(_tables(name, "grid", content)):
        where = f"grid {i + 1}"
        given |= {f"{where}, row {j + 1}": row for j, row in enumerate(grid.expand(f"{name}, {where}", one))}
    rows = tuple(_row(name, place, row, base) for place, row in given.items())
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


def _tables(name: str, key: str, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = _toml.of_kind(name, key, content.get(key, []), list)
    return [_toml.of_kind(name, f"{key}[{i}]", one, dict) for i, one in enumerate(given)]


def _row(table: str, place: str, given: Mapping[str, Any], base: Mapping[str, Any]) -> Row:
    where = f"{table}, {place}"
    _toml.required_keys(where, given, ("id", "name"))
    id = _toml.of_kind(where, "id", given["id"], str)
    if not re.fullmatch(r"\w[\w.-]*", id, re.ASCII):
        raise ValueError(
            f"{where}: `id` names a folder, so it must be made of letters, digits, `_`, `-`, `.`; got {id!r}."
        )
    where = f"{table}, row `{id}`"
    merged = merge(base, sections.row(where, given, ("id", "name", "reported", *SHARED)))
    _toml.required_keys(where, merged, ("recipes",))
    kept = ("metrics", "world_seed", "test", "diagnostics", "milestones", "evaluation_mode")
    world = {key: merged[key] for key in (*WORLD, *kept) if key in merged}
    sections.check_world(where, world)
    recipes = {
        name: _recipe(f"{where}, recipe `{name}`", recipe, world, _notes(*_parts(name, base, given)))
        for name, recipe in merged["recipes"].items()
    }
    trained = [name for name, recipe in recipes.items() if "compute" not in recipe]
    if trained and not ("data" in world and "diagnostics" in world):
        _toml.required_keys(where, merged, ("metrics",))
    baselines = {name: _reported(where, numbers) for name, numbers in merged.get("baselines", {}).items()}
    for name in trained:
        here, recipe = f"{where}, recipe `{name}`", recipes[name]
        _toml.required_keys(here, recipe, LEARNER)
        _toml.required_keys(f"{here}, train", recipe["train"], _TRAIN)
        _toml.required_keys(here, recipe, baselines.keys() - {*sections.EMPTY})
        if "pretrain" in recipe:
            stage = recipe["pretrain"] = merge({key: recipe[key] for key in sections.STAGE}, recipe["pretrain"])
            _toml.required_keys(f"{here}, pretrain, train", stage["train"], _TRAIN)
    if "sweep" in merged:
        _toml.required_keys(f"{where}, sweep", merged["sweep"], ("name", "value"))
    world |= {"metrics": world.get("metrics", []), "evaluation": merged.get("evaluation", 4096)}
    return Row(
        table=table,
        id=id,
        name=_toml.of_kind(where, "name", given["name"], str),
        world=world,
        recipes=recipes,
        reported=_reported(where, given.get("reported", [])),
        baselines=baselines,
        notes=_notes(base, given),
        recipe_notes={name: _notes(*_parts(name, base, given)) for name in recipes},
        sweep=merged.get("sweep"),
    )


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


def _recipe(where: str, given: Mapping[str, Any], world: Mapping[str, Any], notes: tuple[str, ...]) -> dict[str, Any]:
    """With the pairs that it has where it says none: those of its world, or of the laws of one."""
    recipe = {key: value for key, value in given.items() if key != "notes"}
    if "world" in recipe:
        if not notes:
            raise ValueError(f"{where}: `notes` must say what `world` replaces.")
        world = merge(world, recipe["world"])
        sections.check_world(f"{where}, world", world)
    if "data" not in world:
        return {"pairs": _PAIRS, **recipe}
    stages = {"pairs": recipe.get("pairs", {}), "pretrain.pairs": recipe.get("pretrain", {}).get("pairs", {})}
    for key, pairs in stages.items():
        if "kind" in pairs:
            raise ValueError(f"{where}: `{key}` must leave out `kind`: the row says who is paired with whom.")
    return {**recipe, "pairs": merge(world["pairs"], stages["pairs"])}


def _parts(recipe: str, base: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What the base and the row say of a recipe."""
    return tuple(part.get("recipes", {}).get(recipe, {}) for part in (base, row))


def _notes(*parts: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(note for part in parts for note in part.get("notes", ()))
