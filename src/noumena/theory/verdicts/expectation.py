"""What metrics should show if a verdict is right."""

from dataclasses import dataclass
from typing import Literal

from .base import Maps, Verdict
from .theorems import STATEMENT_2, STATEMENT_5
from .verdict import LINEAR_CORRECTED, LINEAR_SHRINKS

Level = Literal["high", "low"] | None


@dataclass(frozen=True)
class Expectation:
    """Where each metric should end: "high", "low", or None where the verdict does not say.

    Attributes:
        linear_r2: Of the latents regressed on the embeddings.
        mcc: Without alignment: high only where axes are singled out.
        block_r2: Of each block of `Verdict.blocks`, read from columns of its own.
        angle_error: Of directions (normalised embeddings); low where angles are kept.
    """

    linear_r2: Level = None
    mcc: Level = None
    block_r2: Level = None
    angle_error: Level = None


def expectation(verdict: Verdict, *, sphere: bool = True) -> Expectation:
    """What to expect of an encoder near the optimum.

    Where no theorem speaks, what `verdict.expected` suggests. An encoder that cannot represent the inverse is promised
    nothing.

    Args:
        sphere: Whether latents and embeddings lie on spheres: elsewhere angles about the origin mean nothing.
    """
    if verdict.encoder is not None and verdict.encoder.holds is False:
        return Expectation()
    if LINEAR_CORRECTED in verdict.remarks:
        return Expectation(linear_r2="high", angle_error="low")
    if LINEAR_SHRINKS in verdict.remarks:
        return Expectation(linear_r2="high")  # how wrong angles are depends on dimensions and concentration
    angle: Level = "low" if sphere else None
    if verdict.theorem in (STATEMENT_2, STATEMENT_5) and verdict.maps is Maps.NOTHING:
        return Expectation()  # a part is lost, how much depends on dimension and temperature
    match verdict.expected:
        case Maps.IDENTITY | Maps.PERMUTATION:
            return Expectation("high", "high", "high", angle)
        case Maps.BLOCK_ORTHOGONAL:
            return Expectation("high", None, "high", angle)
        case Maps.ORTHOGONAL:
            return Expectation("high", None, None, angle)
        case Maps.AFFINE:
            return Expectation("high")
        case Maps.NOTHING:
            return Expectation("low", "low", None, "high" if sphere else None)
    return Expectation()
