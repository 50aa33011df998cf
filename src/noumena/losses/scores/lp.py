"""The p-th power of the Lp distance."""

from jaxtyping import Float
from torch import Tensor

from ... import _checks
from ..kernels import AbstractKernel, PowerKernel, SquaredKernel
from ._temperature import Temperature
from .base import AbstractScore, scaled


class Lp(AbstractScore):
    """Score of the generalised-normal model: s(h, h') = -sum_j |h_j - h'_j|^p / tau.

    Matches `GeneralizedNormal(p, scale)` when tau = scale**p: score and log density then differ by a term free of
    h', which InfoNCE cannot see (on a box too, where only the normaliser knows of the bounds). It is the p-th
    *power* of the norm; the norm itself is another model. Never normalises its inputs.

    Args:
        p: Exponent, at least 1. p = 2 allows any rotation; other p leave only permutations and signs.
        tau: Temperature, positive. Smaller is sharper.
        learnable: Whether the temperature is trained (through its logarithm).
    """

    def __init__(self, p: float, tau: float = 1.0, learnable: bool = False) -> None:
        super().__init__()
        self.p = _checks.at_least("p", p, 1.0)
        self.temperature = Temperature(tau, learnable)

    @property
    def tau(self) -> float:
        return self.temperature.value

    @property
    def kernel(self) -> AbstractKernel:
        return SquaredKernel() if self.p == 2 else PowerKernel(self.p)

    def fold(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        return scaled(h, self.temperature() ** (-1 / self.p))
