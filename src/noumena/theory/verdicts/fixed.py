"""Positives that keep a part of the latents: Theorems 4.5, 4.6 and A.5."""

from dataclasses import replace

from ...losses import InfoNCE
from ...spaces import Sphere
from ..shrink import shrink_slope
from . import assumptions, evidence
from .base import Assumption, Maps, Verdict, decide
from .learner import Head
from .negatives import Negatives
from .score import Model
from .theorems import STATEMENT_4, STATEMENT_6, THEOREM_4_5, THEOREM_A_5
from .world import Fixed, Reading, close


def fixed_part(reading: Reading, loss: InfoNCE, head: Head, model: Model | None, found: Negatives) -> Verdict:
    """The verdict on `FixedContent`, which keeps u of z = (u, v)."""
    law = reading.law
    assert isinstance(law, Fixed)
    base = [
        assumptions.spaces(reading, head, same=True),
        assumptions.uniform(reading),
        _form(law, reading),
        _score(model, head),
    ]
    rest = [assumptions.objective(loss), assumptions.mixing(reading)]
    if law.fixed == reading.space.dim:
        told = "positives are copies: every map that keeps the law of latents has the same loss"
        same = [replace(one, needed=False) for one in (*base, *rest)]
        return decide(STATEMENT_6, Maps.NOTHING, [*same, Assumption("copies", True, told)])
    if found.law == "support":
        return _adapted(reading, law, base, rest, model, found)
    everywhere = assumptions.negatives(found, reading)
    support = assumptions.support(reading, needed=False)
    if found.law == "mixture":
        return decide(THEOREM_4_5, Maps.OPEN, [*base, everywhere, *rest], evidence=(evidence.RATIO,))
    slope = _slope(reading, law, model)
    told = () if slope is None else (f"At the isometries the loss falls by {-slope:.4g} for each unit of shrinking.",)
    return decide(THEOREM_4_5, Maps.NOTHING, [*base, everywhere, support, *rest], remarks=told)


def _form(law: Fixed, reading: Reading) -> Assumption:
    kept = f"{law.fixed} of {reading.space.dim} coordinates kept, kappa = {law.kappa:.4g}"
    how = "with its own density" if law.exact else "drawn with one concentration on every fibre, as published"
    return Assumption("form of the conditional", True, f"{kept}, {how}")


def _score(model: Model | None, head: Head) -> Assumption:
    name = "score against the conditional"
    if model is None or model.p != 2 or not model.isotropic or model.shaped or not isinstance(head.space, Sphere):
        return Assumption(name, False, "not an even inner product of fixed length", "use `Dot` and a sphere")
    return Assumption(name, True, f"{model.name} at fixed length, even over coordinates")


def _slope(reading: Reading, law: Fixed, model: Model | None) -> float | None:
    if model is None or model.p != 2:
        return None
    sampler = "exact" if law.exact else "published"
    return shrink_slope(reading.space.dim, law.fixed, law.kappa, 1 / model.beta, concentration=sampler)


def _adapted(
    reading: Reading,
    law: Fixed,
    base: list[Assumption],
    rest: list[Assumption],
    model: Model | None,
    found: Negatives,
) -> Verdict:
    """Negatives from the anchor's own support."""
    free = reading.space.dim - law.fixed
    beta = model.beta if model is not None else 0.0
    own = Assumption("negatives' law", True, found.reason)
    support = assumptions.support(reading, needed=False)
    matched = close(beta, law.kappa) or (model is not None and model.free)
    scale = Assumption(
        "temperature and scale",
        matched,
        f"r²/tau = {beta:.4g} (as a concentration) and kappa = {law.kappa:.4g}",
        "" if matched else "match them, or train radius or temperature",
    )
    match = Assumption(
        "density against the model",
        law.exact,
        "positives follow the density that isometries match on every fibre"
        if law.exact
        else "one concentration on every fibre: isometries do not match it",
        "" if law.exact else 'concentration="exact"',
    )
    unique = Assumption(
        "uniqueness",
        False,
        "what the loss sees of one fibre says nothing of another (Theorem A.5)",
        "vary every latent, or take an encoder that holds only the inverse",
        needed=False,
    )
    asked = [*base, scale, own, support, match, unique, *rest]
    if law.exact and law.kappa == 0:
        told = "What varies is redrawn uniformly, so that pairs say nothing of it."
        silent = [replace(one, needed=one.needed and one is not scale) for one in asked]
        return decide(STATEMENT_4, Maps.NOTHING, silent, remarks=(told,))
    if law.exact and (matched or beta > law.kappa):
        theorem = THEOREM_A_5 if matched else STATEMENT_4
        if not matched:
            asked = [replace(one, needed=one.needed and one is not scale) for one in asked]
        told = f"h(u, v) = R(u) (u, v), R(u) any isometry for each u; {free} coordinates vary within a fibre."
        return decide(theorem, Maps.FIXED_PART, asked, remarks=(told, _FOLD))
    if law.exact:
        told = "The score is too flat for fibres with large |v|: no map matches every fibre."
        return decide(STATEMENT_4, Maps.OPEN, asked, remarks=(told,))
    lost = [replace(one, needed=one.needed and one not in (scale, match)) for one in asked]
    wanted = matched or beta > law.kappa
    told = "The loss asks for fibres of one size, whatever |v| is: the best map forgets u (`theory.Forget`)."
    if free == 1:
        told = "The sign of the lone coordinate is drawn fairly: what varies carries no information."
    if not wanted:
        return decide(STATEMENT_4, Maps.OPEN, asked)
    return decide(STATEMENT_4, Maps.NOTHING, lost, remarks=(told,))


_FOLD = (
    "A fold (|u|, v) is as good as the truth; which of them is found, the start and the encoder decide "
    "(docs/training.md)."
)
