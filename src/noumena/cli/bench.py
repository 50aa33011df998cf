"""`noumena bench`: one table, filled as the measurements come in."""

import json
import platform
from collections.abc import Callable, Iterator
from typing import Any

import torch
from rich.console import Console
from rich.live import Live
from rich.table import Table

from ..bench import augmentations, diagnosis, encoders, grouped, losses, planted, samplers, scale
from ..bench.measure import Row
from ..experiments.place import PLACES
from .oracle import run_oracle

PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "losses": losses.run,
    "samplers": samplers.run,
    "grouped": grouped.run,
    "scale": scale.run,
    "encoders": encoders.run,
    "diagnose": diagnosis.run,
    "augmentations": augmentations.run,
}
PLANTED, ORACLE = "planted", "oracle"  # rates rather than times
WIDTH = 100
DEFAULT = ("losses", "samplers", "grouped")


def run_bench(
    parts: list[str], threads: int | None, settings: int, first_seed: int, out: str, place: str, as_json: bool
) -> None:
    known = (*PARTS, PLANTED, ORACLE)
    for part in parts:
        if part not in known:
            raise ValueError(f"no benchmark `{part}`; choose from {', '.join(known)}.")
    if place not in PLACES:
        raise ValueError(f"`--place` must be one of {', '.join(PLACES)}; got {place}.")
    if threads is not None:
        torch.set_num_threads(threads)
    rows: list[Row] = []
    machine = f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}"
    timed = [part for part in parts or DEFAULT if part in PARTS]
    if timed:
        with Live(_table(rows, machine), console=Console(stderr=as_json), refresh_per_second=2) as live:
            for part in timed:
                for row in PARTS[part]():
                    rows.append(row)
                    live.update(_table(rows, machine))
    rates = _planted(as_json) if PLANTED in parts else []
    found: dict[str, Any] = {}
    if ORACLE in parts:
        found[ORACLE] = run_oracle(settings, first_seed, out, place, as_json)
    if as_json:
        found |= {"rates": [rate.to_dict() for rate in rates]} if rates else {}
        print(json.dumps({"machine": machine, "rows": [row.to_dict() for row in rows], **found}))


def _planted(as_json: bool) -> list[planted.Rate]:
    tally = planted.Tally()
    width = max(Console().width, WIDTH)
    with Live(_rates(tally), console=Console(stderr=as_json, width=width), refresh_per_second=2) as live:
        for tally in planted.run():
            live.update(_rates(tally))
    return tally.rates()


def _rates(tally: planted.Tally) -> Table:
    each = tally.seconds / max(tally.worlds, 1)
    table = Table(
        title=f"{tally.worlds} planted worlds of {planted.PAIRS} pairs, seeds from {planted.FIRST_SEED}",
        caption=f"Intervals are exact binomial ones of 95 %. A diagnosis took {each:.1f} s.",
    )
    for heading in ("", "count", "rate", "interval"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for rate in tally.rates():
        low, high = rate.interval
        table.add_row(rate.name, f"{rate.hits} of {rate.of}", f"{rate.hits / rate.of:.3f}", f"{low:.3f} to {high:.3f}")
    return table


def _table(rows: list[Row], machine: str) -> Table:
    table = Table(title=f"noumena bench ({machine})", caption="Memory is the peak beyond the inputs.")
    for heading in ("measured", "ours", "plain", "ratio", "claimed", "memory", "plain's"):
        table.add_column(heading, justify="left" if heading == "measured" else "right", no_wrap=heading != "measured")
    for row in rows:
        table.add_row(
            f"{row.name}\n  {row.note}" if row.note else row.name,
            _time(row.ours),
            _time(row.plain),
            "" if row.ratio is None else f"{row.ratio:.1f}",
            "" if row.claim is None else f">= {row.claim:g}",
            _memory(row.megabytes),
            _memory(row.plain_megabytes),
        )
    return table


def _time(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def _memory(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} MB"
