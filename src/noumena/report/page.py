"""Everything on one page: tables first, then the pictures of each row. One file, nothing fetched, no script needed."""

import json
from collections.abc import Sequence
from pathlib import Path

from .. import _files
from . import figure
from .factors import factor_table
from .listing import listing
from .load import Run, Unfinished
from .markup import Markup, element, join
from .pictures import row_pictures, sweep_picture
from .sweep import sweeps
from .table import code_versions, lines

_HERE = Path(__file__).parent


def page(runs: Sequence[Run], pending: Sequence[Unfinished] = (), *, every_row: bool = False) -> str:
    """The page as HTML: a function of what lies in the folders, so that the same runs make the same page.

    Args:
        runs: Finished ones, in the order of the page.
        pending: Listed as unfinished.
        every_row: Draw the pictures of rows that are points of a sweep too, which are many.
    """
    by_table: dict[str, list[Run]] = {}
    for run in runs:
        by_table.setdefault(run.outcome["table"], []).append(run)
    title = "noumena: " + (", ".join(by_table) or "no finished run")
    parts = [element("h1", title), _explanation()]
    if not figure.available():
        parts.append(
            element("p", "There are no pictures: they need matplotlib. Install noumena[report].", class_="note")
        )
    parts += [_table(name, members, every_row) for name, members in by_table.items()]
    if pending:
        parts.append(_pending(pending))
    script = element("script", Markup((_HERE / "spheres.js").read_text(encoding="utf-8")))
    body = element("body", element("main", *parts), script)
    return "<!DOCTYPE html>\n" + element("html", head(title), body, lang="en") + "\n"


def head(title: str) -> Markup:
    """Of every page: its title and its looks."""
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup((_HERE / "page.css").read_text(encoding="utf-8"))),
    )


def write(runs: Sequence[Run], pending: Sequence[Unfinished], path: Path, *, every_row: bool = False) -> Path:
    """The page as a file, whole at every moment."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder `{path.parent}` for the page; make it, or name another file.")
    _files.replace(path, page(runs, pending, every_row=every_row).encode())
    return path


def _explanation() -> Markup:
    return element(
        "p",
        "± is the standard deviation over seeds; worst is the seed furthest on the wrong side; the difference is ours "
        "less the published number. Losses are those on fresh pairs, less the logarithm of the number M of negatives; "
        "the floor is the least that any encoder can reach, and the gap what is left to it.",
    )


def _table(name: str, runs: list[Run], every_row: bool) -> Markup:
    about = next((run.about for run in runs if run.about), {})
    names = {run.outcome["row"]: run.about.get("name", "") for run in runs}
    parts = [element("h2", name)]
    if about:
        parts.append(element("p", f"{about['title']}. {about['source']}."))
    parts.append(listing([line for line in lines(runs) if line.factor is None], names))
    parts += [
        element("p", f"{where}: several versions of the code in one row, {', '.join(codes)}.", class_="note")
        for where, codes in code_versions(runs).items()
    ]
    parts.append(_notes(about.get("table_notes", [])))
    swept = sweeps(runs)
    if figure.available():
        parts += [sweep_picture(learner, members) for (_, learner, _), members in swept.items()]
    rows: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        rows.setdefault((run.outcome["row"], run.outcome["recipe"]), []).append(run)
    parts += [_row(members, not swept or every_row) for members in rows.values()]
    if swept and not every_row:
        parts.append(element("p", "`noumena report DIR --row ROW` draws the pictures of a single row.", class_="note"))
    return element("section", *parts)


def _row(runs: list[Run], drawn: bool) -> Markup:
    """Notes, pictures and settings of one row under one recipe."""
    first = runs[0]
    about, outcome = first.about, first.outcome
    learners: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.outcome["baseline"] or "", run.outcome["seed"])):
        # Of several settings of one learner, the pictures are those of the first; tables have them all.
        members = learners.setdefault(run.outcome["baseline"] or run.outcome["recipe"], [])
        if not members or members[0].outcome["digest"] == run.outcome["digest"]:
            members.append(run)
    heading = f"{outcome['row']}: {about['name']}" if about.get("name") else outcome["row"]
    parts = [element("h3", f"{heading} ({outcome['recipe']})")]
    notes = [*about.get("notes", []), *about.get("recipe_notes", [])]
    if outcome.get("no_floor"):
        notes.append(f"The loss has no known floor: {outcome['no_floor']}")
    parts.append(_notes(notes))
    if scores := factor_table(learners):
        parts.append(scores)
    if drawn and figure.available():
        parts.append(element("div", *row_pictures(learners), class_="pictures"))
    settings = {learner: members[0].sections for learner, members in learners.items()}
    made_by = sorted({f"code {run.outcome['code']}, {_machine(run)}" for run in runs})
    parts.append(
        element(
            "details",
            element("summary", "settings"),
            element("pre", json.dumps(settings, indent=1, sort_keys=True)),
            element("p", "; ".join(made_by)),
        )
    )
    return element("article", *parts)


def _machine(run: Run) -> str:
    machine = run.outcome.get("machine") or {}
    return ", ".join(f"{key} {value}" for key, value in machine.items())


def _notes(notes: Sequence[str]) -> Markup:
    return element("ul", *(element("li", note) for note in notes)) if notes else join()


def _pending(pending: Sequence[Unfinished]) -> Markup:
    items = [element("li", f"{run.name}: step {run.step} of {run.steps or '?'}") for run in pending]
    return element("section", element("h2", "Unfinished"), element("ul", *items))
