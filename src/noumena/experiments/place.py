"""Where runs happen: in this process, or in several local ones. The numbers are the same bit for bit."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from .. import _checks

T = TypeVar("T")
R = TypeVar("R")

PLACES = ("local", "workers")


def each(place: str, work: Callable[[T], R], tasks: Sequence[T], workers: int | None = None) -> Iterator[R]:
    """`work` of every task, as they finish.

    Args:
        place: "local", one after another in this process; "workers", side by side in processes of joblib's loky.
        work: A function of a module, free of global state.
        tasks: Data that can be pickled.
        workers: Processes; one for each core by default.
    """
    _checks.choice("place", place, PLACES)
    if place == "local":
        return map(work, tasks)
    from joblib import Parallel, delayed

    count = _checks.count("workers", workers) if workers is not None else (os.cpu_count() or 1)
    parallel: Any = Parallel(n_jobs=min(count, max(1, len(tasks))), backend="loky", return_as="generator_unordered")
    return parallel(delayed(work)(task) for task in tasks)
