"""Settings whose latents lie on a sphere."""

from typing import Any

from . import recipe
from .dice import Dice, rounded

UNIFORM = {"kind": "uniform.Uniform"}
LINEAR = {"kind": "structured.InverseLinear", "bias": False}


def rotations(dice: Dice) -> dict[str, Any]:
    """As Theorem 2 asks: the scale is matched, or in reach of a trained temperature or radius, or of free lengths."""
    d = dice.whole(3, 6)
    kappa = _kappa(dice, d)
    law = dice.one([_vmf(kappa), {"kind": "fixed_content.FixedContent", "kappa": kappa, "fixed": 0}])
    candidates = dice.one([recipe.FIRST, recipe.BOTH])
    tau, off = 1 / kappa, dice.between(0.5, 2)
    head: Any = "sphere"
    how = dice.one(["fixed", "fixed", "temperature", "radius", "free, inner product", "free, distance"])
    score: dict[str, Any] = {"kind": "dot.Dot", "tau": tau}
    if how == "temperature":
        score |= {"tau": off * tau, "learnable": True}
    elif how == "radius":
        score["tau"] = off * tau
        head = {"kind": "heads.SphereHead", "learnable": True}
    elif how == "free, inner product":
        head = "free"
    elif how == "free, distance":
        head, score = "free", {"kind": "lp.Lp", "p": 2, "tau": 2 * tau}
    cooled = recipe.cooling(tau) if how == "fixed" else {}
    train = recipe.training(**cooled)
    return _setting(dice, d, law, recipe.network(head), recipe.contrast(score, candidates), train)


def mistuned(dice: Dice) -> dict[str, Any]:
    """Theorem 2 but for a fixed temperature 1.5 to 8 times too high or too low."""
    d = dice.whole(3, 6)
    kappa = _kappa(dice, d)
    off = dice.between(1.5, 8)
    tau = rounded(dice.one([off, 1 / off]) / kappa)
    score = {"kind": "dot.Dot", "tau": tau}
    train = recipe.training(**recipe.cooling(tau))
    return _setting(dice, d, _vmf(kappa), recipe.network("sphere"), recipe.contrast(score), train)


def blocks(dice: Dice) -> dict[str, Any]:
    """Two or three precisions, at least one of which several coordinates share, and a score that learns them."""
    d = dice.whole(4, 6)
    many = dice.whole(2, min(3, d - 1))
    return _uneven(dice, [dice.whole(0, many - 1) if j >= many else j for j in range(d)])


def axes(dice: Dice) -> dict[str, Any]:
    """A precision of its own for every coordinate, and a score that learns them."""
    return _uneven(dice, list(range(dice.whole(3, 4))))


def lengths(dice: Dice) -> dict[str, Any]:
    """Uneven precisions under an even score of embeddings of free length."""
    d = dice.whole(3, 5)
    law = _anisotropic(dice, [dice.whole(0, 1) if j > 1 else j for j in range(d)])
    score = {"kind": "lp.Lp", "p": 2, "tau": 1.0}
    return _setting(dice, d, law, recipe.network("free"), recipe.contrast(score), recipe.training())


def even_score(dice: Dice) -> dict[str, Any]:
    """Uneven precisions, 2 to 20 times apart, under an inner product at fixed length."""
    d = dice.whole(3, 6)
    many, ratio = dice.whole(1, d - 1), dice.between(2, 20)
    low = dice.between(2, 4)
    precision = [rounded(ratio * low)] * many + [low] * (d - many)
    tau = rounded(d / (2 * sum(precision)))
    law = {"kind": "anisotropic.Anisotropic", "precision": precision}
    score = {"kind": "dot.Dot", "tau": tau}
    train = recipe.training(**recipe.cooling(tau))
    return _setting(dice, d, law, recipe.network("sphere"), recipe.contrast(score), train)


def kept(dice: Dice) -> dict[str, Any]:
    """Positives keep 1 to d - 1 coordinates, negatives are from everywhere: Theorem 4.5."""
    d = dice.whole(3, 6)
    kappa = _kappa(dice, d)
    tau = rounded(1 / kappa)
    loss = recipe.contrast({"kind": "dot.Dot", "tau": tau}, dice.one([recipe.FIRST, recipe.BOTH]))
    law = _keeping(dice, d, kappa)
    if dice.whole(0, 3) == 0:
        return _setting(dice, d, law, LINEAR, loss, recipe.adam(), linear=True)
    return _setting(dice, d, law, recipe.network("sphere"), loss, recipe.training(**recipe.cooling(tau)))


def corrected(dice: Dice) -> dict[str, Any]:
    """As `kept`, but negatives share their anchor's support: Theorems 4.6 and A.5. The scale is matched or colder."""
    d = dice.whole(3, 6)
    kappa = _kappa(dice, d)
    tau = rounded(dice.one([1.0, 1.0, 0.5]) / kappa)
    loss = recipe.contrast({"kind": "dot.Dot", "tau": tau}, recipe.MATES)
    law = _keeping(dice, d, kappa)
    sized = {"steps": 800, "batch_size": 512}
    if dice.whole(0, 1):
        made = _setting(dice, d, law, LINEAR, loss, recipe.adam(**sized), linear=True)
    else:
        train = recipe.training(**sized, **recipe.cooling(tau, 0.33))
        made = _setting(dice, d, law, recipe.network("sphere"), loss, train)
    made["recipes"]["fast"]["pairs"] = recipe.GROUPED
    return made


def silent(dice: Dice) -> dict[str, Any]:
    """Positives that are draws of the marginal."""
    d = dice.whole(3, 6)
    tau = dice.between(0.1, 1)
    score = {"kind": "dot.Dot", "tau": tau}
    train = recipe.training(steps=500, **recipe.cooling(tau))
    return _setting(dice, d, _vmf(0.0), recipe.network("sphere"), recipe.contrast(score), train)


def projected(dice: Dice) -> dict[str, Any]:
    """Laplace or normal pairs projected to the sphere, under an inner product: no theorem, but Table 1 of [Z]."""
    d = dice.whole(3, 6)
    scale = dice.between(0.15, 0.3)
    law = {"kind": "generalized_normal.GeneralizedNormal", "p": dice.one([1, 2]), "scale": scale}
    score = {"kind": "dot.Dot", "tau": rounded(2 * scale**2)}
    train = recipe.training(**recipe.cooling(score["tau"]))
    # Both views, as in the table's recipe; the law's density costs 0.1 ms a pair, too much for a floor.
    return _setting(dice, d, law, recipe.network("sphere"), recipe.contrast(score, recipe.BOTH), train)


def gathered(dice: Dice) -> dict[str, Any]:
    """Latents gathered about a pole: no theorem, and no experiment that says how far it carries."""
    d = dice.whole(3, 6)
    kappa = _kappa(dice, d)
    tau = rounded(1 / kappa)
    loss = recipe.contrast({"kind": "dot.Dot", "tau": tau})
    train = recipe.training(**recipe.cooling(tau))
    made = _setting(dice, d, _vmf(kappa), recipe.network("sphere"), loss, train)
    made["marginal"] = {"kind": "vmf.VonMisesFisher", "kappa": rounded(kappa * dice.between(0.2, 2))}
    return made


def _kappa(dice: Dice, d: int) -> float:
    """Positives whose mean cosine with their anchor is about .65 to .85, in every dimension."""
    return rounded(d * dice.between(1, 3))


def _vmf(kappa: float) -> dict[str, Any]:
    return {"kind": "vmf.VonMisesFisher", "kappa": kappa}


def _keeping(dice: Dice, d: int, kappa: float) -> dict[str, Any]:
    how = dice.one(["exact", "exact", "published"])
    fixed = dice.whole(1, d - 1)
    return {"kind": "fixed_content.FixedContent", "kappa": kappa, "fixed": fixed, "concentration": how}


def _anisotropic(dice: Dice, groups: list[int]) -> dict[str, Any]:
    """Precisions 1.8 to 2.5 times apart from one group of coordinates to the next."""
    ratio, low = dice.between(1.8, 2.5), dice.between(2, 4)
    return {"kind": "anisotropic.Anisotropic", "precision": [rounded(low * ratio**group) for group in groups]}


def _uneven(dice: Dice, groups: list[int]) -> dict[str, Any]:
    d, law = len(groups), _anisotropic(dice, groups)
    # Precisions start apart: from equal values the coordinates' rotation among one another is found late.
    start = [rounded(2 * 8 ** (j / (d - 1))) for j in range(d)]
    score = {"kind": "anisotropic.AnisotropicScore", "precision": start}
    head = {"kind": "heads.Turned", "head": {"kind": "heads.SphereHead"}}
    made = _setting(dice, d, law, recipe.network(head), recipe.contrast(score), recipe.training(steps=1500))
    # An inner product that cools opens the folds of the sphere, which learned precisions keep once they are high.
    tau = rounded(d / (2 * sum(law["precision"])))
    first = recipe.training(steps=600, **recipe.cooling(tau, 0.8))
    inner = recipe.contrast({"kind": "dot.Dot", "tau": tau})
    made["recipes"]["fast"]["pretrain"] = {"loss": inner, "train": first}
    named = [[j for j in range(d) if groups[j] == group] for group in sorted(set(groups))]
    made["metrics"].append({"kind": "blocks.BlockR2", "blocks": named, "recovered": "matched"})
    return made


def _setting(
    dice: Dice,
    d: int,
    conditional: dict[str, Any],
    encoder: dict[str, Any],
    loss: dict[str, Any],
    train: dict[str, Any],
    *,
    linear: bool = False,
) -> dict[str, Any]:
    return {
        "space": {"kind": "sphere.Sphere", "dim": d},
        "marginal": UNIFORM,
        "conditional": conditional,
        "mixing": dice.mixing(d, linear=linear),
        "metrics": ["linear.LinearR2", "correlation.MCC", {"kind": "angle.AngleError", "normalise": True}],
        "recipes": {"fast": {"encoder": encoder, "loss": loss, "train": train}},
    }
