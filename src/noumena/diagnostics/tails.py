"""How heavy are the tails of the conditional?"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import gammaln, ndtr, ndtri
from torch import Tensor

from ..finding import Curve
from .fitted import Fitted
from .reading import CONFIDENCE, Reading
from .sample import Sample

NORMAL = (1.6, 2.6)  # exponents that are as good as 2
STILL = 1e-6  # of the mean square movement: columns of less have no tails
RANGE = (0.3, 60.0)  # exponents that can be told; 60 is a uniform law in all but name
NUMBER = "exponent p of the tails, exp(-|z' - z|^p)"


class Flatness(NamedTuple):
    """log E|t| / sqrt(E t^2) over directions: the logarithm of Geary's ratio, and its standard error."""

    value: float
    error: float


def flatness(t: Float[Tensor, "n m"]) -> Flatness:
    size, square = t.abs().mean(dim=0), t.square().mean(dim=0)
    influence = (t.abs() / size - 1 - (t.square() / square - 1) / 2).mean(dim=1)
    value = (size.log() - square.log() / 2).mean()
    return Flatness(float(value), float(influence.std() / len(t) ** 0.5))


def exponent(flat: float) -> float:
    """The p at which the generalised normal law has this logarithm of Geary's ratio, within RANGE."""
    low, high = RANGE
    for _ in range(50):  # it rises with p: halving finds it, or the end beyond which it lies
        middle = (low + high) / 2
        low, high = (middle, high) if _flatness_of(middle) < flat else (low, middle)
    return low


def _flatness_of(p: float) -> float:
    return float(gammaln(2 / p) - (gammaln(1 / p) + gammaln(3 / p)) / 2)


def read(sample: Sample, law: Fitted | None) -> Reading:
    if law is None:
        return Reading("tails", NUMBER, None, None, "ok", "Too few directions move for their law to have a shape.")
    v, v_pos = (law.coordinates(view) for view in sample.measure)
    drawn = law.draw(v, sample.generator)
    views = {"directions of Λ": (v_pos - v, drawn - v)}
    if law.kind != "box":
        # A law whose coordinates are independent shows its tails along its own axes; turned ones average them away.
        back = torch.linalg.pinv(law.axes)
        observed, null = (v_pos - v) @ back, (drawn - v) @ back
        square = observed.square().mean(dim=0)
        moving = square > STILL * square.mean()
        views["columns"] = (observed[:, moving], null[:, moving])
    found = {name: (flatness(observed), flatness(null)) for name, (observed, null) in views.items()}
    gaps = {
        name: (one.value - null.value, (one.error**2 + null.error**2) ** 0.5) for name, (one, null) in found.items()
    }
    basis = max(gaps, key=lambda name: abs(gaps[name][0]) / gaps[name][1])
    gap, error = gaps[basis]
    p_value = min(1.0, len(gaps) * 2 * float(ndtr(-abs(gap) / error)))
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    p, low, high = (exponent(_flatness_of(2.0) + gap + sign * quantile * error) for sign in (0, -1, 1))
    heavy, light = p < NORMAL[0], p > NORMAL[1]
    differs = p_value < sample.level and (heavy or light)
    return Reading(
        name="tails",
        number=NUMBER,
        value=p,
        interval=(low, high),
        verdict="warning" if differs else "ok",
        sentence=(
            f"Within pairs, movement has {'heavier' if heavy else 'lighter'} tails than the normal law, p = {p:.2f}."
            if differs
            else f"Within pairs, movement is about normal, p = {p:.2f}."
        ),
        advice=_advice(p) if differs else "",
        test=(
            "Null: exp(-(z' - z)^T Λ (z' - z)) with the fitted Λ, in the space of the embeddings. z-test of Geary's "
            "ratio, mean absolute over root mean square, of the movement against draws from the null at the same "
            "anchors; along the directions of Λ and, outside of a box, along columns; Bonferroni."
        ),
        p_value=p_value,
        details={"basis": basis},
        curves=_densities(*views[basis]),
    )


def _advice(p: float) -> str:
    if p < NORMAL[0]:
        return (
            "Match the tails: `InfoNCE(Lp(1.0, tau))` for p near 1; look for a few pairs that do not belong together."
        )
    return f"Match the tails: `InfoNCE(Lp({min(round(p), 8)}.0, tau))`; a cut-off in the augmentation also does this."


def _densities(observed: Tensor, null: Tensor) -> dict[str, Curve]:
    """Of all directions, each divided by its root mean square."""
    scale = observed.square().mean(dim=0).sqrt()
    edges = np.linspace(-5, 5, 81)
    middle = ((edges[1:] + edges[:-1]) / 2).tolist()
    labels = ("movement over its root mean square", "density")
    return {
        name: Curve(middle, np.histogram((t / scale).numpy(), edges, density=True)[0].tolist(), *labels)
        for name, t in (("found", observed), ("fitted law", null))
    }
