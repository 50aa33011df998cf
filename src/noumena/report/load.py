"""Run folders -> plain data."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _checks


@dataclass(frozen=True)
class Run:
    """One finished run: what it was asked (`description.json`) and what it came to (`outcome.json`)."""

    folder: Path
    description: dict[str, Any]
    outcome: dict[str, Any]


def load(out: str | Path) -> list[Run]:
    """The finished runs below a folder, in the order of their names."""
    root = Path(out)
    if not root.is_dir():
        raise FileNotFoundError(f"no folder `{out}`; `noumena run TABLE --out {out}` makes one.")
    runs = list(_runs(root))
    if not runs:
        raise ValueError(f"`{out}` holds no finished run; `noumena run TABLE --out {out}` finishes what it began.")
    return runs


def _runs(root: Path) -> Iterator[Run]:
    for path in sorted(root.rglob("outcome.json")):
        try:
            description = json.loads((path.parent / "description.json").read_text(encoding="utf-8"))
            yield Run(path.parent, description, json.loads(path.read_text(encoding="utf-8")))
        except (OSError, json.JSONDecodeError) as error:
            raise ValueError(
                f"`{path.parent}` is not a whole run folder ({error}); remove it and run again."
            ) from error


def groups(runs: list[Run]) -> dict[tuple[str, ...], list[Run]]:
    """Runs by everything but their seed: table, row, recipe, baseline, digest."""
    _checks.sequence("runs", runs)
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        key = tuple(str(run.outcome[name] or "") for name in ("table", "row", "recipe", "baseline", "digest"))
        found.setdefault(key, []).append(run)
    return found
