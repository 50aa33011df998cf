"""What a run is, as data: the part of a table that decides its numbers, and its hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`, key by key.

    A table that names a `kind` replaces the one before it whole, since arguments of one class mean nothing to
    another. A table without a `kind` changes the keys that it names and keeps the others, at any depth. Every other
    value, lists included, replaces.
    """
    merged = dict(base)
    for key, value in changes.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict) and "kind" not in value:
            value = merge(before, value)
        merged[key] = value
    return merged


@dataclass(frozen=True)
class Description:
    """One row under one recipe, complete but for the seed.

    Attributes:
        table, row, recipe: Where it comes from.
        baseline: None for the row itself; "identity" (the observations stand in for embeddings and nothing is
            trained), "supervised" (the recipe's encoder is shown the latents), or "plain" (InfoNCE at the budget of a
            recipe that has another objective).
        sections: What decides the numbers: `space`, `marginal`, `conditional`, `mixing`, `metrics`, `evaluation`,
            `world_seed` where the mixing is shared by all seeds, `pairs`, and, where something is trained, `encoder`,
            `loss` and `train`.
    """

    table: str
    row: str
    recipe: str
    baseline: str | None
    sections: Mapping[str, Any]

    @property
    def where(self) -> str:
        """How errors call it."""
        baseline = f", baseline `{self.baseline}`" if self.baseline else ""
        return f"{self.table}, row `{self.row}`, recipe `{self.recipe}`{baseline}"

    def canonical(self) -> dict[str, Any]:
        """The sections in one form: keys in order, whole numbers without a point.

        Titles, notes and reported numbers are left out, so that a corrected note keeps finished runs. Defaults of
        constructors are not filled in: a run folder names the version of the code beside this.
        """
        canonical = _canonical(self.sections)
        return {**canonical, "baseline": self.baseline} if self.baseline else canonical

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal."""
        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    # 10 and 10.0 are one number; a float is never true or false.
    return int(value) if isinstance(value, float) and value.is_integer() else value
