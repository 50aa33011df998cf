"""The inner product."""

from jaxtyping import Float
from torch import Tensor

from ..kernels import AbstractKernel, DotKernel
from ._temperature import Temperature
from .base import AbstractScore, scaled


class Dot(AbstractScore):
    """s(h, h') = h . h' / tau, the score of InfoNCE as it is usually meant.

    Matches `VonMisesFisher(kappa)` for unit embeddings when tau = 1/kappa, or for embeddings of norm r when
    tau = r^2/kappa. It never normalises its inputs: end the encoder in `SphereHead` for the cosine.

    Args:
        tau: Temperature, positive. Smaller is sharper.
        learnable: Whether the temperature is trained (through its logarithm).
    """

    def __init__(self, tau: float = 1.0, learnable: bool = False) -> None:
        super().__init__()
        self.temperature = Temperature(tau, learnable)

    @property
    def tau(self) -> float:
        return self.temperature.value

    @property
    def kernel(self) -> AbstractKernel:
        return DotKernel()

    def fold(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        return scaled(h, 1 / self.temperature())

    def fold_candidates(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        return h
