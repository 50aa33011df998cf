"""What a training run says of itself at one step."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Record:
    """One line of a run.

    Attributes:
        step: Steps taken so far.
        seconds: Time spent on training, measurement left out.
        core_seconds: Processor time of the same in this process, all threads: a crowded machine does not stretch it.
        loss: Mean of the loss over the steps since the record before.
        parts: Its named summands, averaged likewise.
        metrics: What was measured at this step, by name; empty where nothing was.
        learned: Temperatures, and the precision, importance, radius or bounds that are trained.
    """

    step: int
    seconds: float
    core_seconds: float
    loss: float
    parts: dict[str, float] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    learned: dict[str, list[float]] = field(default_factory=dict)

    def to_json(self) -> str:
        """The record as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Record":
        return cls(**json.loads(line))
