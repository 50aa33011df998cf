"""The story in five acts, as a table of the package's own: recovery, collapse, and what restores what was lost."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import _checks
from .run import Task, tasks
from .spec import Table, parse_table

NAME = "demo"
R2, MCC, ANGLE = "linear_r2", "mcc", "angle_error_normalised"


def acts(seed: int, out: str, steps: int | None = None) -> list[Task]:
    """Every act and the identity beside it, ready for `perform`; acts come in their order.

    Args:
        seed: Decides mixing, pairs, initial values and evaluation.
        out: Folder of the runs.
        steps: Training steps of each stage instead of the acts' own, to try things out.
    """
    _checks.count("seed", seed, low=0)
    return tasks(table(steps), recipe="fast", seeds=[seed], out=out)


def table(steps: int | None = None) -> Table:
    """The acts as rows of a table; `steps` as in `acts`."""
    content = tomllib.loads((Path(__file__).parent / "demo.toml").read_text(encoding="utf-8"))
    return parse_table(NAME, content if steps is None else _shortened(content, _checks.count("steps", steps)))


def _shortened(content: Any, steps: int) -> Any:
    if isinstance(content, list):
        return [_shortened(inner, steps) for inner in content]
    if not isinstance(content, Mapping):
        return content
    return {key: steps if key == "steps" else _shortened(inner, steps) for key, inner in content.items()}


def sentence(act: str, metrics: Mapping[str, float]) -> str:
    """What the spheres of an act show, by what was measured."""
    r2, angle = metrics[R2], metrics[ANGLE]
    numbers = f"R² {r2:.4f}, angle error {angle:.4f}"
    recovered = angle < 0.05
    if act == "collapse":
        if r2 < 0.5:
            return f"colours are scattered: the embedding follows the fixed latent alone ({numbers})."
        return f"the embedding has not collapsed, as it does in most seeds and longer runs ({numbers})."
    if act == "bias" and angle < 0.2:
        return f"colours keep their order but draw in towards the poles: the shrink map ({numbers})."
    if recovered:
        return f"the recovered sphere shows the colours of the latents in their order ({numbers})."
    if act == "corrected" and r2 > 0.6:
        return f"a fold or a bend that the corrected loss cannot tell from the truth; try another seed ({numbers})."
    return f"the latents are not recovered ({numbers})."
