"""`noumena list`: the tables, their rows and the numbers printed for them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ..experiments.spec import BASELINES, LOSS, RECIPES, Reported, Row, load_table, table_names
from ..experiments.spec import Table as TableFile

TITLES = {"linear_r2_in_sample": "R²", "mcc_in_sample": "MCC", "angle_error": "angle", LOSS: "loss"}
TITLES |= {"linear_r2": "R² held out", "mcc_spearman_padded_in_sample": "MCC of ranks", "knn_accuracy": "kNN"}
TITLES |= {"linear_probe": "probe", "sgd_probe_best": "best probe"}
MANY = 14  # rows of a table, beyond which those of a sweep share a line
COMPUTED = "computed"  # a recipe that trains nothing
VARIED = "varied"  # rows of one line have recipes of a cost that no range tells


def run_list(name: str | None, as_json: bool) -> None:
    tables = [load_table(one) for one in ([name] if name is not None else table_names())]
    if as_json:
        print(json.dumps({"tables": [_to_dict(table) for table in tables]}))
        return
    console = Console()
    for table in tables:
        _heading(console, table)
        console.print(_overview(table) if name is None else _numbers(table))
        if name is not None:
            _rest(console, table)
    if name is None:
        _line(console, "A line with a number in brackets stands for that many rows, which differ in what it names.")
        _line(console, "R² and MCC are fitted and scored on the same rows, as printed in the papers.")
        _line(console, "`noumena list TABLE` adds names, spreads, baselines, other numbers and notes.")


def _heading(console: Console, table: TableFile) -> None:
    console.rule(table.name, align="left")
    _line(console, f"{table.title}. {table.source}. {len(table.seeds)} seeds; recipes are steps x pairs.")


def _overview(table: TableFile) -> Table:
    """One line for each row, or for each series of a sweep, narrow enough for 80 columns: means alone."""
    lines = _lines(table)
    # A series has many means, which stand with the rows.
    reported = {number.metric for rows in lines if len(rows) == 1 for number in rows[0].reported}
    metrics = [metric for metric in TITLES if metric in reported]
    recipes = [recipe for recipe in RECIPES if any(recipe in row.recipes for row in table.rows)]
    shown = _table("row", *(TITLES[metric] for metric in metrics), *recipes)
    for rows in lines:
        first = rows[0]
        if len(rows) == 1:
            means = {number.metric: f"{number.mean:.4f}" for number in first.reported}
            cells = [first.id, *(means.get(metric, "") for metric in metrics)]
        else:
            cells = [_series(rows), *("" for _ in metrics)]
        shown.add_row(*cells, *(_budgets(rows, recipe) for recipe in recipes))
    return shown


def _lines(table: TableFile) -> list[list[Row]]:
    """The rows, those of one series of a sweep together where there are many."""
    lines: dict[Any, list[Row]] = {}
    for row in table.rows:
        swept = row.sweep if len(table.rows) > MANY else None
        key = row.id if swept is None else tuple(swept.get(part, "") for part in ("name", "panel", "series"))
        lines.setdefault(key, []).append(row)
    return list(lines.values())


def _series(rows: list[Row]) -> str:
    """Which rows a line stands for."""
    sweeps = [row.sweep for row in rows if row.sweep is not None]
    values = [sweep["value"] for sweep in sweeps]
    what = ", ".join(filter(None, (sweeps[0].get(part, "") for part in ("panel", "series"))))
    return f"{what + ', ' if what else ''}{sweeps[0]['name']} {min(values):g}..{max(values):g} ({len(rows)})"


def _numbers(table: TableFile) -> Table:
    """One line for each reported number, with those of the baselines."""
    baselines = [name for name in BASELINES if any(name in row.baselines for row in table.rows)]
    shown = _table("row", "metric", "reported", *baselines)
    for row in table.rows:
        given = {name: {one.metric: _number(one) for one in numbers} for name, numbers in row.baselines.items()}
        for i, number in enumerate(row.reported):
            others = (given.get(baseline, {}).get(number.metric, "") for baseline in baselines)
            shown.add_row(row.id if i == 0 else "", number.metric, _number(number), *others)
    return shown


def _rest(console: Console, table: TableFile) -> None:
    """Names and recipes of the rows, and every note once, with the rows that it speaks of."""
    for row in table.rows:
        budgets = "; ".join(f"{recipe} {_budget(row, recipe)}" for recipe in row.recipes)
        _line(console, f"{row.id}: {row.name} ({budgets})")
    console.print()
    for note in table.notes:
        _line(console, f"- {note}")
    for label, of in {"": lambda row: row.notes, **{one: _recipe_notes(one) for one in RECIPES}}.items():
        for note in dict.fromkeys(note for row in table.rows for note in of(row)):
            where = " ".join(filter(None, (label, _which(table, [note in of(row) for row in table.rows]))))
            _line(console, f"- {where}: {note}" if where else f"- {note}")


def _which(table: TableFile, chosen: list[bool]) -> str:
    """The rows that are chosen, those in succession by the first and the last; nothing where all are."""
    parts = []
    for within, members in groupby(zip(chosen, table.rows, strict=True), key=lambda member: member[0]):
        ids = [row.id for _, row in members]
        if within:
            parts += [f"{ids[0]} to {ids[-1]}"] if len(ids) > 2 else ids
    return "" if all(chosen) else ", ".join(parts)


def _recipe_notes(recipe: str) -> Callable[[Row], tuple[str, ...]]:
    return lambda row: row.recipe_notes.get(recipe, ())


def _line(console: Console, text: str) -> None:
    # Brackets and numbers of a note are text, not markup.
    console.print(text, markup=False, highlight=False)


def _table(*headings: str) -> Table:
    shown = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, collapse_padding=True)
    for heading in headings:
        shown.add_column(heading, justify="left" if heading in ("row", "metric") else "right", no_wrap=True)
    return shown


def _number(reported: Reported) -> str:
    return f"{reported.mean:.4f}" + ("" if reported.spread is None else f" ± {reported.spread:.4f}")


def _budget(row: Row, recipe: str) -> str:
    if recipe not in row.recipes:
        return ""
    given = row.recipes[recipe]
    if "compute" in given:
        return COMPUTED
    stages = [given["pretrain"]["train"]] if "pretrain" in given else []
    stages.append(given["train"])
    steps = "+".join(str(train["steps"]) for train in stages)
    return f"{steps} x {_pairs(stages[-1]['batch_size'])}"


def _budgets(rows: list[Row], recipe: str) -> str:
    """What the rows of a line cost: the range of steps and of pairs, where that can be said."""
    every = {_budget(row, recipe) for row in rows}
    if len(every) == 1:
        return every.pop()
    parts = [budget.split(" x ") for budget in every]
    if not all(len(part) == 2 and part[0].isdecimal() and part[1].isdecimal() for part in parts):
        return VARIED
    ends = [sorted({int(number) for number in numbers}) for numbers in zip(*parts, strict=True)]
    return " x ".join(f"{one[0]}..{one[-1]}" if len(one) > 1 else str(one[0]) for one in ends)


def _pairs(batch_size: int | Mapping[str, Any]) -> str:
    if isinstance(batch_size, int):
        return str(batch_size)
    return f"{batch_size.get('start', '?')}-{batch_size.get('end', '?')}"


def _to_dict(table: TableFile) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "seeds": list(table.seeds),
        "notes": list(table.notes),
        "rows": [
            {
                "id": row.id,
                "name": row.name,
                "notes": list(row.notes),
                "reported": [asdict(number) for number in row.reported],
                "baselines": {name: [asdict(number) for number in given] for name, given in row.baselines.items()},
                "recipes": {
                    recipe: {
                        **_cost(row, recipe),
                        "baselines": list(row.baselines_of(recipe)),
                        "notes": list(row.recipe_notes[recipe]),
                        "digest": row.describe(recipe).digest,
                    }
                    for recipe in row.recipes
                },
            }
            for row in table.rows
        ],
    }


def _cost(row: Row, recipe: str) -> dict[str, Any]:
    """Steps and batch of the last stage; steps of the stages before it by themselves."""
    given = row.recipes[recipe]
    if "compute" in given:
        return {"steps": 0, "batch_size": None, "pretrain_steps": 0}
    before = given["pretrain"]["train"]["steps"] if "pretrain" in given else 0
    return {"steps": given["train"]["steps"], "batch_size": given["train"]["batch_size"], "pretrain_steps": before}
