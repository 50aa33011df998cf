"""When a run has come far enough."""

from collections.abc import Mapping
from dataclasses import dataclass

from .. import _checks


@dataclass(frozen=True)
class Target:
    """Stop at the first record whose `metric` is good enough.

    Args:
        metric: Its name in the record.
        at_least, at_most: Good enough; exactly one of them.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        _checks.kind("metric", self.metric, str)
        given = {"at_least": self.at_least, "at_most": self.at_most}
        given = {name: bound for name, bound in given.items() if bound is not None}
        if len(given) != 1:
            raise ValueError(f"`Target` takes one of `at_least` and `at_most`, got {len(given)}.")
        for name, bound in given.items():
            _checks.number(name, bound)

    def reached(self, metrics: Mapping[str, float]) -> bool:
        value = metrics[_checks.choice("until", self.metric, metrics)]
        return value >= self.at_least if self.at_least is not None else value <= (self.at_most or 0.0)
