"""One row, recipe and seed, run to the end in a folder of its own; killed at any moment, it goes on from there."""

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from ..training import Checkpoint, Evaluation, Record, train
from .build import Experiment, build
from .description import Description
from .spec import Table

DESCRIPTION, RECORDS, OUTCOME = "description.json", "records.jsonl", "outcome.json"
CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class Task:
    """What to run, and where to keep it. Plain data: it can be sent to another process or machine.

    Attributes:
        description: The row under a recipe, or one of its baselines.
        seed: Decides mixing, pairs, initial values and evaluation.
        out: Folder of all runs.
        reported: Published numbers to keep beside ours, as plain data; they decide nothing.
        threads: That torch may use; numbers are equal bit for bit only for equal threads.
        device: Where to train.
    """

    description: Description
    seed: int
    out: str
    reported: tuple[dict[str, Any], ...] = ()
    threads: int = 1
    device: str = "cpu"

    @property
    def folder(self) -> Path:
        """Named by everything that decides the numbers, so that a changed table never meets an old run."""
        description = self.description
        learner = "-".join(part for part in (description.recipe, description.baseline) if part)
        name = f"seed-{self.seed}-{description.digest[:12]}"
        return Path(self.out) / description.table.removesuffix(".toml") / description.row / learner / name


@dataclass(frozen=True)
class Outcome:
    """A finished run.

    Attributes:
        table, row, recipe, baseline, seed: What was run.
        steps, seconds: Of training; 0 where nothing is trained.
        loss: Mean over the last record's steps; None where nothing is trained.
        metrics: On fresh anchors, by name.
        digest, code: Of the description and of the package's source.
        machine: Where it ran.
    """

    table: str
    row: str
    recipe: str
    baseline: str | None
    seed: int
    steps: int
    seconds: float
    loss: float | None
    metrics: dict[str, float]
    digest: str
    code: str
    machine: dict[str, Any]


def perform(task: Task) -> Outcome:
    """Run the task, resume it, or return what it has come to if it is finished.

    A run folder holds the resolved description, the records as lines of JSON, a checkpoint, and the outcome, whose
    presence says that the run is over. Every file is whole at every moment, but for the records' last line.
    """
    folder = task.folder
    finished = outcome(folder)
    if finished is not None:
        return finished
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / DESCRIPTION, json.dumps(_describe(task), indent=1, sort_keys=True))
    threads = torch.get_num_threads()
    torch.set_num_threads(task.threads)
    try:
        last = _last_record(build(task.description, task.seed, task.device), folder)
    finally:
        torch.set_num_threads(threads)
    description = task.description
    found = Outcome(
        table=description.table,
        row=description.row,
        recipe=description.recipe,
        baseline=description.baseline,
        seed=task.seed,
        steps=last.step,
        seconds=last.seconds,
        loss=last.loss if last.step else None,
        metrics=last.metrics,
        digest=description.digest,
        code=code_version(),
        machine=_machine(task),
    )
    _replace(folder / OUTCOME, json.dumps(asdict(found), indent=1))
    return found


def outcome(folder: Path) -> Outcome | None:
    """What a run has come to; None while it is not finished."""
    path = folder / OUTCOME
    return Outcome(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def records(folder: Path) -> list[Record]:
    """The records of a run so far; a last line that is being written is left out."""
    path = folder / RECORDS
    if not path.is_file():
        return []
    return [Record.from_json(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def _last_record(experiment: Experiment, folder: Path) -> Record:
    measure = Evaluation(experiment.source, experiment.metrics, experiment.evaluation, experiment.streams.eval)
    if experiment.loss is None or experiment.training is None:
        return Record(step=0, seconds=0.0, loss=0.0, metrics=measure(experiment.encoder))
    checkpoint = Checkpoint(folder / CHECKPOINT)
    # Records beyond the checkpoint are handed out again by the resumed run.
    kept = [record for record in records(folder) if record.step <= checkpoint.step()]
    _replace(folder / RECORDS, "".join(f"{record.to_json()}\n" for record in kept))
    with open(folder / RECORDS, "a", encoding="utf-8") as file:
        for record in train(
            experiment.source,
            experiment.encoder,
            experiment.loss,
            **experiment.training,
            generator=experiment.streams.pairs,
            measure=measure,
            streams={"eval": experiment.streams.eval},
            checkpoint=checkpoint,
        ):
            file.write(f"{record.to_json()}\n")
            file.flush()
            kept.append(record)
    return kept[-1]


def _describe(task: Task) -> dict[str, Any]:
    description = task.description
    names: dict[str, Any] = {"table": description.table, "row": description.row, "recipe": description.recipe}
    names["seed"] = task.seed
    names |= {"baseline": description.baseline, "digest": description.digest, "reported": list(task.reported)}
    return {**names, "sections": description.canonical(), "code": code_version(), "machine": _machine(task)}


def _machine(task: Task) -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": task.threads,
        "device": task.device,
    }


@lru_cache
def code_version() -> str:
    """Version of the package, and a digest of its source: what a number can be traced back to without a repository."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def _replace(path: Path, text: str) -> None:
    """Write a file so that it is either the old one or the new one, whole."""
    temporary = path.with_name(f".{path.name}.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def tasks(
    table: Table,
    *,
    recipe: str,
    seeds: Sequence[int],
    out: str,
    rows: Sequence[str] = (),
    baselines: bool = True,
    threads: int = 1,
    device: str = "cpu",
) -> list[Task]:
    """The rows of a table (all, or those named) with their baselines, seed by seed, so that answers come early."""
    chosen = [table.row(row) for row in rows] or list(table.rows)
    runs = []
    for row in chosen:
        for baseline in (None, *(row.baselines_of(recipe) if baselines else ())):
            numbers = row.reported if baseline is None else row.baselines.get(baseline, ())
            runs.append((row.describe(recipe, baseline), tuple(asdict(number) for number in numbers)))
    return [Task(description, seed, out, reported, threads, device) for seed in seeds for description, reported in runs]
