"""Square layers with leaky activations: the mixing of the sphere and box experiments."""

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ._weights import conditioned, orthogonal
from .base import AbstractMixing


class InvertibleMLP(AbstractMixing):
    """x = W_L a(W_{L-1} ... a(W_1 z)), with square W_l, no biases, and a strictly increasing activation a.

    Three layers therefore mean two activations. Columns of W_l have unit norm, entries Uniform(-1, 1) before scaling,
    and condition numbers at most a threshold: the given quantile of those of a pool of draws. Zimmermann et al. (2021)
    and AnInfoNCE take the smallest of 25 000; "The Loss Is Not Enough" (arXiv 2606.04280) the first quartile of 10 000
    (`pool=10_000, quantile=0.25`). `condition_numbers` and `threshold` say what came of it. With weights "orthogonal"
    every layer keeps distances and only the activations bend space.

    Without biases a leaky ReLU makes the map homogeneous, g(t z) = t g(z) for t > 0, and piecewise linear. The
    activation "smooth_leaky_relu", slope v + (1 - slope) softplus(v), does neither; its inverse is numerical, to
    round-off.

    Args:
        dim: Coordinates of z, of x and of every layer.
        layers: Number of matrices.
        generator: Draws the pool and the matrices.
        slope: Slope of the activation on the far negative side, in (0, 1]; 1 makes the map linear.
        activation: "leaky_relu" or "smooth_leaky_relu", between layers only.
        weights: "conditioned" or "orthogonal"; the latter ignores the pool.
        pool: Draws whose condition numbers set the threshold.
        quantile: Which of them it is, in [0, 1]; 0 is the smallest. Larger values mix more unevenly.
        dtype: What the matrices are stored in.
    """

    weights: Tensor
    _threshold: Tensor

    def __init__(
        self,
        dim: int,
        layers: int = 3,
        *,
        generator: torch.Generator,
        slope: float = 0.2,
        activation: str = "leaky_relu",
        weights: str = "conditioned",
        pool: int = 25_000,
        quantile: float = 0.0,
        dtype: torch.dtype = torch.float64,
    ):
        super().__init__()
        self.dim_in = self.dim_out = _checks.count("dim", dim)
        _checks.count("layers", layers)
        _checks.generator(generator)
        _checks.dtype(dtype)
        if _checks.positive("slope", slope) > 1:
            raise ValueError(f"`slope` must be at most 1, the slope on the positive side; got {slope!r}.")
        self.slope = float(slope)
        self.activation = _checks.choice("activation", activation, ("leaky_relu", "smooth_leaky_relu"))
        _checks.choice("weights", weights, ("conditioned", "orthogonal"))
        _checks.count("pool", pool)
        _checks.within("quantile", quantile, 0.0, 1.0)
        if weights == "conditioned":
            matrices, threshold = conditioned(dim, layers, generator, pool, quantile)
        else:
            matrices, threshold = orthogonal(dim, layers, generator), float("inf")
        self.register_buffer("weights", matrices.to(dtype))
        # A buffer, so that a loaded state brings its own threshold along.
        self.register_buffer("_threshold", torch.tensor(threshold, dtype=torch.float64, device=matrices.device))

    @property
    def condition_numbers(self) -> Float[Tensor, " layers"]:
        """Ratio of the extreme singular values of each layer, first layer first."""
        return torch.linalg.cond(self.weights)

    @property
    def threshold(self) -> float:
        """What the condition numbers had to stay below; infinite for orthogonal weights, which have 1."""
        return float(self._threshold)

    def _forward(self, z: Tensor) -> Tensor:
        first, *others = self.weights.to(z)
        x = z @ first.mT
        for weight in others:
            x = self._activate(x) @ weight.mT
        return x

    def _inverse(self, x: Tensor) -> Tensor:
        first, *others = self.weights.to(x)
        for weight in reversed(others):
            x = self._deactivate(torch.linalg.solve(weight, x.mT).mT)
        return torch.linalg.solve(first, x.mT).mT

    def _activate(self, v: Tensor) -> Tensor:
        if self.activation == "leaky_relu":
            return _leaky_relu(v, self.slope)
        return _smooth_leaky_relu(v, self.slope)

    def _deactivate(self, v: Tensor) -> Tensor:
        above = _leaky_relu(v, 1 / self.slope)
        if self.activation == "leaky_relu":
            return above
        return _solve_smooth(v, self.slope, above)


def _leaky_relu(v: Tensor, slope: float) -> Tensor:
    return torch.where(v < 0, slope * v, v)


def _smooth_leaky_relu(v: Tensor, slope: float) -> Tensor:
    # logaddexp is softplus without the linear approximation that torch's softplus switches to.
    return slope * v + (1 - slope) * torch.logaddexp(v, torch.zeros_like(v))


def _solve_smooth(target: Tensor, slope: float, start: Tensor) -> Tensor:
    """The root of `_smooth_leaky_relu` = `target` by Newton's method, from a `start` that is not below it.

    The function is increasing and convex, so the iterates fall to the root and never pass it. The inverse of the
    leaky ReLU is such a start, because softplus lies above ReLU.
    """
    root = start
    tolerance = 4 * torch.finfo(target.dtype).eps
    for _ in range(200):  # quadratic once near; from afar a step is at least about one unit
        step = (_smooth_leaky_relu(root, slope) - target) / (slope + (1 - slope) * root.sigmoid())
        root = root - step
        if bool((step.abs() <= tolerance * (1 + root.abs())).all()):
            break
    return root
