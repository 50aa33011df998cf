"""A run's folder: files that are whole at every moment, but for the last line of the records."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from .. import _files
from ..training import Record

DESCRIPTION, RECORDS, OUTCOME = "description.json", "records.jsonl", "outcome.json"
CHECKPOINT, SAMPLE = "checkpoint.safetensors", "sample.safetensors"
BEFORE = "pretraining-"  # what the files of a stage before the main one begin with


@dataclass(frozen=True)
class Outcome:
    """A finished run.

    Attributes:
        table, row, recipe, baseline, seed: What was run.
        steps: Of the main stage; 0 where nothing is trained.
        seconds, core_seconds: Of training, all stages together.
        loss: Mean over the last record's steps; None where nothing is trained.
        metrics: By name, on fresh anchors; what diagnostics found, and milestones that were reached, among them.
        digest, code: Of the description and of the package's source.
        machine: Where it ran.
        fresh_loss, floor: `value` and standard `error` on fresh batches; None where there is no loss or no known floor.
        no_floor: Why there is none, where something was trained.
        curves: What diagnostics and computations want looked at, as plain data by name.
        factors: Names of the factors of images, where they have any: a score has a number for each.
    """

    table: str
    row: str
    recipe: str
    baseline: str | None
    seed: int
    steps: int
    seconds: float
    core_seconds: float
    loss: float | None
    metrics: dict[str, float]
    digest: str
    code: str
    machine: dict[str, Any]
    fresh_loss: dict[str, float] | None = None
    floor: dict[str, float] | None = None
    no_floor: str | None = None
    curves: dict[str, dict[str, Any]] = field(default_factory=dict)
    factors: list[str] = field(default_factory=list)


def outcome(folder: Path) -> Outcome | None:
    """What a run has come to; None while it is not finished."""
    path = folder / OUTCOME
    return Outcome(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def records(folder: Path, stage: str = "") -> list[Record]:
    """The records of a run so far; a last line that is being written is left out."""
    path = folder / f"{stage}{RECORDS}"
    if not path.is_file():
        return []
    return [Record.from_json(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def keep(folder: Path, new: Iterator[Record], after: int, stage: str = "") -> list[Record]:
    """All records, with the new ones written as they come; those after step `after` are dropped, as they come again."""
    path = folder / f"{stage}{RECORDS}"
    kept = [record for record in records(folder, stage) if record.step <= after]
    _files.replace(path, "".join(f"{record.to_json()}\n" for record in kept).encode())
    with open(path, "a", encoding="utf-8") as file:
        for record in new:
            file.write(f"{record.to_json()}\n")
            file.flush()
            kept.append(record)
    return kept


def write_json(path: Path, value: Any) -> None:
    """Plain data, keys in order."""
    _files.replace(path, json.dumps(value, indent=1, sort_keys=True).encode())


def write_outcome(folder: Path, found: Outcome) -> None:
    """Says that the run is over, so it is written last."""
    _files.replace(folder / OUTCOME, json.dumps(asdict(found), indent=1).encode())


def write_sample(folder: Path, tensors: dict[str, Tensor]) -> None:
    """Latents, observations and embeddings to look at, or pictures in their place."""
    from safetensors.torch import save

    # Copies: an identity mixing hands on the latents themselves, and the format refuses tensors that share memory.
    _files.replace(folder / SAMPLE, save({name: tensor.clone().contiguous() for name, tensor in tensors.items()}))
