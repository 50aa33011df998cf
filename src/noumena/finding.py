"""What a reading or a computation found: numbers by name, and curves to look at."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch import Tensor

from . import _checks


@dataclass(frozen=True)
class Curve:
    """One line of a picture.

    Args:
        x, y: Its points, equally many.
        x_label, y_label: What the axes say.
    """

    x: Sequence[float]
    y: Sequence[float]
    x_label: str
    y_label: str

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            values = _checks.sequence(name, getattr(self, name))
            object.__setattr__(self, name, tuple(_checks.number(name, value) for value in values))
        if len(self.x) != len(self.y) or not self.x:
            raise ValueError(
                f"`y` must have one value for each of `x`, at least one; got {len(self.y)}, {len(self.x)}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "x": list(self.x), "y": list(self.y)}


@dataclass(frozen=True)
class Finding:
    """Numbers by name, curves by name, and pictures by name: images (n, c, h, w) as bytes."""

    values: dict[str, float]
    curves: dict[str, Curve] = field(default_factory=dict)
    pictures: dict[str, Tensor] = field(default_factory=dict)
