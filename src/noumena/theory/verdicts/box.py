"""Convex bodies: Theorems 5 and 6, and free ends."""

import torch

from ...losses import InfoNCE
from ...spaces import AbstractSpace, Box, Euclidean
from . import assumptions, evidence
from .base import Assumption, Evidence, Maps, Verdict, decide
from .learner import Head
from .negatives import Negatives
from .score import Model, can_contain
from .theorems import STATEMENT_3, THEOREM_5, THEOREM_6
from .world import Power, Reading, close

_SCALE = "temperature and scale"
_NARROW = 0.1  # of the side: twice the width of the papers' pairs


def box(reading: Reading, loss: InfoNCE, head: Head, model: Model | None, found: Negatives) -> Verdict:
    """The verdict on a box of latents, or on any space that is no sphere."""
    law = reading.law if isinstance(reading.law, Power) else None
    bounded = isinstance(head.space, Box)
    widths = _matched_widths(reading, law, model)
    form, score = _form(law), _score(law, model, head)
    asked = [
        assumptions.spaces(reading, head, same=False),
        assumptions.uniform(reading),
        form,
        assumptions.support(reading),
        score,
        _scale(head, widths),
        assumptions.negatives(found, reading),
        assumptions.objective(loss),
        assumptions.mixing(reading),
    ]
    maps, theorem = Maps.PERMUTATION, THEOREM_6 if bounded else STATEMENT_3
    if law is not None and law.p == 2:
        tight = bounded and not head.learnable and widths is not None and _fits_exactly(head.space, widths)
        maps = Maps.PERMUTATION if tight else Maps.AFFINE
        theorem = THEOREM_5 if bounded and not tight else STATEMENT_3
        told = "p = 2 leaves rotations free" + (", but a box that fits exactly leaves none" if tight else "")
        repair = "" if tight else "another exponent, of pairs and score alike, singles out the axes"
        asked.insert(5, Assumption("exponent other than 2", False, told, repair, needed=False))
    elif law is not None:
        asked.insert(5, Assumption("exponent other than 2", True, f"p = {law.p:g}", needed=False))
    shown, expected = _found(reading, law, model, head, [one.name for one in asked if one.needed and not one.holds])
    return decide(theorem, maps, asked, otherwise=expected, evidence=shown)


def _form(law: Power | None) -> Assumption:
    name = "form of the conditional"
    if law is None:
        return Assumption(name, False, "not exp(-|z' - z|^p) in a box", "draw from `GeneralizedNormal`")
    return Assumption(name, True, f"exp(-sum |z' - z|^p) with p = {law.p:g}, restricted to the box")


def _score(law: Power | None, model: Model | None, head: Head) -> Assumption:
    name = "score against the conditional"
    if model is None or model.inner:
        told = "an inner product" if model is not None else "a score that is not known here"
        return Assumption(name, False, f"{told} is no metric of a box", "use `Lp`")
    if law is None or law.p != model.p:
        pairs = "pairs of another law" if law is None else f"p = {law.p:g} of the pairs"
        wanted = "" if law is None else f"use `Lp({law.p:g})`"
        return Assumption(name, False, f"p = {model.p:g} of the score, {pairs}", wanted)
    return Assumption(name, True, f"{model.name}, the exponent of the pairs")


def _matched_widths(reading: Reading, law: Power | None, model: Model | None) -> tuple[float, ...] | None:
    """Extents of the latents at the scale that matches: rate |s_j z_j|^p = |z_j / scale_j|^p."""
    if law is None or model is None or law.p != model.p or len(model.rates) != reading.space.dim:
        return None
    if not isinstance(reading.space, Box):
        return None
    low, high = reading.space.bounds(torch.empty((), dtype=torch.float64))
    rates = zip(law.scale, model.rates, strict=True)
    sized = zip((high - low).tolist(), rates, strict=True)
    return tuple(width / (scale * rate ** (1 / law.p)) for width, (scale, rate) in sized)


def _scale(head: Head, widths: tuple[float, ...] | None) -> Assumption:
    name = _SCALE
    if isinstance(head.space, Euclidean):
        return Assumption(name, True, "embeddings may have any scale")
    if head.learnable:
        wide = "" if widths is None else f"; they must reach {max(widths):.3g}"
        return Assumption(name, True, f"bounds are trained{wide}")
    if widths is None or not isinstance(head.space, Box) or head.space.dim != len(widths):
        return Assumption(name, False, "there is nothing to match", "see the other assumptions")
    fits = can_contain(head.space, widths)
    told = f"the matched latents are up to {max(widths):.3g} wide, the bounds are fixed"
    return Assumption(name, fits, told, "" if fits else "widen or train the bounds")


def _fits_exactly(space: AbstractSpace, widths: tuple[float, ...]) -> bool:
    """Whether a box has the latents' own extents, all equal: its isometries are those of a cube."""
    assert isinstance(space, Box)
    low, high = space.bounds(torch.empty((), dtype=torch.float64))
    return all(close(one, widths[0]) for one in (*(high - low).tolist(), *widths))


def _found(
    reading: Reading, law: Power | None, model: Model | None, head: Head, failing: list[str]
) -> tuple[tuple[Evidence, ...], Maps]:
    if isinstance(reading.space, Euclidean) and law is not None and model is not None and law.p == model.p == 2:
        return (evidence.UNBOUNDED,), Maps.AFFINE
    if isinstance(reading.space, Box) and not reading.uniform and "space" not in failing:
        return (evidence.GATHERED,), Maps.OPEN
    if law is None or model is None or model.inner or not reading.uniform or "space" in failing:
        sphere = failing[:1] == ["space"] and reading.space.dim == head.space.dim
        return ((evidence.BOX_ON_SPHERE,) if sphere else ()), Maps.OPEN
    if _SCALE in failing:
        return (), Maps.OPEN  # the papers' boxes grew as wide as the loss asked
    shown, expected = evidence.of_box(law.p, model.p, isinstance(head.space, Box))
    if expected is Maps.PERMUTATION and failing and not _tight(reading, law):
        expected = Maps.AFFINE
    return shown, expected


def _tight(reading: Reading, law: Power) -> bool:
    """Whether pairs are about as narrow, beside the box, as in the experiments, which found axes where no theorem does.

    They had a twentieth of its side; at a quarter, axes are lost (`noumena bench oracle`, docs/oracle.md).
    """
    if not isinstance(reading.space, Box):
        return False
    low, high = reading.space.bounds(torch.empty((), dtype=torch.float64))
    sized = zip(law.scale, (high - low).tolist(), strict=True)
    return max(scale / width for scale, width in sized) <= _NARROW
