"""`noumena bench oracle`: the confusion of predictions and measurements, as runs end."""

from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from ..bench.planted import Rate
from ..experiments.oracle.judge import THRESHOLDS, Judged, agreement, confusion
from ..experiments.oracle.study import Study
from .run import Progress

WIDTH = 100
PREDICTED = ("high", "low", None)
GROUPS = {"all with a prediction": None, "a theorem speaks": True, "experiments alone": False}


def run_oracle(settings: int, first_seed: int, out: str, place: str, as_json: bool) -> dict[str, Any]:
    """Run or resume the settings, print what came of them, and return it as plain data."""
    study = Study(range(first_seed, first_seed + settings), out)
    progress, judged = Progress(study.tasks), []
    console = Console(stderr=True)
    console = Console(stderr=True, width=max(console.width, WIDTH))
    with Live(
        console=console,
        get_renderable=lambda: Group(progress.render(), table(judged)),
        refresh_per_second=1,
        transient=True,
    ):
        for one in study.run(place):
            judged.append(one)
    judged.sort(key=lambda one: one.prediction.seed)
    if not as_json:
        console = Console()
        console = Console(width=max(console.width, WIDTH))
        console.print(table(judged))
        for line in disagreements(judged, out):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    return {
        "settings": [one.to_dict() for one in judged],
        "agreement": [rate.to_dict() for rate in rates(judged)],
        "confusion": [
            {"metric": metric, "predicted": predicted, "measured": measured, "count": count}
            for (metric, predicted, measured), count in confusion(judged).items()
        ],
        "thresholds": {one.metric: one.at for one in THRESHOLDS},
    }


def rates(judged: list[Judged]) -> list[Rate]:
    """Of the groups in which anything was predicted so far."""
    found = [Rate(name, *agreement(judged, speaks=speaks)) for name, speaks in GROUPS.items()]
    return [rate for rate in found if rate.of]


def table(judged: list[Judged]) -> Table:
    """Rows are predictions, columns measurements; below them how many settings agree in everything predicted."""
    silent = sum(one.agrees is None for one in judged)
    failed = sum(bool(one.failure) for one in judged)
    lines = [f"{silent} of {len(judged)} settings have no prediction, {failed} failed to train."]
    for rate in rates(judged):
        low, high = rate.interval
        share = f"{rate.hits / rate.of:.3f} ({low:.3f} to {high:.3f})"
        lines.append(f"Agreement, {rate.name}: {rate.hits} of {rate.of}, {share}.")
    made = Table(title=f"{len(judged)} settings", caption="\n".join(lines), caption_justify="left")
    for heading in ("metric", "high from", "predicted", "measured high", "measured low"):
        made.add_column(heading, justify="right" if heading.startswith(("measured", "high")) else "left", no_wrap=True)
    counts = confusion(judged)
    for one in THRESHOLDS:
        for predicted in PREDICTED:
            seen = [counts.get((one.metric, predicted, measured), 0) for measured in ("high", "low")]
            made.add_row(one.metric, f"{one.at:g}", predicted or "nothing", *map(str, seen))
    return made


def disagreements(judged: list[Judged], out: str) -> list[str]:
    """Each with what was said, what was found, and how to run it alone."""
    lines = []
    for one in judged:
        if one.agrees is not False:
            continue
        told = one.prediction
        wrong = [
            f"{seen.metric} {seen.value:.3f}, predicted {seen.predicted}"
            for seen in one.comparisons
            if seen.agrees is False
        ]
        gap = "" if one.gap is None else f"; loss {one.gap[0]:.4f} ± {one.gap[1]:.4f} above its floor"
        lines += [
            f"{told.kind}, seed {told.seed}: {'; '.join(wrong) or one.failure}{gap}",
            f"  {told.says}",
            f"  noumena bench oracle --settings 1 --first-seed {told.seed} --out {out}",
        ]
    return lines
