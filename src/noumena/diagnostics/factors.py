"""What embeddings, and movement within pairs, say about factors that the user knows."""

import torch
from jaxtyping import Float
from scipy.special import ndtri
from torch import Tensor

from . import arrays
from .arrays import Rows
from .reading import CONFIDENCE, Reading, band
from .sample import Sample

SEEN = 0.5  # R² below which a factor is hardly there


def read(sample: Sample, factors: Rows, factors_pos: Rows | None) -> Reading:
    """Linear R² of each factor from the embedding of its own row, and which factors pairs always share."""
    targets = [arrays.take("factors", factors, index) for index in sample.rows]
    r2, error = _held_out(sample.find.h, targets[0], sample.measure.h, targets[1])
    kept = _kept(sample, factors, factors_pos)
    lost = [j for j, value in enumerate(r2.tolist()) if value < SEEN]
    parts = [f"Linear maps of embeddings give factors with R² from {float(r2.min()):.2f} to {float(r2.max()):.2f}."]
    advice = []
    if lost:
        parts.append(f"Below {SEEN:g}: {_listed(lost)}.")
        advice.append("Factors that are lost may be ones that positives redraw, or the encoder folds or bends them.")
    if kept:
        parts.append(f"Pairs never differ in {_listed(kept)}.")
        advice.append("What pairs never change, they cannot teach: vary those factors between the views.")
    verdict = "problem" if kept else "warning" if lost else "ok"
    number = "least R² of a factor, linear and held out"
    return _reading("factors", number, r2, error, verdict, " ".join(parts), " ".join(advice), {"kept": kept})


def read_augmentations(sample: Sample, parameters: Rows) -> Reading:
    """Linear R² of each parameter of the augmentation from the movement that it caused."""
    targets = [arrays.take("augmentations", parameters, index) for index in sample.rows]
    inputs = [
        torch.cat([half.h_pos - half.h, (half.h_pos - half.h).square()], dim=1)
        for half in (sample.find, sample.measure)
    ]
    r2, error = _held_out(inputs[0], targets[0], inputs[1], targets[1])
    unseen = [j for j, value in enumerate((r2 + 2 * error).tolist()) if value < 0.01]
    sentence = f"Movement within pairs gives parameters with R² from {float(r2.min()):.2f} to {float(r2.max()):.2f}."
    if unseen:
        sentence += f" Embeddings do not follow {_listed(unseen, 'parameter')}."
    number = "least R² of a parameter from the movement and its squares, held out"
    advice = "The encoder has become invariant to what embeddings do not follow; intended or not." if unseen else ""
    return _reading("augmentations", number, r2, error, "ok", sentence, advice, {"unseen": unseen})


def _reading(
    name: str, number: str, r2: Tensor, error: Tensor, verdict: str, sentence: str, advice: str, details: dict
) -> Reading:
    width = float(ndtri((1 + CONFIDENCE) / 2)) * error
    least = int(r2.argmin())
    lines = [(r2 + sign * width).tolist() for sign in (0, -1, 1)]
    return Reading(
        name=name,
        number=number,
        value=float(r2[least]),
        interval=(float(r2[least] - width[least]), min(1.0, float(r2[least] + width[least]))),
        verdict=verdict,
        sentence=sentence,
        advice=advice,
        details={"r2": r2.tolist(), **details},
        curves=band("R²", [float(j) for j in range(len(r2))], lines, ("column", "R², held out")),
    )


def _held_out(x: Tensor, y: Tensor, x_new: Tensor, y_new: Tensor) -> tuple[Float[Tensor, " k"], Float[Tensor, " k"]]:
    """R² of each column on the new rows, and its standard error (delta method); constant columns have none."""
    centre, mean = x.mean(dim=0), y.mean(dim=0)
    x = x - centre
    gram = x.mT @ x
    ridge = 1e-10 * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
    weights = torch.linalg.solve(gram + ridge, x.mT @ (y - mean))
    left = (y_new - mean - (x_new - centre) @ weights).square()
    whole = (y_new - y_new.mean(dim=0)).square()
    share = left.mean(dim=0) / whole.mean(dim=0)
    influence = (left - share * whole) / whole.mean(dim=0)
    return 1 - share, influence.std(dim=0) / len(left) ** 0.5


def _kept(sample: Sample, factors: Rows, factors_pos: Rows | None) -> list[int]:
    if factors_pos is None:
        return []
    index = sample.rows[1]
    own, other = arrays.take("factors", factors, index), arrays.take("factors_positive", factors_pos, index)
    scale = own.std(dim=0)
    moved = (other - own).square().mean(dim=0).sqrt()
    return (moved <= 1e-6 * scale).nonzero().flatten().tolist()


def _listed(columns: list[int], word: str = "factor") -> str:
    return f"{word}{'s' if len(columns) > 1 else ''} {', '.join(map(str, columns))}"
