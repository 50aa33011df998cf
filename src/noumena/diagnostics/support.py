"""Where embeddings live: on a sphere, in a box, or anywhere."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..finding import Curve
from .moments import Moments
from .reading import Reading

ROUND = 1e-3  # largest relative deviation of a length from the radius of a sphere
EDGE = (50, 200)  # values looked at near each end of a coordinate: a hundredth of the rows, within these bounds
HARD = 0.35  # mean place of those values between the innermost (0) and the outermost (1): .5 at an edge, .2 in a tail
HARDEST = 0.28  # the same, for the softest of all ends


@dataclass(frozen=True, eq=False)
class Support:
    """A space, and the change of scale that brings it to its unit: radius 1, sides from 0 to 1.

    Attributes:
        kind: "sphere", "box" or "free".
        offset, scale: Coordinates in the unit are (h - offset) * scale.
        reason: What told it.
    """

    kind: str
    offset: Float[Tensor, " d"]
    scale: Float[Tensor, " d"]
    reason: str

    def unit(self, h: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        if self.kind == "sphere":
            return h / h.norm(dim=1, keepdim=True)
        return (h - self.offset) * self.scale

    @property
    def radius(self) -> float:
        """Of a sphere."""
        return 1 / float(self.scale[0])


def find(moments: Moments, h: Float[Tensor, "n d"], claimed: str) -> Support:
    """The space that rows were claimed to lie in, or the one that they seem to lie in ("auto").

    Rows of one length lie on a sphere. A coordinate has an edge where its outermost values are spread evenly, as they
    are at a cut; those of a tail crowd together at its inner end. A box has edges at both ends of every coordinate.
    """
    deviation = (moments.longest - moments.shortest) / (moments.longest + moments.shortest)
    edges = edge_places(h)
    is_box = bool(edges.mean() > HARD) and bool((edges > HARDEST).all())
    zero, one = torch.zeros_like(moments.low), torch.ones_like(moments.low)
    if claimed == "sphere" and deviation > ROUND:
        raise ValueError(
            "`space` cannot be 'sphere': rows must have one length, and theirs range from "
            f"{moments.shortest:.4g} to {moments.longest:.4g}. Normalise them, or leave `space` out."
        )
    if claimed == "sphere" or (claimed == "auto" and deviation <= ROUND):
        radius = (moments.longest + moments.shortest) / 2
        reason = f"all rows have length {radius:.4g}, to {max(deviation, 1e-16):.1g}"
        return Support("sphere", zero, one / radius, reason)
    if claimed == "box" or (claimed == "auto" and is_box):
        reason = f"values near the ends of coordinates are spread as at an edge (mean place {float(edges.mean()):.2f})"
        return Support("box", moments.low, 1 / (moments.high - moments.low), reason)
    reason = (
        f"lengths of rows range from {moments.shortest:.3g} to {moments.longest:.3g}, and coordinates have tails, "
        f"not edges (mean place {float(edges.mean()):.2f})"
    )
    return Support("free", zero, one, reason)


def edge_places(h: Float[Tensor, "n d"]) -> Float[Tensor, "two d"]:
    """For each end of each coordinate, the mean place of its outermost values between the inner and the outer one."""
    k = min(max(len(h) // 100, EDGE[0]), EDGE[1])
    places = []
    for signed in (h, -h):
        outer = signed.topk(k, dim=0).values
        span = (outer[0] - outer[-1]).clamp(min=torch.finfo(h.dtype).tiny)
        places.append(((outer[1:-1] - outer[-1]) / span).mean(dim=0))
    return torch.stack(places)


def read(support: Support, moments: Moments, h: Float[Tensor, "n d"], claimed: str) -> Reading:
    """As a reading: nothing to judge, but all that follows depends on it."""
    names = {"sphere": "on a sphere", "box": "in a box", "free": "anywhere (no sphere, no box)"}
    density = np.histogram(h.numpy(), bins=60, density=True)
    middle = ((density[1][1:] + density[1][:-1]) / 2).tolist()
    told = "as claimed" if claimed != "auto" else support.reason
    return Reading(
        name="space",
        number="shortest row over longest row",
        value=moments.shortest / moments.longest,
        interval=(moments.shortest / moments.longest, moments.shortest / moments.longest),
        verdict="ok",
        sentence=f"Embeddings lie {names[support.kind]}: {told}.",
        advice="" if claimed != "auto" else "If this is wrong, name the space: space='sphere', 'box' or 'free'.",
        curves={"all columns": Curve(middle, density[0].tolist(), "value of a coordinate", "density")},
    )
