"""`noumena explain`: the verdict on a row, or one line for each; with `--attack`, a search for a map that beats it."""

import json
import re
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..experiments.attack import attack_row
from ..experiments.explain import Explanation, explain_table
from ..experiments.spec import Row, load_table
from ..report import figure
from ..report.attack import write as write_attack

WIDTH = 100
MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("~", "yellow")}


def run_explain(
    name: str, rows: list[str], recipe: str | None, attacked: bool, steps: int, seed: int, out: str, as_json: bool
) -> None:
    table = load_table(name)
    if attacked and len(rows) != 1:
        raise ValueError("`--attack` searches for one row: name it by `--row`.")
    found = explain_table(table, rows, recipe)
    console = Console()
    if console.width > WIDTH or not console.is_terminal:
        console = Console(width=WIDTH)
    attacks = {}
    if attacked:
        one = found[0]
        with Console(stderr=True).status("searching for a map that beats every isometry"):
            attacks[one.row] = _attack(table.row(one.row), one.recipe, steps, seed, out)
    if as_json:
        print(json.dumps({"table": table.name, "rows": [_to_dict(one, attacks.get(one.row)) for one in found]}))
        return
    if rows:
        for one in found:
            _show(console, one)
            if one.row in attacks:
                _show_attack(console, attacks[one.row])
    else:
        console.print(_overview(table.name, found))
        _line(console, "`noumena explain TABLE --row R` says why.")


def _overview(name: str, found: list[Explanation]) -> Table:
    shown = Table(title=name, box=box.SIMPLE, show_edge=False, pad_edge=False, title_justify="left")
    for heading in ("row", "recipe", "identified up to", "by, or nearest to", "violated"):
        shown.add_column(heading, no_wrap=heading == "row", overflow="fold")
    for one in found:
        verdict = one.verdict
        if verdict is None:
            shown.add_row(one.row, one.recipe, f"({one.reason.split(':')[0]})", "", "")
            continue
        maps = str(verdict.maps) if verdict.speaks else f"? ({verdict.expected})"
        failing = ", ".join(each.name for each in verdict.violated)
        if verdict.encoder is not None and verdict.encoder.holds is False:
            failing = ", ".join(filter(None, (failing, "encoder")))
        by = verdict.theorem.number + ("" if verdict.speaks else "?")
        shown.add_row(one.row, one.recipe, maps, by, failing or "nothing")
    shown.caption = "? no theorem speaks; in brackets what experiments suggest"
    shown.caption_justify = "left"
    return shown


def _show(console: Console, one: Explanation) -> None:
    console.rule(f"{one.table}, row {one.row}, recipe {one.recipe}", align="left")
    _line(console, one.name)
    verdict = one.verdict
    if verdict is None:
        _line(console, one.summary)
        return
    style = "green" if verdict.speaks else "yellow"
    console.print(Text(f"verdict: {verdict.summary}", style=style))
    _line(console, f"statement: {verdict.theorem}: {verdict.theorem.says}")
    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(no_wrap=True)
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for each in verdict.assumptions:
        mark, colour = MARKS[each.holds]
        aside = "" if each.needed else " (not needed here)"
        shown.add_row(Text(mark, style=colour), Text(each.name), Text(each.reason + aside))
    if verdict.encoder is not None:
        mark, colour = MARKS[verdict.encoder.holds]
        shown.add_row(Text(mark, style=colour), Text("encoder"), Text(verdict.encoder.reason))
    console.print(shown)
    if one.reason:
        _line(console, f"note: {one.reason}")
    for label, texts in (
        ("repair", verdict.repairs),
        ("experiment, no proof", [f"{found.found} ({found.source})" for found in verdict.evidence]),
        ("note", verdict.remarks),
    ):
        for text in texts:
            _line(console, f"{label}: {text}")


def _attack(row: Row, recipe: str, steps: int, seed: int, out: str) -> dict[str, Any]:
    """Plain data, and the picture written."""
    made = attack_row(row, recipe, steps=steps, seed=seed)
    found = made.found
    data: dict[str, Any] = {
        "isometries": found.isometries,
        "found": found.found,
        "gap": found.gap,
        "error": found.error,
        "beyond": found.beyond,
        "infimum": found.infimum,
        "start": found.start,
        "steps": steps,
        "seed": seed,
        "picture": None,
        "curves": {name: curve.to_dict() for name, curve in found.curves.items()},
    }
    if figure.available():
        stem = re.sub(r"[^\w.-]+", "-", f"attack-{row.table}-{row.id}-{recipe}")
        path = Path(out) / f"{stem}.svg"
        write_attack(path, found.curves, made.z, made.h, found.isometries, found.infimum)
        data["picture"] = str(path)
    return data


def _show_attack(console: Console, data: dict[str, Any]) -> None:
    console.rule("attack", align="left")
    bound = "" if data["infimum"] is None else f", no map goes below {data['infimum']:.5f}"
    _line(console, f"limit loss less log M: isometries {data['isometries']:.5f}, best map {data['found']:.5f}{bound}")
    verdict = "a map beats every isometry" if data["beyond"] else "no map was found that beats the isometries"
    told = f"{verdict}: gap {data['gap']:.5f} ± {data['error']:.5f}, from start {data['start']}, {data['steps']} steps"
    console.print(Text(told, style="red" if data["beyond"] else "green"))
    if data["picture"] is None:
        _line(console, "There is no picture: it needs matplotlib. Install noumena[report].")
    else:
        console.print(f"picture: {data['picture']}", markup=False, highlight=False, soft_wrap=True)


def _to_dict(one: Explanation, attacked: dict[str, Any] | None) -> dict[str, Any]:
    listed: dict[str, Any] = {"row": one.row, "recipe": one.recipe, "name": one.name, "summary": one.summary}
    listed["verdict"] = None if one.verdict is None else one.verdict.to_dict()
    return listed if attacked is None else {**listed, "attack": attacked}


def _line(console: Console, text: str) -> None:
    # Brackets and numbers are text, not markup.
    console.print(text, markup=False, highlight=False)
