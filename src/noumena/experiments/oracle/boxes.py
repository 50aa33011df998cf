"""Settings whose latents lie in a box, or in all of R^d."""

from typing import Any

from . import recipe
from .dice import Dice, rounded
from .spheres import UNIFORM


def axes(dice: Dice) -> dict[str, Any]:
    """Pairs and score of one exponent, 1 or 3, and a head that can hold the matched latents: Theorem 6, Statement 3."""
    d, p = dice.whole(3, 4), dice.one([1, 3])
    scale = _scales(dice, d)
    widest = 1 / min(scale)
    head = dice.one(["free", _box(rounded(widest * dice.between(0.5, 1.2))), _box(rounded(1.3 * widest), fixed=True)])
    return _setting(dice, d, _law(p, scale), p, head)


def affine(dice: Dice) -> dict[str, Any]:
    """Normal pairs and score: Theorem 5, Statement 3. A box that fits exactly leaves no rotation."""
    d = dice.whole(3, 6)
    scale = _scales(dice, d)
    tight = [dice.between(0.2, 0.35)] * d
    widest = 1 / min(scale)
    heads: list[Any] = ["free", _box(rounded(widest * dice.between(0.5, 1.2))), _box(1.5 * widest, fixed=True)]
    if dice.whole(0, 3) == 0:
        return _setting(dice, d, _law(2, tight), 2, _box(1 / tight[0], fixed=True))
    return _setting(dice, d, _law(2, scale), 2, dice.one(heads))


def unreached(dice: Dice) -> dict[str, Any]:
    """Pairs and score of one exponent, and a fixed box of a fifth to four fifths of the matched width."""
    d, p = dice.whole(3, 4), dice.one([1, 2, 3])
    scale = [dice.between(0.2, 0.35)] * d
    return _setting(dice, d, _law(p, scale), p, _box(rounded(dice.between(0.2, 0.8) / scale[0]), fixed=True))


def other_exponent(dice: Dice) -> dict[str, Any]:
    """Pairs of one exponent and a score of another."""
    d = dice.whole(3, 4)
    pairs, score = dice.one([(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)])
    scale = [dice.between(0.2, 0.35)] * d
    head = dice.one(["free", _box(rounded(1 / scale[0]))])
    return _setting(dice, d, _law(pairs, scale), score, head)


def on_a_sphere(dice: Dice) -> dict[str, Any]:
    """Latents of a box embedded on a sphere, which has one dimension less."""
    d = dice.whole(3, 6)
    scale = dice.between(0.2, 0.35)
    made = _setting(dice, d, _law(2, [scale] * d), 2, "sphere")
    tau = dice.between(0.05, 0.3)
    made["recipes"]["fast"]["loss"] = recipe.contrast({"kind": "dot.Dot", "tau": tau})
    made["recipes"]["fast"]["train"] = recipe.training(**recipe.cooling(tau))
    return made


def unbounded(dice: Dice) -> dict[str, Any]:
    """Latents in all of R^d: no theorem, but Table 1 of [Z] where pairs and score are normal."""
    d, p = dice.whole(3, 6), dice.one([1, 2, 2, 2])
    made = _setting(dice, d, _law(p, [dice.between(0.5, 1.2)] * d), p, "free")
    made["space"] = {"kind": "euclidean.Euclidean", "dim": d}
    made["marginal"] = {"kind": "generalized_normal.GeneralizedNormal", "p": dice.one([1, 2]), "scale": 1.0}
    # As in the fast recipes of that table: with a marginal that is not uniform, only these candidates are specified.
    fast = made["recipes"]["fast"]
    fast["loss"]["candidates"] = {"kind": "candidates.InBatch", "anchors": "second", "views": "other"}
    fast["train"]["steps"] = 3000
    return made


def _scales(dice: Dice, d: int) -> list[float]:
    """Half of the time one width for all coordinates, else two, at most 1.6 times apart."""
    low = dice.between(0.2, 0.3)
    high = rounded(low * dice.between(1.2, 1.6)) if dice.whole(0, 1) else low
    return [dice.one([low, high]) for _ in range(d)]


def _law(p: int, scale: list[float]) -> dict[str, Any]:
    return {"kind": "generalized_normal.GeneralizedNormal", "p": p, "scale": scale}


def _box(bound: float, *, fixed: bool = False) -> dict[str, Any]:
    return {"kind": "heads.BoxHead", "bound": bound, "learnable": not fixed}


def _setting(dice: Dice, d: int, conditional: dict[str, Any], p: int, head: Any) -> dict[str, Any]:
    loss = recipe.contrast({"kind": "lp.Lp", "p": p, "tau": 1.0})
    singles = [[j] for j in range(d)]
    return {
        "space": {"kind": "box.Box", "dim": d},
        "marginal": UNIFORM,
        "conditional": conditional,
        "mixing": dice.mixing(d),
        "metrics": [
            "linear.LinearR2",
            "correlation.MCC",
            {"kind": "blocks.BlockR2", "blocks": singles, "recovered": "matched"},
        ],
        "recipes": {"fast": {"encoder": recipe.network(head), "loss": loss, "train": recipe.training(steps=1500)}},
    }
