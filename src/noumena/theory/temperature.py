"""A temperature that does not match, on embeddings of fixed length: when isometries are still the best maps."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks, _vmf
from ..spaces import Sphere


@dataclass(frozen=True)
class Tilt:
    """h(z) = r (z + shift e_1) / |z + shift e_1|, r = |z|: points pulled towards one pole, the identity at shift 0.

    It gives up some uniformity for alignment, which pays where the score is much sharper than the pairs.

    Args:
        shift: At least 0. Beyond 1, in units of |z|, it is no longer onto; as it grows it tends to a constant map.
    """

    shift: float

    def __post_init__(self) -> None:
        _checks.at_least("shift", self.shift, 0.0)

    def __call__(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """The embeddings of latents."""
        radius = _checks.matrix("z", z).norm(dim=1, keepdim=True)
        h = z / radius
        h = torch.cat([h[:, :1] + self.shift, h[:, 1:]], dim=1)
        return radius * h / h.norm(dim=1, keepdim=True)


def temperature_slack(dim: int, kappa: float, beta: float) -> float:
    """How firmly isometries stand in InfoNCE on a unit sphere: negative where a map is known to beat them.

    Positives are von Mises-Fisher of concentration `kappa`, the score is `beta` h.h' (beta = r^2/tau for embeddings of
    length r), latents are uniform. At beta = kappa isometries are the optimum (Theorem 4.4 of "The Loss Is Not
    Enough"). Elsewhere they still beat every map of mean zero (Statement 2 of docs/theory.md). The value is the lesser
    of two margins: the curvature of the loss along `Tilt`, per squared norm of the mean, and the loss of a constant map
    (0) less that of isometries. Above 0 isometries are a local minimum below the constant map; no more is proved.
    """
    if _checks.count("dim", dim) < 2:
        raise ValueError(f"`dim` must be at least 2, got {dim}: two points have no temperature to match.")
    _checks.at_least("kappa", kappa, 0.0)
    _checks.positive("beta", beta)
    # Eigenvalues of the pairs' and of the score's kernel for harmonics of degree 1 and 2.
    first = _mean_cosine(kappa, dim)
    second = first * _mean_cosine(kappa, dim + 2)
    score = _mean_cosine(beta, dim)
    curvature = dim * score * (1 - score / 2) - beta * ((1 - first) - (first - second) / (dim - 1))
    return min(curvature, -_loss_of_isometries(dim, beta, first))


def _loss_of_isometries(dim: int, beta: float, mean_cosine: float) -> float:
    """log E exp(beta z.z') - beta E z.z+, less log M."""
    scaled = _vmf.log_scaled_normaliser(torch.tensor(beta, dtype=torch.float64), dim)
    return float(scaled) + beta - Sphere(dim).log_volume - beta * mean_cosine


def _mean_cosine(concentration: float, dim: int) -> float:
    return float(_vmf.mean_resultant(torch.tensor(concentration, dtype=torch.float64), dim))
