"""Rows that vary one number -> one figure: a panel for each metric, a line for each series."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .figure import COLOURS, Panel, logarithmic, powers_of_two
from .load import Run, groups
from .table import LOSS, LOSS_PER_NEGATIVE, Line, lines, short_name

WIDE = 30  # the largest value over the least, from which on the axis is a logarithm

Series = Mapping[str, list[tuple[float, Line]]]


def sweeps(runs: Sequence[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """Runs of rows that say their place in a sweep, by table, learner and the number that varies."""
    found: dict[tuple[str, str, str], list[Run]] = defaultdict(list)
    for run in runs:
        if run.about.get("sweep"):
            learner = run.outcome["baseline"] or run.outcome["recipe"]
            found[run.outcome["table"], learner, run.about["sweep"]["name"]].append(run)
    return dict(found)


def sweep_panels(runs: Sequence[Run]) -> list[list[Panel]]:
    """For each `panel` of the sweep the panels that its rows `draw`; without that one for each metric that has a
    reported number, or for the first of each kind where none has."""
    parts: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        parts[run.about["sweep"].get("panel", "")].append(run)
    shown: set[tuple[int, str]] = set()  # colours that a legend has explained
    figure = []
    for name, members in parts.items():
        panels = [_Panel(*described, shown) for described in _described(name, members)]
        figure.append([panel.paint for panel in panels])
    return figure


def _described(part: str, runs: Sequence[Run]) -> Iterator[tuple[str, str, Mapping[str, Series], Mapping[str, Any]]]:
    """Title, name of what varies, lines and mark of each panel."""
    sweep = runs[0].about["sweep"]
    found: dict[str, dict[str, list[tuple[float, Line]]]] = defaultdict(lambda: defaultdict(list))
    for members in groups(runs).values():
        place = members[0].about["sweep"]
        for line in lines(members):
            found[line.metric][place.get("series", "")].append((place["value"], line))
    for metrics in _asked(sweep["draw"], found) if sweep.get("draw") else [[metric] for metric in _chosen(found)]:
        title = ": ".join(filter(None, (part, ", ".join(short_name(metric) for metric in metrics))))
        yield title, sweep["name"], {metric: found[metric] for metric in metrics}, sweep.get("mark") or {}


def _asked(draw: Sequence[str | Sequence[str]], found: Mapping[str, Series]) -> list[list[str]]:
    """The metrics of each panel, as far as the runs have them; a loss may stand there less log M."""
    names = {metric: metric for metric in found}
    names |= {LOSS: LOSS_PER_NEGATIVE} if LOSS_PER_NEGATIVE in found else {}
    panels = [[one] if isinstance(one, str) else one for one in draw]
    return [kept for panel in panels if (kept := [names[one] for one in panel if one in names])]


def _chosen(found: Mapping[str, Series]) -> list[str]:
    printed = [
        metric
        for metric, series in found.items()
        if any(line.published is not None for points in series.values() for _, line in points)
    ]
    return printed or [one for one in found if one.removesuffix("_in_sample") not in found or "_in_" not in one]


@dataclass(frozen=True)
class _Panel:
    """Some metrics of some series over the number that varies: ours in full lines, what is reported dashed.

    A legend stands where a line has not been explained by that of an earlier panel of the figure.
    """

    title: str
    name: str
    drawn: Mapping[str, Series]
    mark: Mapping[str, Any]
    shown: set[tuple[int, str]]

    def paint(self, ax: Any) -> None:
        each = [(metric, label) for metric, series in self.drawn.items() for label in series]
        names = [
            ", ".join(filter(None, (label, short_name(one) if len(self.drawn) > 1 else ""))) for one, label in each
        ]
        reported = False
        for i, (metric, label) in enumerate(each):
            points = sorted(self.drawn[metric][label], key=lambda point: point[0])
            colour, named = COLOURS[i % len(COLOURS)], names[i]
            _errors(ax, [(value, line.mean, line.spread) for value, line in points], "-", colour, named or None)
            theirs = [
                (value, line.published, line.published_spread) for value, line in points if line.published is not None
            ]
            if theirs:
                _errors(ax, theirs, "o--", colour, None)
                reported = True
        if reported:
            ax.plot([], [], "o--", color=COLOURS[7], label="reported", mfc="none", markersize=3.5, linewidth=0.8)
        values = [value for series in self.drawn.values() for points in series.values() for value, _ in points]
        if self.mark:
            ax.axvline(self.mark["value"], color=COLOURS[7], linestyle=":", label=self.mark["name"])
            values.append(self.mark["value"])
        if min(values) > 0 and max(values) >= WIDE * min(values):
            if not powers_of_two(ax, values):
                logarithmic(ax, "x", values)
        ax.set_xlabel(self.name)
        ax.set_title(self.title)
        unexplained = {*enumerate(names)} - self.shown
        if unexplained and any((*names, reported, self.mark)):
            handles, labels = ax.get_legend_handles_labels()
            # Series first: matplotlib has lines without spreads before those with.
            order = sorted(range(len(labels)), key=lambda i: (names + labels).index(labels[i]))
            ax.legend([handles[i] for i in order], [labels[i] for i in order])
        self.shown.update(unexplained)


def _errors(
    ax: Any, points: Sequence[tuple[float, float | None, float | None]], style: str, colour: str, label: str | None
) -> None:
    values, means, spreads = zip(*points, strict=True)
    ax.errorbar(
        values,
        means,
        [spread or 0.0 for spread in spreads],
        fmt=style,
        color=colour,
        label=label,
        capsize=2,
        elinewidth=0.6,
        markerfacecolor="none",
        markersize=3.5,
        linewidth=1.3 if style == "-" else 0.8,
    )
