"""A squared distance with a precision for each coordinate."""

import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from ..kernels import AbstractKernel, SquaredKernel
from ._positive import PositiveVector
from .base import AbstractScore, require_dim, scaled


class AnisotropicScore(AbstractScore):
    """s(h, h') = -(h - h')^T diag(precision) (h - h'): positives may vary unevenly across factors (AnInfoNCE).

    Matches `Anisotropic(precision)` for unit embeddings. A trained precision is softplus of a free parameter, as in
    the published code; on real images the paper also uses it on embeddings that are not normalised.

    Args:
        precision: (Initial) values, one for each coordinate, positive if trained; a single number with `dim`.
        dim: Number of coordinates, where `precision` is a single number.
        learnable: Whether the precision is trained.
        half: Put the published code's factor one half in front. The precision then matches
            `Anisotropic(precision, half=True)`; the same pairs give twice the value that `half=False` gives.
    """

    def __init__(
        self,
        precision: float | Sequence[float] | Tensor = math.log(2),
        dim: int | None = None,
        *,
        learnable: bool = True,
        half: bool = False,
    ) -> None:
        super().__init__()
        self.values = PositiveVector("precision", precision, dim, learnable)
        self.factor = 0.5 if half else 1.0  # `half` would hide the method of nn.Module

    @property
    def precision(self) -> Float[Tensor, " d"]:
        """The diagonal of the precision matrix; carries a gradient when it is trained."""
        return self.values()

    @property
    def kernel(self) -> AbstractKernel:
        return SquaredKernel()

    def fold(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        require_dim(h, self.values.dim)
        return scaled(h, (self.factor * self.precision).sqrt())
