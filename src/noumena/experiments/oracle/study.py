"""The settings of a range of seeds, predicted, trained and judged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...training import Diverged
from ..folder import Outcome
from ..place import each
from ..run import Task, perform
from .judge import Judged, judge, predict
from .settings import runs, table


@dataclass(frozen=True)
class Failed:
    """A run that diverged, and why."""

    row: str
    reason: str


class Study:
    """Settings and their runs. Predictions are made first: what training finds cannot move them.

    Args:
        seeds: Of the settings, one each.
        out: Folder of the runs; finished ones are read, begun ones resumed.
    """

    def __init__(self, seeds: Sequence[int], out: str) -> None:
        drawn = table(seeds)
        self.predictions = {row.id: predict(row) for row in drawn.rows}
        self.tasks = runs(drawn, out)

    def run(self, place: str = "local") -> Iterator[Judged]:
        """Each setting as its run ends; `place` as in `noumena run`."""
        for found in each(place, attempt, self.tasks):
            prediction = self.predictions[found.row]
            if isinstance(found, Failed):
                yield Judged(prediction, failure=found.reason)
            else:
                yield judge(prediction, found)


def attempt(task: Task) -> Outcome | Failed:
    """The run's outcome; one that diverges is a finding about its setting, and must not end the others."""
    try:
        return perform(task)
    except Diverged as error:
        return Failed(task.description.row, str(error))
