"""How fast a run goes."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..training import BatchGrowth, Record, options


def pairs_per_second(found: Sequence[Record], train: Mapping[str, Any]) -> float:
    """Of the steps between the last two records, or up to the first."""
    last, before = found[-1], found[-2] if len(found) > 1 else None
    since, seconds = (0, 0.0) if before is None else (before.step, before.seconds)
    size = options({"batch_size": train["batch_size"]})["batch_size"]
    growing = isinstance(size, BatchGrowth)
    pairs = sum(size.size(step, train["steps"]) if growing else size for step in range(since, last.step))
    return pairs / (last.seconds - seconds) if last.seconds > seconds else float("nan")
