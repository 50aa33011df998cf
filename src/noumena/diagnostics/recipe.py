"""Which head and which score the findings call for, ready to paste."""

from collections.abc import Mapping

from scipy.special import gamma

from .fitted import Fitted
from .reading import Reading
from .sample import Sample


def read(sample: Sample, law: Fitted | None, found: Mapping[str, Reading]) -> Reading:
    """A rule over the other readings: the space gives the head; tails and Λ give the score.

    On a sphere exp(-Λ |z' - z|^2) with equal Λ is exp(2 Λ z.z'), the score `Dot` with tau = 1 / (2 Λ); unequal Λ are
    `AnisotropicScore`, and tails of exponent p are `Lp(p)`.
    """
    head, reason = _head(sample)
    score, why = _score(sample, law, found)
    expression = f"InfoNCE({score})"
    moved = found["modes"].verdict == "problem"
    p = found["tails"]
    return Reading(
        name="recipe",
        number=p.number if law is not None else "",
        value=p.value if law is not None else None,
        interval=p.interval if law is not None else None,
        verdict="ok",
        sentence=f"Expected form: head {head}, since {reason}; loss {expression}, since {why}.",
        advice=(
            "With two modes this is the best single mode, not the truth."
            if moved
            else "Numbers are starting values: learn them (`learnable=True`), unless embeddings are the latents."
        ),
        details={"head": head, "score": score, "loss": expression},
        curves=found["tails"].curves if law is not None else {},
    )


def _head(sample: Sample) -> tuple[str, str]:
    support, d = sample.support, sample.dim
    if support.kind == "sphere":
        return f"SphereHead(radius={support.radius:.4g})", "rows have one length"
    if support.kind == "free":
        return f"Free(dim={d})", "there is neither one length nor an edge"
    low, width = support.offset, 1 / support.scale
    if float(width.max() / width.min()) < 1.05 and float((low - low.mean()).abs().max()) < 0.05 * float(width.mean()):
        return f"BoxHead({d}, bound={float(width.mean()):.4g}, low={float(low.mean()):.3g})", "coordinates have edges"
    shown = [f"{float(one):.4g}" for one in low], [f"{float(one):.4g}" for one in width]
    return f"BoxHead({d}, bound=[{', '.join(shown[1])}], low=[{', '.join(shown[0])}])", "coordinates have edges"


def _score(sample: Sample, law: Fitted | None, found: Mapping[str, Reading]) -> tuple[str, str]:
    if law is None:
        return "Dot(0.1)", "too few directions move to tell more"
    mean = _mean_precision(sample, law)
    if found["tails"].verdict != "ok" and found["tails"].value is not None:
        p = 1.0 if found["tails"].value < 1.6 else float(min(round(found["tails"].value), 8))
        # E|t|^2 = 1 / (2 Λ) = scale^2 G(3/p) / G(1/p), and tau = scale^p.
        scale = float((gamma(1 / p) / gamma(3 / p) / (2 * mean)) ** 0.5)
        return f"Lp({p:g}, tau={scale**p:.3g})", f"tails have the exponent {found['tails'].value:.2g}"
    if found["anisotropy"].verdict != "ok":
        return f"AnisotropicScore({mean:.3g}, dim={sample.dim})", "Λ differs between directions"
    if sample.support.kind == "sphere":
        return f"Dot(tau={1 / (2 * mean):.3g})", "Λ is even and tails are normal"
    return f"Lp(2.0, tau={1 / mean:.3g})", "Λ is even and tails are normal"


def _mean_precision(sample: Sample, law: Fitted) -> float:
    """In the coordinates of the embeddings, as they came."""
    precision = law.precision.clamp(min=1e-3)
    if law.kind == "free":
        # Directions there have unit variance: what counts is movement in the columns as they are.
        moved = sample.moments.difference().diagonal()
        return float(1 / (4 * moved.mean()))
    return float(precision.log().mean().exp() * sample.support.scale.square().mean())
