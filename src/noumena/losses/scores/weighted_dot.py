"""An inner product with an importance for each coordinate."""

import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from ..kernels import AbstractKernel, DotKernel
from ._positive import PositiveVector
from ._temperature import Temperature
from .base import AbstractScore, require_dim, scaled


class WeightedDot(AbstractScore):
    """s(h, h') = h^T diag(importance) h' / tau, the similarity of TriCL.

    `AnisotropicScore` weights squared differences instead; on the sphere the two are different models unless the
    weights are equal. Never normalises its inputs.

    Args:
        importance: (Initial) values, one for each coordinate, positive if trained; a single number with `dim`.
        dim: Number of coordinates, where `importance` is a single number.
        tau: Temperature, positive. Smaller is sharper.
        learnable: Whether the importance is trained (as the softplus of a free parameter).
        learnable_tau: Whether the temperature is trained too; the importance already scales the score.
    """

    def __init__(
        self,
        importance: float | Sequence[float] | Tensor = math.log(2),
        dim: int | None = None,
        *,
        tau: float = 1.0,
        learnable: bool = True,
        learnable_tau: bool = False,
    ) -> None:
        super().__init__()
        self.values = PositiveVector("importance", importance, dim, learnable)
        self.temperature = Temperature(tau, learnable_tau)

    @property
    def importance(self) -> Float[Tensor, " d"]:
        """The weights; they carry a gradient when they are trained."""
        return self.values()

    @property
    def tau(self) -> float:
        return self.temperature.value

    @property
    def kernel(self) -> AbstractKernel:
        return DotKernel()

    def fold(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        require_dim(h, self.values.dim)
        return scaled(h, self.importance / self.temperature())

    def fold_candidates(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        return h
