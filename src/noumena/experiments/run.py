"""One row, recipe and seed, run to the end in a folder of its own; killed at any moment, it goes on from there."""

import hashlib
import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from .._rng import streams
from ..diagnostics import Subject
from ..finding import Curve, Finding
from ..training import Checkpoint, Devices, Record, disband, train
from ..training.subnormals import flushed
from ._names import nearest
from .build import Experiment, build, build_computation, milestones
from .description import Description
from .divided import check_divided, divided, stages
from .explain import summary
from .fit import fit
from .folder import (
    BEFORE,
    CHECKPOINT,
    DESCRIPTION,
    Outcome,
    keep,
    outcome,
    write_json,
    write_outcome,
    write_sample,
)
from .sample import sample
from .spec import Row, Table


@dataclass(frozen=True)
class Task:
    """What to run, and where to keep it. Plain data: it can be sent to another process or machine.

    Attributes:
        description: The row under a recipe, or one of its baselines.
        seed: Decides mixing, pairs, initial values and evaluation.
        out: Folder of all runs.
        reported: Published numbers to keep beside ours, as plain data; they decide nothing.
        threads: That torch may use; numbers are equal bit for bit only for equal threads.
        device: Where to train, as `Devices` takes it.
        about: What else a report says of the row: titles, notes, place in its table and in a sweep. Decides nothing.
    """

    description: Description
    seed: int
    out: str
    reported: tuple[dict[str, Any], ...] = ()
    threads: int = 1
    device: str = "cpu"
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def processes(self) -> int:
        """How many train together."""
        return self.description.sections.get("processes", 1)

    @property
    def folder(self) -> Path:
        """Named by everything that decides the numbers, so that a changed table never meets an old run."""
        description = self.description
        learner = "-".join(part for part in (description.recipe, description.baseline) if part)
        name = f"seed-{self.seed}-{description.digest[:12]}"
        return Path(self.out) / description.table.removesuffix(".toml") / description.row / learner / name


def perform(task: Task) -> Outcome:
    """Run the task, resume it, or return what it has come to if it is finished.

    A run folder holds the resolved description, the records as lines of JSON, a checkpoint, a sample to look at, and
    the outcome, whose presence says that the run is over. Every file is whole at every moment, but for the records'
    last line.
    """
    folder = task.folder
    finished = outcome(folder)
    if finished is not None:
        return finished
    _check_device(task)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / DESCRIPTION, _describe(task))
    found = Devices(task.device, task.processes).launch(_work, task)
    assert found is not None
    write_outcome(folder, found)
    return found


def _check_device(task: Task) -> None:
    """Random numbers and their states are of the kind of device that draws them."""
    path = task.folder / DESCRIPTION
    if not path.is_file() or outcome(task.folder) is not None:
        return
    was = json.loads(path.read_text(encoding="utf-8"))["machine"]["device"]
    if was.split(":")[0] != task.device.split(":")[0]:
        raise ValueError(
            f"`device` must be '{was}' for the run in '{task.folder}', which was begun there, got '{task.device}'; "
            "finish it there, or name another folder with `out`."
        )


def _work(fabric: Any, task: Task) -> Outcome | None:
    """What each process of the task does; the first one returns what it has come to."""
    threads = torch.get_num_threads()
    torch.set_num_threads(task.threads)
    try:
        with flushed():
            return _computed(task) if "compute" in task.description.sections else _trained(task, fabric)
    finally:
        torch.set_num_threads(threads)


def _trained(task: Task, fabric: Any) -> Outcome | None:
    experiment = build(task.description, task.seed, fabric.device)
    if experiment.training is None:
        return _untrained(task, experiment)
    kept_stages = _train(experiment, task.folder, fabric)
    disband()  # what is read now is the first process's alone, and must not wait for the others
    if not fabric.is_global_zero:
        return None
    description, kept = task.description, kept_stages[-1]
    last = kept[-1]
    reached = milestones(description, [record.metrics for record in kept])
    finding = _read(experiment)
    write_sample(task.folder, sample(experiment))
    fitted = fit(experiment)
    return _outcome(
        task,
        steps=last.step,
        seconds=sum(stage[-1].seconds for stage in kept_stages),
        core_seconds=sum(stage[-1].core_seconds for stage in kept_stages),
        loss=last.loss,
        metrics=last.metrics
        | finding.values
        | {name: float(kept[index].step) for name, index in reached.items() if index is not None},
        fresh_loss=fitted.fresh,
        floor=fitted.floor,
        no_floor=fitted.no_floor,
        curves={name: curve.to_dict() for name, curve in finding.curves.items()},
        factors=list(experiment.factors),
    )


def _untrained(task: Task, experiment: Experiment) -> Outcome:
    """What is measured of observations themselves, or of an encoder as it begins."""
    metrics = experiment.measure(experiment.encoder)
    if experiment.loss is None and experiment.mixing is not None:
        return _outcome(task, metrics=metrics)  # diagnostics of laws speak of learners
    finding = _read(experiment)
    curves = {name: curve.to_dict() for name, curve in finding.curves.items()}
    return _outcome(task, metrics=metrics | finding.values, curves=curves, factors=list(experiment.factors))


def _train(experiment: Experiment, folder: Path, fabric: Any) -> list[list[Record]]:
    """All stages, each from where it was left; the records of each, which the first process keeps."""
    kept: list[list[Record]] = []
    for name, stage in stages(experiment).items():
        prefix = BEFORE if name == "pretrain" else ""
        checkpoint = Checkpoint(folder / f"{prefix}{CHECKPOINT}")
        coming = train(
            stage.source,
            experiment.encoder,
            stage.loss,
            **stage.training,
            generator=experiment.streams.pairs,
            measure=experiment.measure,
            streams={"eval": experiment.streams.eval},
            checkpoint=checkpoint,
            fabric=fabric,
        )
        if fabric.is_global_zero:
            kept.append(keep(folder, coming, after=checkpoint.step(), stage=prefix))
        else:
            kept.append(list(coming))
    return kept


def _read(experiment: Experiment) -> Finding:
    """What the diagnostics say of the trained encoder."""
    subject = Subject(experiment.test, experiment.encoder, experiment.loss, experiment.source)
    values: dict[str, float] = {}
    curves: dict[str, Curve] = {}
    for diagnostic in experiment.diagnostics:
        found = diagnostic(subject, experiment.streams.eval)
        values |= found.values
        curves |= found.curves
    return Finding(values, curves)


def _computed(task: Task) -> Outcome:
    began, busy = time.perf_counter(), time.process_time()
    computation = build_computation(task.description, task.seed)
    finding = computation(streams(task.seed).eval)
    curves = {name: curve.to_dict() for name, curve in finding.curves.items()}
    if finding.pictures:
        write_sample(task.folder, finding.pictures)
    took = {"seconds": time.perf_counter() - began, "core_seconds": time.process_time() - busy}
    return _outcome(task, metrics=finding.values, curves=curves, **took)


def _outcome(task: Task, *, metrics: dict[str, float], **rest: Any) -> Outcome:
    description = task.description
    return Outcome(
        table=description.table,
        row=description.row,
        recipe=description.recipe,
        baseline=description.baseline,
        seed=task.seed,
        metrics=metrics,
        digest=description.digest,
        code=code_version(),
        machine=_machine(task),
        **{"steps": 0, "seconds": 0.0, "core_seconds": 0.0, "loss": None, **rest},
    )


def _describe(task: Task) -> dict[str, Any]:
    description = task.description
    names: dict[str, Any] = {"table": description.table, "row": description.row, "recipe": description.recipe}
    names["seed"] = task.seed
    names |= {"baseline": description.baseline, "digest": description.digest, "reported": list(task.reported)}
    names["about"] = dict(task.about)
    return {**names, "sections": description.canonical(), "code": code_version(), "machine": _machine(task)}


def _machine(task: Task) -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": task.threads,
        "device": task.device,
        "processes": task.processes,
    }


@lru_cache
def code_version() -> str:
    """Version of the package, and a digest of its source: what a number can be traced back to without a repository."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


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
    processes: int = 1,
) -> list[Task]:
    """The rows of a table, those that have the recipe or are named, with their baselines; seed by seed, so that
    answers come early.

    Device and processes are as `Devices` takes them; what is computed without training stays on the CPU.
    """
    devices = Devices(device, processes)
    chosen = [table.row(row) for row in rows] or [row for row in table.rows if recipe in row.recipes]
    if not chosen:
        known = dict.fromkeys(name for row in table.rows for name in row.recipes)
        raise LookupError(f"{table.name}: no recipe `{recipe}`; {nearest(recipe, known)}")
    runs = []
    for row in chosen:
        for baseline in (None, *(row.baselines_of(recipe) if baselines else ())):
            numbers = row.reported if baseline is None else row.baselines.get(baseline, ())
            reported = tuple(asdict(number) for number in numbers)
            description = divided(row.describe(recipe, baseline), processes)
            where = "cpu" if "compute" in description.sections else devices.device
            runs.append((description, reported, where, _about(table, row, recipe)))
    return [
        Task(description, seed, out, reported, threads, where, about)
        for seed in seeds
        for description, reported, where, about in runs
    ]


def check_tasks(chosen: Sequence[Task]) -> None:
    """Refuse what this machine, or the number of processes, cannot run; a table as such is checked by `build.check`."""
    for task in chosen:
        _check_device(task)
    for task in {task.description.digest: task for task in chosen}.values():
        _check_data(task)
        if task.device != "cpu":
            build(task.description, task.seed, task.device)
        check_divided(task.description, task.seed)


def _check_data(task: Task) -> None:
    """Tables of images must be there, and be what the row takes them for: `build.check` looks at neither."""
    sections = task.description.sections
    # Mixings that are drawn take long to draw, and need no file.
    if sections.get("mixing", {}).get("kind", "").endswith("InvertibleMLP") or outcome(task.folder) is not None:
        return
    try:
        if "compute" in sections:
            build_computation(task.description, task.seed)
        else:
            build(task.description, task.seed)
    except OSError as error:
        raise FileNotFoundError(f"{task.description.where}: {error}") from error


def _about(table: Table, row: Row, recipe: str) -> dict[str, Any]:
    return {
        "title": table.title,
        "source": table.source,
        "table_notes": list(table.notes),
        "name": row.name,
        "notes": list(row.notes),
        "recipe_notes": list(row.recipe_notes[recipe]),
        "position": table.rows.index(row),
        "sweep": None if row.sweep is None else dict(row.sweep),
        "verdict": summary(row, recipe),
    }
