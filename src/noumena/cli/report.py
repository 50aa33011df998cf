"""`noumena report DIR`: measured beside published, as a table here and with pictures on a page."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from ..report import figure
from ..report.files import write_pictures
from ..report.listing import number, signed
from ..report.load import load, unfinished
from ..report.page import write
from ..report.table import Line, code_versions, lines

PAGE = "report.html"
WIDTH = 136


def run_report(
    out: str,
    *,
    html: str | None = None,
    pictures: str | None = None,
    tables: Sequence[str] = (),
    rows: Sequence[str] = (),
    every_number: bool = False,
    as_json: bool = False,
) -> None:
    runs, pending = load(out, tables, rows), unfinished(out, tables, rows)
    written = write(runs, pending, Path(html) if html else Path(out) / PAGE, every_row=bool(rows))
    drawn = write_pictures(written.read_text(encoding="utf-8"), Path(pictures)) if pictures else []
    found = lines(runs)
    if as_json:
        listed = [{**asdict(line), "difference": line.difference} for line in found]
        printed = {"lines": listed, "unfinished": [asdict(run) for run in pending], "page": str(written)}
        print(json.dumps({**printed, "pictures": [str(path) for path in drawn]}))
        return
    # Numbers cut in half help nobody: a narrow terminal wraps lines instead, and a pipe has no width.
    console = Console(width=max(Console().width, WIDTH))
    shown = found if every_number else _short(found)
    for name in dict.fromkeys(line.table for line in shown):
        console.print(_table(name, [line for line in shown if line.table == name]))
    if len(shown) < len(found):
        _line(console, f"{len(found) - len(shown)} more numbers are on the page; --all prints them here.")
    for where, codes in code_versions(runs).items():
        _line(console, f"{where}: several versions of the code in one row, {', '.join(codes)}.")
    for run in pending:
        _line(console, f"unfinished: {run.name}, step {run.step} of {run.steps or '?'}")
    if not figure.available():
        _line(console, "The page has no pictures: they need matplotlib. Install noumena[report].")
    _line(console, f"page: {written}")
    for path in drawn:
        _line(console, f"picture: {path}")


def _table(name: str, found: list[Line]) -> Table:
    gaps = any(line.gap is not None for line in found)
    caption = "± is the standard deviation over seeds; the difference is ours less theirs; core s is processor time"
    if gaps:
        caption += "; the gap is what the loss on fresh pairs leaves to its floor, both less log M"
    table = Table(title=name, caption=caption, box=box.SIMPLE)
    left = ("row", "learner", "metric")
    beside = ("floor", "gap") if gaps else ()
    for heading in (*left, "measured", "worst", "published", "difference", *beside, "seeds", "core s"):
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    settings = {(line.row, line.learner): set[str]() for line in found}
    for line in found:
        settings[line.row, line.learner].add(line.digest)
    before = None
    for line in found:
        several = len(settings[line.row, line.learner]) > 1
        learner = f"{line.learner} ({line.digest[:6]})" if several else line.learner
        # What a line shares with the one above it stands there.
        first = (line.row, learner) != before
        row = line.row if before is None or line.row != before[0] else ""
        before = (line.row, learner)
        table.add_row(
            row,
            learner if first else "",
            line.metric,
            number(line.mean, line.spread),
            number(line.worst),
            number(line.published, line.published_spread),
            signed(line.difference),
            *((number(line.floor), signed(line.gap)) if gaps else ()),
            str(len(line.seeds)) if first else "",
            f"{line.core_seconds:.0f}" if first else "",
        )
    return table


def _short(found: Sequence[Line]) -> list[Line]:
    """What has a published number, or is the loss; of a baseline without any, the row's first such metric. All of a
    row where nothing is published."""
    shown = []
    for line in found:
        if line.factor is not None and line.published is None:
            continue
        own = [one for one in found if one.row == line.row and one.recipe == line.recipe]
        published = [one.metric for one in own if one.published is not None]
        mine = [one for one in own if one.learner == line.learner and one.published is not None]
        if not published or line.published is not None or line.metric.startswith("loss"):
            shown.append(line)
        elif line.baseline and not mine and line.metric == published[0]:
            shown.append(line)
    return shown


def _line(console: Console, text: str) -> None:
    # Brackets and numbers are text, not markup; a path that is broken is no path.
    console.print(text, markup=False, highlight=False, soft_wrap=True)
