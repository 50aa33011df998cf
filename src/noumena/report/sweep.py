"""Rows that vary one number -> one figure: a panel for each metric, a line for each series."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .figure import COLOURS, Panel, logarithmic
from .load import Run, groups
from .table import Line, lines

Point = tuple[float, Line]


def sweeps(runs: Sequence[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """Runs of rows that say their place in a sweep, by table, learner and the number that varies."""
    found: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
    for run in runs:
        if run.about.get("sweep"):
            learner = run.outcome["baseline"] or run.outcome["recipe"]
            found[run.outcome["table"], learner, run.about["sweep"]["name"]].append(run)
    return dict(found)


def sweep_panels(runs: Sequence[Run]) -> list[Panel]:
    """A panel for each metric that has a published number, or for the first of each kind where none has."""
    name = runs[0].about["sweep"]["name"]
    series: dict[str, dict[str, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for members in groups(runs).values():
        place = members[0].about["sweep"]
        for line in lines(members):
            series[line.metric][place.get("series", "")].append((place["value"], line))
    printed = [
        metric
        for metric, of in series.items()
        if any(line.published is not None for points in of.values() for _, line in points)
    ]
    kept = printed or [one for one in series if one.removesuffix("_in_sample") not in series or "_in_" not in one]
    return [_panel(name, metric, series[metric]) for metric in kept]


def _panel(name: str, metric: str, series: dict[str, list[Point]]) -> Panel:
    def paint(ax: Any) -> None:
        for i, (label, points) in enumerate(series.items()):
            points = sorted(points, key=lambda point: point[0])
            colour = COLOURS[i % len(COLOURS)]
            values = [value for value, _ in points]
            spreads = [line.spread or 0.0 for _, line in points]
            ax.errorbar(
                values, [line.mean for _, line in points], spreads, color=colour, capsize=2, label=label or None
            )
            theirs = [(value, line) for value, line in points if line.published is not None]
            if theirs:
                ax.errorbar(
                    [value for value, _ in theirs],
                    [line.published for _, line in theirs],
                    [line.published_spread or 0.0 for _, line in theirs],
                    fmt="o",
                    color=colour,
                    mfc="none",
                    elinewidth=0.6,
                    label="published" if i == 0 else None,
                )
        values = [value for points in series.values() for value, _ in points]
        if min(values) > 0 and max(values) >= 30 * min(values):
            logarithmic(ax, "x", values)
        ax.set_xlabel(name)
        ax.set_title(metric)
        if ax.get_legend_handles_labels()[1]:
            ax.legend()

    return paint
