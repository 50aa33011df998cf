"""What changes over a run: learning rates, batch size, temperature."""

import math
from dataclasses import dataclass

from torch import nn

from .. import _checks


@dataclass(frozen=True)
class Schedule:
    """Learning rates over a run of given length: a linear warm-up, then what `shape` says.

    Args:
        warmup: Share of the steps spent warming up.
        shape: "cosine" falls along half a cosine to 0 at the end; "constant" stays.
    """

    warmup: float = 0.02
    shape: str = "cosine"

    def __post_init__(self) -> None:
        _checks.within("warmup", self.warmup, 0.0, 1.0)
        _checks.choice("shape", self.shape, ("cosine", "constant"))

    def factor(self, step: int, steps: int) -> float:
        """What the learning rate is multiplied by at `step` of `steps`, counted from 0."""
        warm = self.warmup * steps
        if step < warm:
            return (step + 1) / (warm + 1)
        if self.shape == "constant":
            return 1.0
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1.0, steps - warm)))


@dataclass(frozen=True)
class BatchGrowth:
    """A batch that grows geometrically: cheap noisy steps first, exact ones when they begin to matter.

    Args:
        start, end: Pairs in the first batch and in the last.
        share: Share of the steps after which `end` is reached.
        multiple: Every batch is a multiple of it, as `GroupedSupport` asks of its group size.
    """

    start: int
    end: int
    share: float = 1.0
    multiple: int = 1

    def __post_init__(self) -> None:
        _checks.count("multiple", self.multiple)
        for name, size in {"start": self.start, "end": self.end}.items():
            _checks.count(name, size)
            if size % self.multiple:
                raise ValueError(f"`{name}` must be a multiple of {self.multiple}, got {size}.")
        _checks.within("share", self.share, 0.0, 1.0)

    def size(self, step: int, steps: int) -> int:
        """Pairs in the batch of `step` of `steps`, counted from 0."""
        exact = _geometric(self.start, self.end, _progress(step, steps, self.share))
        return round(exact / self.multiple) * self.multiple


@dataclass(frozen=True)
class Annealing:
    """A fixed temperature that moves geometrically from `start` to `end` and stays there.

    A hot start, in which every pair counts, frees encoders that would settle in a fold of the sphere at the matched
    temperature. Whatever the loss was built with, `end` is the temperature in force at the end of the run.

    Args:
        start, end: First and last value, positive.
        share: Share of the steps after which `end` is reached.
        what: Which settings to move: those modules of loss and encoder that have this name and can be `set`.
    """

    start: float
    end: float
    share: float = 0.5
    what: str = "temperature"

    def __post_init__(self) -> None:
        _checks.positive("start", self.start)
        _checks.positive("end", self.end)
        _checks.within("share", self.share, 0.0, 1.0)
        _checks.kind("what", self.what, str)

    def value(self, step: int, steps: int) -> float:
        """The value at `step` of `steps`, counted from 0."""
        return _geometric(self.start, self.end, _progress(step, steps, self.share))

    def targets(self, *modules: nn.Module) -> list[nn.Module]:
        """The settings that it moves, refused if there are none."""
        settings = [
            (name.split(".")[-1], part)
            for module in modules
            for name, part in module.named_modules()
            if callable(getattr(part, "set", None))
        ]
        found = [part for name, part in settings if name == self.what]
        if not settings:
            raise ValueError("`annealing` needs a loss with a temperature to set, such as `InfoNCE(Dot(tau=0.1))`.")
        if not found:
            _checks.choice("what", self.what, sorted({name for name, _ in settings}))
        return found


def _progress(step: int, steps: int, share: float) -> float:
    """From 0 at the first step to 1 once `share` of the steps are over."""
    last = share * (steps - 1)
    return 1.0 if step >= last else step / last


def _geometric(start: float, end: float, progress: float) -> float:
    # The ends are exact, whatever the rounding of the powers between them.
    if progress in (0.0, 1.0):
        return end if progress else start
    return start * (end / start) ** progress
