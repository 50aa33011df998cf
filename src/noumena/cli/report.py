"""`noumena report DIR`: measured beside published."""

import json
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from ..report.load import load
from ..report.table import Line, lines


def run_report(out: str, as_json: bool) -> None:
    found = lines(load(out))
    if as_json:
        print(json.dumps([{**asdict(line), "difference": line.difference} for line in found]))
        return
    # Numbers cut in half help nobody: a narrow terminal wraps lines instead, and a pipe has no width.
    console = Console(width=max(Console().width, 112))
    for name in dict.fromkeys(line.table for line in found):
        console.print(_table(name, [line for line in found if line.table == name]))


def _table(name: str, found: list[Line]) -> Table:
    table = Table(title=name, caption="± is the standard deviation over seeds; the difference is ours less theirs.")
    for heading in ("row", "learner", "metric", "measured", "worst", "published", "difference", "seeds", "s"):
        left = heading in ("row", "learner", "metric")
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for line in found:
        table.add_row(
            line.row,
            line.baseline or line.recipe,
            line.metric,
            _number(line.mean, line.spread),
            f"{line.worst:.4f}",
            "" if line.published is None else _number(line.published, line.published_spread),
            "" if line.difference is None else f"{line.difference:+.4f}",
            str(len(line.seeds)),
            f"{line.seconds:.0f}",
        )
    return table


def _number(mean: float, spread: float | None) -> str:
    return f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread:.4f}"
