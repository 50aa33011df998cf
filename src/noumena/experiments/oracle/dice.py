"""Draws that settings are made of."""

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import torch

from ..._rng import streams

T = TypeVar("T")
DIGITS = 4  # significant ones of every drawn number: a description is read by people too


class Dice:
    """What a seed decides of a setting. Its stream is not one of those that the seed's run draws from.

    Args:
        seed: Of the setting.
    """

    def __init__(self, seed: int) -> None:
        (first,) = torch.randint(2**62, (1,), generator=streams(seed).world).tolist()
        self.generator = torch.Generator().manual_seed(first)

    def between(self, low: float, high: float) -> float:
        """Uniform in its logarithm."""
        u = float(torch.rand((), generator=self.generator, dtype=torch.float64))
        return rounded(low * (high / low) ** u)

    def whole(self, low: int, high: int) -> int:
        """Both ends included."""
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def one(self, choices: Sequence[T]) -> T:
        return choices[self.whole(0, len(choices) - 1)]

    def mixing(self, dim: int, *, linear: bool = False) -> dict[str, Any]:
        """Identity, linear, a spiral or an invertible MLP; the first two alone if `linear`."""
        kinds: list[dict[str, Any]] = [
            {"kind": "identity.Identity"},
            {"kind": "linear.InjectiveLinear", "dim_out": 2 * dim},
        ]
        if not linear:
            kinds += [
                {"kind": "spiral.Spiral", "period": self.between(0.25, 1)},
                {"kind": "mlp.InvertibleMLP", "layers": self.whole(2, 3), "pool": 1000},
            ]
        return self.one(kinds)


def rounded(value: float) -> float:
    """To a few significant digits."""
    return round(value, DIGITS - 1 - math.floor(math.log10(abs(value))))
