"""`noumena demo`: the acts side by side, then a table, a page, and a sentence for each picture."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from ..experiments.demo import ANGLE, MCC, NAME, R2, acts, sentence, table
from ..experiments.place import each
from ..experiments.run import perform
from ..report import figure
from ..report.listing import number
from ..report.load import load
from ..report.page import write
from ..report.table import LOSS_PER_NEGATIVE, Line, lines
from .report import PAGE
from .run import Progress

CORES = 2  # the story takes about two minutes on two; more would only wait for its longest act
TITLES = {R2: "R²", MCC: "MCC", ANGLE: "angle error", LOSS_PER_NEGATIVE: "loss - log M"}
PICTURES = (
    "Curves: the loss falls to its floor where one is drawn, and scores near perfection only where latents come back.",
    "Scatter: a coordinate that is recovered lies on the red line; one that is forgotten lies flat.",
)


def run_demo(seed: int, out: str, steps: int | None, as_json: bool) -> None:
    story, chosen = table(steps), acts(seed, out, steps)
    console = Console(stderr=True)
    if not as_json:
        for note in story.notes:
            console.print(note, highlight=False)
    workers = min(CORES, os.cpu_count() or 1)
    with Live(console=console, get_renderable=Progress(chosen).render, refresh_per_second=1, transient=True):
        for _ in each("workers" if workers > 1 else "local", perform, chosen, workers=workers):
            pass
    # Of these runs alone: other seeds may lie in the same folder.
    root, folders = Path(out) / NAME, {task.folder for task in chosen}
    runs = [run for run in load(root) if run.folder in folders]
    page, found = write(runs, [], root / PAGE), lines(runs)
    told = {row.id: sentence(row.id, _metrics(row.id, found)) for row in story.rows}
    if as_json:
        print(json.dumps({"seed": seed, "lines": [asdict(line) for line in found], "told": told, "page": str(page)}))
        return
    _show({row.id: row.name for row in story.rows}, found, seed)
    _tell(told, page)


def _metrics(act: str, found: Sequence[Line]) -> dict[str, float]:
    return {line.metric: line.mean for line in found if line.row == act and not line.baseline}


def _show(names: dict[str, str], found: Sequence[Line], seed: int) -> None:
    shown = Table(title=f"seed {seed}", caption="Identity scores the observations as they are.")
    for heading in ("", *TITLES.values(), "floor", "R² of identity", "its angle error", "s"):
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=bool(heading))
    for i, (act, name) in enumerate(names.items()):
        own = {line.metric: line for line in found if line.row == act and not line.baseline}
        beside = {line.metric: line for line in found if line.row == act and line.baseline}
        loss = own[LOSS_PER_NEGATIVE]
        shown.add_row(
            f"{i + 1}. {name}",
            *(number(own[metric].mean) for metric in TITLES),
            number(loss.floor),
            *(number(beside[metric].mean) for metric in (R2, ANGLE)),
            f"{loss.seconds:.0f}",
        )
    Console(width=max(Console().width, 132)).print(shown)


def _tell(told: dict[str, str], page: Path) -> None:
    if figure.available():
        written = [f"{i + 1}. Spheres of `{act}`: {text}" for i, (act, text) in enumerate(told.items())] + [*PICTURES]
    else:
        written = ["The page has no pictures: they need matplotlib. Install noumena[report]."]
    for line in (f"page: {page}", *written):
        print(line)
