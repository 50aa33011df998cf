"""Finished runs -> one line for each row and metric: ours beside the published number."""

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .load import Run, groups

LOSS = "loss"
LOSS_PER_NEGATIVE = "loss - log M"  # what losses measured with different numbers M of negatives have in common


@dataclass(frozen=True)
class Line:
    """One number over seeds.

    Attributes:
        table, row, recipe, baseline, digest, metric: What it is.
        mean, spread, worst: Over seeds; the spread is the sample standard deviation, None for one seed. The worst is
            the seed furthest on the wrong side.
        published, published_spread: As printed, in a column of their own; None where nothing is printed.
        floor, gap: Of a loss on fresh pairs: the least that any encoder can reach, and by how much it is missed; None
            where it is not known.
        seeds: Which.
        seconds, core_seconds: Mean training time of a seed, and mean processor time, which does not depend on what else
            the machine was doing.
        code: Versions of the package that made them.
        factor: Which factor of images the number is of; None for all together.
    """

    table: str
    row: str
    recipe: str
    baseline: str
    digest: str
    metric: str
    mean: float
    spread: float | None
    worst: float
    published: float | None
    published_spread: float | None
    floor: float | None
    gap: float | None
    seeds: tuple[int, ...]
    seconds: float
    core_seconds: float
    code: tuple[str, ...]
    factor: str | None

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        return None if self.published is None else self.mean - self.published

    @property
    def learner(self) -> str:
        """The recipe, or the baseline under it."""
        return self.baseline or self.recipe


def smaller_is_better(metric: str) -> bool:
    """By the name: errors, deviations, losses and counts of steps; all else scores."""
    return bool({"loss", "error", "deviation", "steps"} & {*re.split("[ _-]+", metric)})


def short_name(metric: str) -> str:
    """What pictures call it."""
    return metric.removesuffix("_in_sample").replace("linear_r2", "R²").replace("mcc", "MCC").replace("_", " ")


def lines(runs: Sequence[Run]) -> list[Line]:
    """A line for every group of runs that differ in their seed alone, and every number of theirs."""
    found = []
    for key, members in groups(runs).items():
        first = members[0]
        published = {number["metric"]: number for number in first.description["reported"]}
        for metric in first.outcome["metrics"]:
            # A number that not every seed has (a level that was not reached) is that of the seeds which have it.
            having = [run for run in members if metric in run.outcome["metrics"]]
            values = [run.outcome["metrics"][metric] for run in having]
            found.append(_line(key, metric, having, values, published.get(metric)))
        if first.outcome.get("fresh_loss") and (LOSS in published or _negatives(first)):
            found.append(_loss_line(key, members, published.get(LOSS)))
    return found


def _line(
    key: tuple[str, ...],
    metric: str,
    members: list[Run],
    values: list[float],
    printed: dict[str, Any] | None,
    **rest: Any,
) -> Line:
    table, row, recipe, baseline, digest = key
    printed = printed or {}
    return Line(
        table=table,
        row=row,
        recipe=recipe,
        baseline=baseline,
        digest=digest,
        metric=metric,
        mean=statistics.fmean(values),
        spread=statistics.stdev(values) if len(values) > 1 else None,
        worst=max(values) if smaller_is_better(metric) else min(values),
        published=printed.get("mean"),
        published_spread=printed.get("spread"),
        seeds=tuple(run.outcome["seed"] for run in members),
        seconds=statistics.fmean(run.outcome["seconds"] for run in members),
        core_seconds=statistics.fmean(run.outcome["core_seconds"] for run in members),
        code=tuple(sorted({run.outcome["code"] for run in members})),
        factor=next((one for one in members[0].outcome.get("factors") or () if metric.endswith(f"/{one}")), None),
        **{"floor": None, "gap": None, **rest},
    )


def _loss_line(key: tuple[str, ...], members: list[Run], printed: dict[str, Any] | None) -> Line:
    """The loss on fresh pairs; less the logarithm of its negatives, unless a printed one does not say how many."""
    comparable = _negatives(members[0]) is not None and (printed is None or bool(printed.get("negatives")))
    if printed is not None and comparable:
        printed = {**printed, "mean": printed["mean"] - math.log(printed["negatives"])}
    values, floors, gaps = [], [], []
    for run in members:
        shift = math.log(_negatives(run) or 1) if comparable else 0.0
        fresh, floor = run.outcome["fresh_loss"]["value"], run.outcome.get("floor")
        values.append(fresh - shift)
        if floor:
            floors.append(floor["value"] - shift)
            gaps.append(fresh - floor["value"])
    rest = {"floor": statistics.fmean(floors), "gap": statistics.fmean(gaps)} if floors else {}
    return _line(key, LOSS_PER_NEGATIVE if comparable else LOSS, members, values, printed, **rest)


def _negatives(run: Run) -> float | None:
    return (run.outcome.get("fresh_loss") or {}).get("negatives")


def primary(run: Run) -> str | None:
    """The metric that a row is about: the first reported one, or else the first measured one."""
    metrics = list(run.outcome["metrics"])
    reported = [number["metric"] for number in run.description["reported"] if number["metric"] in metrics]
    return (reported or metrics or [None])[0]


def code_versions(runs: Sequence[Run]) -> dict[str, tuple[str, ...]]:
    """Groups of seeds that several versions of the package made, whose spread is then not of seeds alone."""
    mixed = {}
    for (table, row, recipe, baseline, _), members in groups(runs).items():
        codes = tuple(sorted({run.outcome["code"] for run in members}))
        if len(codes) > 1:
            mixed[f"{table}, row {row} ({baseline or recipe})"] = codes
    return mixed
