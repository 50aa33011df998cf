"""Finished runs -> one line for each row and metric: ours beside the published number."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .load import Run, groups


@dataclass(frozen=True)
class Line:
    """One number over seeds.

    Attributes:
        table, row, recipe, baseline, metric: What it is.
        mean, spread, worst: Over seeds; the spread is the sample standard deviation, None for one seed. The worst is
            the seed furthest on the wrong side.
        published, published_spread: As printed, in a column of their own; None where nothing is printed.
        seeds: Which.
        seconds: Mean training time of a seed.
        code: Versions of the package that made them.
    """

    table: str
    row: str
    recipe: str
    baseline: str
    metric: str
    mean: float
    spread: float | None
    worst: float
    published: float | None
    published_spread: float | None
    seeds: tuple[int, ...]
    seconds: float
    code: tuple[str, ...]

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        return None if self.published is None else self.mean - self.published


SMALLER_IS_BETTER = ("angle_error", "angle_error_normalised")


def lines(runs: Sequence[Run]) -> list[Line]:
    """A line for every group of runs that differ in their seed alone, and every metric of theirs."""
    found = []
    for (table, row, recipe, baseline, _), members in groups(list(runs)).items():
        published = {number["metric"]: number for number in members[0].description["reported"]}
        for metric in members[0].outcome["metrics"]:
            values = [run.outcome["metrics"][metric] for run in members]
            printed = published.get(metric, {})
            found.append(
                Line(
                    table=table,
                    row=row,
                    recipe=recipe,
                    baseline=baseline,
                    metric=metric,
                    mean=statistics.fmean(values),
                    spread=statistics.stdev(values) if len(values) > 1 else None,
                    worst=max(values) if metric in SMALLER_IS_BETTER else min(values),
                    published=printed.get("mean"),
                    published_spread=printed.get("spread"),
                    seeds=tuple(sorted(run.outcome["seed"] for run in members)),
                    seconds=statistics.fmean(run.outcome["seconds"] for run in members),
                    code=tuple(sorted({run.outcome["code"] for run in members})),
                )
            )
    return found
