"""`noumena report DIR`: measured beside published, as a table here and with pictures on a page."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..report import figure
from ..report.files import write_pictures
from ..report.listing import number, signed
from ..report.load import load, unfinished
from ..report.page import write
from ..report.table import Line, code_versions, lines

PAGE = "report.html"
WIDTH = 132


def run_report(
    out: str,
    *,
    html: str | None = None,
    pictures: str | None = None,
    tables: Sequence[str] = (),
    rows: Sequence[str] = (),
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
    for name in dict.fromkeys(line.table for line in found):
        console.print(_table(name, [line for line in found if line.table == name]))
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
    caption = (
        "± is the standard deviation over seeds; the difference is ours less theirs; "
        "the gap is what the loss on fresh pairs leaves to its floor, both less log M; "
        "s is training time, core s processor time, which other work on the machine does not stretch"
    )
    table = Table(title=name, caption=caption)
    left = ("row", "learner", "metric")
    for heading in (*left, "measured", "worst", "published", "difference", "floor", "gap", "seeds", "s", "core s"):
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    settings = {(line.row, line.learner): set[str]() for line in found}
    for line in found:
        settings[line.row, line.learner].add(line.digest)
    for line in found:
        several = len(settings[line.row, line.learner]) > 1
        shown = (number(line.published, line.published_spread), signed(line.difference), number(line.floor))
        table.add_row(
            line.row,
            f"{line.learner} ({line.digest[:6]})" if several else line.learner,
            line.metric,
            number(line.mean, line.spread),
            number(line.worst),
            *shown,
            signed(line.gap),
            str(len(line.seeds)),
            f"{line.seconds:.0f}",
            f"{line.core_seconds:.0f}",
        )
    return table


def _line(console: Console, text: str) -> None:
    # Brackets and numbers are text, not markup; a path that is broken is no path.
    console.print(text, markup=False, highlight=False, soft_wrap=True)
