"""Run folders -> plain data."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import _checks
from ..training.record import Record

BEFORE = "pretraining-"  # what the files of a stage before the main one begin with


@dataclass(frozen=True)
class Run:
    """One finished run: what it was asked (`description.json`) and what it came to (`outcome.json`)."""

    folder: Path
    description: dict[str, Any]
    outcome: dict[str, Any]

    @property
    def about(self) -> dict[str, Any]:
        """Titles, notes, place in the table and in a sweep; empty where the run says none."""
        return self.description.get("about") or {}

    @property
    def sections(self) -> dict[str, Any]:
        """What decided the numbers."""
        return self.description.get("sections") or {}

    def records(self, stage: str = "") -> list[Record]:
        """Records of a stage, the main one by default; none where nothing was trained."""
        return _records(self.folder / f"{stage}records.jsonl")

    def sample(self) -> dict[str, np.ndarray]:
        """Latents `z`, observations `x` and embeddings `h` of fresh anchors, and `anchors` and `positives` as bytes for
        images: those of them that there are."""
        path = self.folder / "sample.safetensors"
        if not path.is_file():
            return {}
        from safetensors.numpy import load_file

        return {name: array.astype(float) for name, array in load_file(path).items()}


@dataclass(frozen=True)
class Unfinished:
    """A run that has begun and has no outcome yet.

    Attributes:
        name: Table, row, learner and seed.
        step, steps: How far it came, and how far it was to go; 0 where nothing is known.
    """

    name: str
    step: int
    steps: int


def load(out: str | Path, tables: Sequence[str] = (), rows: Sequence[str] = ()) -> list[Run]:
    """The finished runs below a folder: rows as their table orders them, each before its baselines.

    Args:
        out: The folder; that of one table or row will do.
        tables, rows: Only these; all by default.
    """
    root = Path(out)
    if not root.is_dir():
        raise FileNotFoundError(f"no folder `{out}`; `noumena run TABLE --out {out}` makes one.")
    every = list(_runs(root))
    runs = [run for run in every if _asked(run.outcome, tables, rows)]
    if not runs and (every or not unfinished(out)):
        known = sorted({f"{run.outcome['table']}, row {run.outcome['row']}" for run in every})
        there = f" It holds {'; '.join(known)}." if known else ""
        what = " of the tables and rows asked for" if known else ""
        raise ValueError(
            f"`{out}` holds no finished run{what}; `noumena run TABLE --out {out}` finishes what it began.{there}"
        )
    return sorted(runs, key=_place)


def unfinished(out: str | Path, tables: Sequence[str] = (), rows: Sequence[str] = ()) -> list[Unfinished]:
    """The runs below a folder that have begun and have no outcome."""
    found = []
    for path in sorted(Path(out).rglob("description.json")):
        if (path.parent / "outcome.json").is_file():
            continue
        given = json.loads(path.read_text(encoding="utf-8"))
        if _asked(given, tables, rows):
            records = _records(path.parent / "records.jsonl")
            learner = given.get("baseline") or given["recipe"]
            steps = given.get("sections", {}).get("train", {}).get("steps", 0)
            name = f"{given['table']}, row {given['row']} ({learner}), seed {given['seed']}"
            found.append(Unfinished(name, records[-1].step if records else 0, steps))
    return found


def _asked(given: dict[str, Any], tables: Sequence[str], rows: Sequence[str]) -> bool:
    return (not tables or given["table"] in tables) and (not rows or given["row"] in rows)


def _place(run: Run) -> tuple[Any, ...]:
    given = run.outcome
    position = (given["table"], run.about.get("position", 0), given["row"], given["recipe"], given["baseline"] or "")
    return (*position, given["digest"], given["seed"])


def _runs(root: Path) -> Iterator[Run]:
    for path in sorted(root.rglob("outcome.json")):
        try:
            description = json.loads((path.parent / "description.json").read_text(encoding="utf-8"))
            yield Run(path.parent, description, json.loads(path.read_text(encoding="utf-8")))
        except (OSError, json.JSONDecodeError) as error:
            raise ValueError(
                f"`{path.parent}` is not a whole run folder ({error}); remove it and run again."
            ) from error


def _records(path: Path) -> list[Record]:
    """A last line that is being written is left out."""
    if not path.is_file():
        return []
    return [Record.from_json(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def groups(runs: Sequence[Run]) -> dict[tuple[str, ...], list[Run]]:
    """Runs by everything but their seed: table, row, recipe, baseline, digest; seeds in order."""
    _checks.sequence("runs", runs)
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        key = tuple(str(run.outcome[name] or "") for name in ("table", "row", "recipe", "baseline", "digest"))
        found.setdefault(key, []).append(run)
    return {key: sorted(members, key=lambda run: run.outcome["seed"]) for key, members in found.items()}
