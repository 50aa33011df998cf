"""Have embeddings collapsed onto fewer directions than they have coordinates?"""

import torch
from jaxtyping import Float
from scipy.special import stdtrit
from torch import Tensor

from ..finding import Curve
from .diversity import DEAD
from .moments import ALL, GROUPS, Moments
from .reading import CONFIDENCE, Reading
from .sample import Sample

USED = 0.5  # effective rank over coordinates; below this half of them do little


def effective_rank(covariance: Float[Tensor, "d d"]) -> float:
    """The exponential of the entropy of normalised eigenvalues (Roy and Vetterli, 2007): d if all directions vary
    alike, 1 if one does all."""
    share = torch.linalg.eigvalsh(covariance).clamp(min=0)
    share = share / share.sum()
    return float(torch.special.entr(share).sum().exp())


def read(sample: Sample) -> Reading:
    moments, d = sample.moments, sample.dim
    covariance = moments.covariance()
    variance = torch.linalg.eigvalsh(covariance).flip(0)
    dead = int((variance <= DEAD * variance.mean()).sum())
    rank = effective_rank(covariance)
    width = _width(moments)
    verdict = "problem" if dead else "warning" if rank < USED * d else "ok"
    labels = ("direction, widest first", "variance over the mean")
    relative = (variance / variance.mean()).clamp(min=1e-16)
    return Reading(
        name="rank",
        number="effective rank",
        value=rank,
        interval=(max(1.0, rank - width), min(float(d), rank + width)),
        verdict=verdict,
        sentence=(
            f"Of {d} directions {dead} do not vary at all, and {rank:.3g} do the work of all."
            if dead
            else f"Embeddings use {rank:.3g} of {d} directions, counted by their share of the variance."
        ),
        advice=(
            "Give the encoder fewer output coordinates, or look for a dead last layer; CCA or R² against factors "
            "should be taken on the directions that vary."
            if dead
            else "Fewer output coordinates would do; or the temperature is so low, or training so short, that only "
            "the easiest directions were learned."
            if verdict == "warning"
            else ""
        ),
        details={"variance": variance.tolist(), "dead": dead},
        curves={"variance": Curve([j + 1.0 for j in range(d)], relative.tolist(), *labels)},
    )


def _width(moments: Moments) -> float:
    """Half the interval of the rank, by the jackknife that leaves one group out."""
    left = [effective_rank(moments.covariance([g for g in ALL if g != out])) for out in ALL]
    spread = torch.tensor(left, dtype=torch.float64)
    error = ((GROUPS - 1) / GROUPS * (spread - spread.mean()).square().sum()).sqrt()
    return float(stdtrit(GROUPS - 1, (1 + CONFIDENCE) / 2)) * float(error)
