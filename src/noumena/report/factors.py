"""Scores factor by factor, where factors have names: which ones are found, and when."""

from collections.abc import Mapping, Sequence
from typing import Any

from .figure import COLOURS, Panel
from .listing import number
from .load import Run
from .markup import Markup, element
from .table import Line, lines, short_name


def of_factors(line: Line) -> bool:
    """Whether a line is of a single factor."""
    return line.factor is not None


def factor_table(learners: Mapping[str, Sequence[Run]]) -> Markup | None:
    """A line for each factor, a column for each learner and score; None where factors have no names."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for learner, runs in learners.items():
        for line in filter(of_factors, lines(runs)):
            score = line.metric.removesuffix(f"/{line.factor}")
            found.setdefault((learner, score), {})[str(line.factor)] = number(line.mean, line.spread)
    if not found:
        return None
    factors = list(dict.fromkeys(factor for column in found.values() for factor in column))
    head = [element("th", "factor", scope="col")]
    head += [
        element("th", f"{short_name(score)} ({learner})", scope="col", class_="number") for learner, score in found
    ]
    body = [
        element(
            "tr",
            element("th", factor, scope="row"),
            *(element("td", column.get(factor, ""), class_="number") for column in found.values()),
        )
        for factor in factors
    ]
    return element(
        "div", element("table", element("thead", element("tr", *head)), element("tbody", *body)), class_="wide"
    )


def factor_panels(runs: Sequence[Run]) -> list[Panel]:
    """Every score of single factors over the steps of the first seed, a line for each factor."""
    records = [record for record in runs[0].records() if record.metrics]
    factors = runs[0].outcome.get("factors") or []
    if len(records) < 2 or not factors:
        return []
    scores = [metric for metric in records[0].metrics if f"{metric}/{factors[0]}" in records[0].metrics]
    once = [score for score in scores if score.removesuffix("_in_sample") not in scores or "_in_" not in score]
    return [_panel(score, factors, records) for score in once]


def _panel(score: str, factors: Sequence[str], records: Sequence[Any]) -> Panel:
    def paint(ax: Any) -> None:
        steps = [record.step for record in records]
        for i, factor in enumerate(factors):
            style = "-" if i < len(COLOURS) else "--"
            values = [record.metrics[f"{score}/{factor}"] for record in records]
            ax.plot(steps, values, style, color=COLOURS[i % len(COLOURS)], label=factor)
        ax.set_xlabel("step")
        ax.set_title(short_name(score))
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    return paint
