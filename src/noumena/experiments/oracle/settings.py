"""Random settings as rows of a table: a seed decides one, and nothing else does."""

from collections.abc import Callable, Sequence
from typing import Any

from ..run import Task, tasks
from ..spec import Row, Table, parse_table
from . import boxes, spheres
from .dice import Dice

NAME = "oracle"
FIRST_SEED = 1000  # recipes and thresholds were chosen on seeds below it

# Seed s draws a setting of kind s mod their number, so that each kind is drawn equally often.
KINDS: dict[str, Callable[[Dice], dict[str, Any]]] = {
    "rotations": spheres.rotations,
    "box axes": boxes.axes,
    "kept": spheres.kept,
    "blocks": spheres.blocks,
    "box affine": boxes.affine,
    "corrected": spheres.corrected,
    "mistuned": spheres.mistuned,
    "axes": spheres.axes,
    "box unreached": boxes.unreached,
    "lengths": spheres.lengths,
    "even score": spheres.even_score,
    "box on a sphere": boxes.on_a_sphere,
    "projected": spheres.projected,
    "other exponent": boxes.other_exponent,
    "gathered": spheres.gathered,
    "unbounded": boxes.unbounded,
    "silent": spheres.silent,
}


def kind(seed: int) -> str:
    return list(KINDS)[seed % len(KINDS)]


def table(seeds: Sequence[int]) -> Table:
    """The settings of these seeds, a row each, checked as any table is."""
    content = {
        "title": "Random settings: does training find what the verdict says?",
        "source": "drawn at random, docs/oracle.md",
        "seeds": list(seeds),
        "row": [
            {"id": str(seed), "name": f"{kind(seed)}, seed {seed}", **KINDS[kind(seed)](Dice(seed))} for seed in seeds
        ],
    }
    return parse_table(NAME, content)


def seed_of(row: Row) -> int:
    """What the row was drawn from; its run has the same seed."""
    return int(row.id)


def runs(drawn: Table, out: str) -> list[Task]:
    """One run for each setting."""
    return [
        task
        for row in drawn.rows
        for task in tasks(drawn, recipe="fast", seeds=[seed_of(row)], out=out, rows=[row.id], baselines=False)
    ]
