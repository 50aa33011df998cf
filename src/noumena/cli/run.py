"""`noumena run TABLE`: rows, seeds, time left and the current score, read from the run folders as they fill."""

import json
import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from ..experiments.build import check
from ..experiments.folder import Outcome, outcome, records
from ..experiments.place import each
from ..experiments.run import Task, check_tasks, perform, tasks
from ..experiments.spec import RECIPES, load_table
from ..experiments.throughput import pairs_per_second
from .report import run_report


def run_table(
    name: str,
    rows: list[str],
    seeds: str | None,
    recipe: str,
    out: str,
    place: str,
    baselines: bool,
    device: str,
    processes: int,
    threads: int,
    as_json: bool,
) -> None:
    table = load_table(name)
    if recipe not in RECIPES:
        raise ValueError(f"no recipe `{recipe}`; choose from {', '.join(RECIPES)}.")
    chosen = tasks(
        table,
        recipe=recipe,
        seeds=table.seeds if seeds is None else parse_seeds(seeds, table.seeds),
        out=out,
        rows=rows,
        baselines=baselines,
        threads=threads,
        device=device,
        processes=processes,
    )
    if processes > 1 and place != "local":
        raise ValueError(f"`--processes` must be 1 with `--place {place}`, got {processes}; leave out one of them.")
    check(table)
    check_tasks(chosen)
    console = Console(stderr=True)
    done: list[Outcome] = []
    progress = Progress(chosen)
    with Live(console=console, get_renderable=progress.render, refresh_per_second=1, transient=True):
        for found in each(place, perform, chosen):
            done.append(found)
    if as_json:
        print(json.dumps([asdict(found) for found in done]))
    else:
        # The folder of this table alone: a page of all that was ever run would be long.
        run_report(str(Path(out) / table.name.removesuffix(".toml")))


def parse_seeds(text: str, own: tuple[int, ...]) -> list[int]:
    """ "3" is the first three of the table's own seeds, "100-104" a range, "1,7" a list."""
    try:
        if "," in text:
            return [int(part) for part in text.split(",")]
        if "-" in text:
            first, last = map(int, text.split("-"))
            return list(range(first, last + 1)) or _wrong_seeds(text)
        count = int(text)
    except ValueError:
        return _wrong_seeds(text)
    return list(own[:count]) if 0 < count <= len(own) else _wrong_seeds(text, f" (the table has {len(own)} of its own)")


def _wrong_seeds(text: str, more: str = "") -> list[int]:
    raise ValueError(
        f"`--seeds` must be a number of seeds, a range such as 100-104 or a list such as 1,7; got {text}{more}."
    )


class Progress:
    """A line for each run under way, and how many are over."""

    def __init__(self, chosen: list[Task]) -> None:
        self.waiting, self.over, self.began = list(chosen), 0, time.monotonic()

    def render(self) -> Table:
        table = Table.grid(padding=(0, 2))
        finished = [task for task in self.waiting if outcome(task.folder) is not None]
        self.waiting = [task for task in self.waiting if task not in finished]
        self.over += len(finished)
        left = [self._line(table, task) for task in self.waiting]
        known = [seconds for seconds in left if seconds is not None]
        remaining = f"about {sum(known) / len(known) * len(left):.0f} s of training left" if known else ""
        table.add_row(f"{self.over} of {self.over + len(self.waiting)} runs", remaining)
        return table

    @staticmethod
    def _line(table: Table, task: Task) -> float | None:
        """Adds the run if it has begun; returns the seconds that it still needs, as far as that can be told."""
        found = records(task.folder)
        if not found:
            return None
        last, description = found[-1], task.description
        steps = description.sections["train"]["steps"]
        left = last.seconds / last.step * (steps - last.step)
        rate = f"{pairs_per_second(found, description.sections['train']):.3g} pairs/s"
        scores = "  ".join(f"{name} {value:.4f}" for name, value in list(last.metrics.items())[:2])
        learner = description.baseline or description.recipe
        where = f"row {description.row} ({learner}), seed {task.seed}"
        table.add_row(where, f"step {last.step}/{steps}", f"loss {last.loss:.3f}", scores, rate, f"{left:.0f} s left")
        return left
