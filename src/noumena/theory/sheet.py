"""What the pairs of a world look like, where observations are images."""

import torch
from torch import Tensor

from .. import _checks
from ..conditionals import AbstractConditional
from ..finding import Finding
from ..marginals import AbstractMarginal
from ..mixings import AbstractMixing
from .base import AbstractComputation


class PairSheet(AbstractComputation):
    """Anchors and positives to look at, and how far apart they are.

    Gives `pair_distance` and `marginal_distance`, the root mean squared difference of an entry between the images of a
    pair, and between images of independent latents; and `distance_ratio`, the first over the second: near 1 a positive
    is hardly nearer than any other image. Pictures are `anchors` and `positives`.

    Args:
        marginal, conditional: Laws of latents.
        mixing: To images.
        n: Pairs that distances are measured on.
        pictures: How many of them are kept as pictures.
    """

    def __init__(
        self,
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        mixing: AbstractMixing,
        n: int = 2000,
        pictures: int = 24,
    ) -> None:
        self.marginal, self.mixing = marginal, mixing
        self.conditional = conditional.on(marginal.space) if conditional.space is None else conditional
        self.n = _checks.count("n", n, low=2)
        self.pictures = min(self.n, _checks.count("pictures", pictures))
        self.shape = tuple(getattr(mixing, "shape_out", None) or ())
        if len(self.shape) != 3:
            raise ValueError(f"`mixing` must make images, and `{type(mixing).__name__}` makes vectors.")

    @property
    def names(self) -> tuple[str, ...]:
        return ("pair_distance", "marginal_distance", "distance_ratio")

    @torch.no_grad()
    def __call__(self, generator: torch.Generator) -> Finding:
        z = self.marginal.sample(self.n, generator=generator, dtype=torch.float32)
        z_pos = self.conditional.sample(z, generator=generator)
        x, x_pos = self.mixing(z).flatten(1), self.mixing(z_pos).flatten(1)
        # Shifted by one, anchors stand beside others that are independent of them.
        pair, marginal = _distance(x, x_pos), _distance(x, x.roll(1, 0))
        return Finding(
            {"pair_distance": pair, "marginal_distance": marginal, "distance_ratio": pair / marginal},
            pictures={"anchors": self._pictures(x), "positives": self._pictures(x_pos)},
        )

    def _pictures(self, x: Tensor) -> Tensor:
        images = x[: self.pictures].reshape(-1, *self.shape)
        return (images.clamp(0, 1) * 255).round().to(torch.uint8)


def _distance(x: Tensor, other: Tensor) -> float:
    return float((x - other).square().mean().sqrt())
