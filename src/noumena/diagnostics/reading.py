"""What a diagnosis says: readings, each a number with its interval, a sentence, and what to change."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _checks
from ..finding import Curve

VERDICTS = ("ok", "warning", "problem")
CONFIDENCE = 0.95  # of every interval


@dataclass(frozen=True)
class Reading:
    """One question to the data and its answer.

    Attributes:
        name: A word, by which `Diagnosis` knows it.
        number: What `value` is, in words.
        value, interval: The number, and where it lies with 95 % confidence; None where there is nothing to measure.
        verdict: "ok", "warning" (learning works, but differently from what one might think) or "problem" (an
            assumption of the theory fails).
        sentence: What was found.
        advice: What to change; empty if nothing.
        test: Null hypothesis and statistic, where there is a test; and
        p_value: of it. A verdict other than "ok" needs one below the level of a single test, and an effect that
            matters.
        details: Other numbers, as plain data.
        curves: To look at. Those called "NAME, low" and "NAME, high" bound the curve NAME.
    """

    name: str
    number: str
    value: float | None
    interval: tuple[float, float] | None
    verdict: str
    sentence: str
    advice: str = ""
    test: str = ""
    p_value: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _checks.choice("verdict", self.verdict, VERDICTS)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is not finite becomes None."""
        return {
            "name": self.name,
            "number": self.number,
            "value": _finite(self.value),
            "interval": None if self.interval is None else [_finite(end) for end in self.interval],
            "verdict": self.verdict,
            "sentence": self.sentence,
            "advice": self.advice,
            "test": self.test,
            "p_value": _finite(self.p_value),
            "details": _plain(self.details),
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
        }

    def __str__(self) -> str:
        lines = [f"{self.verdict:8}{self.name}: {self.sentence}"]
        if self.value is not None:
            between = "" if self.interval is None else f" [{figures(self.interval[0])}, {figures(self.interval[1])}]"
            p = "" if self.p_value is None else f", p = {self.p_value:.2g}"
            lines.append(f"        {self.number}: {figures(self.value)}{between}{p}")
        if self.advice:
            lines.append(f"        -> {self.advice}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Diagnosis:
    """All readings of one set of pairs; `diagnosis["diversity"]` is one of them.

    Attributes:
        readings: In the order in which they matter.
        n, dim: Pairs and coordinates.
        space: "sphere", "box" or "free".
        level: False-alarm rate of all tests together: how often at least one alarms where every null hypothesis holds.
    """

    readings: tuple[Reading, ...]
    n: int
    dim: int
    space: str
    level: float

    @property
    def verdict(self) -> str:
        """The worst of all."""
        return max((reading.verdict for reading in self.readings), key=VERDICTS.index)

    def __getitem__(self, name: str) -> Reading:
        for reading in self:
            if reading.name == name:
                return reading
        raise LookupError(f"no reading `{name}`; there are {', '.join(reading.name for reading in self)}.")

    def __iter__(self) -> Iterator[Reading]:
        return iter(self.readings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `noumena diagnose --json` prints it."""
        return {
            "n": self.n,
            "dim": self.dim,
            "space": self.space,
            "level": self.level,
            "verdict": self.verdict,
            "readings": [reading.to_dict() for reading in self],
        }

    def __str__(self) -> str:
        head = f"{self.n} pairs of {self.dim} coordinates, {self.space}: {self.verdict}"
        return "\n".join([head, *map(str, self.readings)])


def figures(value: float) -> str:
    """Three figures, or a whole number."""
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 1e3 or abs(value) >= 1e6 else f"{value:.0f}"


def band(name: str, x: Sequence[float], lines: Sequence[Sequence[float]], labels: tuple[str, str]) -> dict[str, Curve]:
    """A curve and the two that bound it: `lines` are its values, their lower and their upper ends."""
    names = (name, f"{name}, low", f"{name}, high")
    return {one: Curve(x, tuple(line), *labels) for one, line in zip(names, lines, strict=True)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return _finite(value) if isinstance(value, float) else value
