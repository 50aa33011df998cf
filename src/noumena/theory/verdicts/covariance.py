"""The covariance contrast and the spectral contrast, whose optima are eigenfunctions of the pairs."""

from typing import Any

from ...losses import CovarianceContrast, TriCL
from ...losses.spectral import Spectral
from ...spaces import Euclidean, Sphere
from . import assumptions, evidence
from .base import Assumption, Evidence, Maps, Verdict, decide
from .learner import Head
from .theorems import COVARIANCE, STATEMENT_5
from .world import Fixed, Other, Quadratic, Reading


def covariance(reading: Reading, loss: CovarianceContrast, head: Head, encoder: Any) -> Verdict:
    """The verdict on `CovarianceContrast`: docs/covariance_contrast.md, by its steps."""
    law = reading.law
    kept = isinstance(law, Fixed)
    asked = [
        assumptions.spaces(reading, head, same=False),
        assumptions.uniform(reading),
        _rising(reading),
        assumptions.support(reading, needed=not kept),
        _centred(loss, encoder),
        assumptions.mixing(reading),
    ]
    if kept and 0 < law.fixed:
        every = [one for one in asked if one.name in ("uniform marginal", "injective mixing")]
        lost = "Functions of what pairs share have the eigenvalue 1 and take every coordinate (step 16)."
        support = assumptions.support(reading, needed=False)
        return decide(COVARIANCE, Maps.NOTHING, [*every, support], remarks=(lost,))
    ends = isinstance(head.space, Sphere) or (isinstance(head.space, Euclidean) and loss.ridge > 0)
    maps = Maps.ORTHOGONAL if ends else Maps.AFFINE
    if not isinstance(reading.space, Sphere):
        bent = Evidence(
            "docs/covariance_contrast.md, step 14",
            "boxes come back bent and mixed: R² near .986 for narrow noise, MCC means little",
        )
        return decide(COVARIANCE, maps, asked, otherwise=Maps.AFFINE, evidence=(bent,))
    told = ("Neither concentration nor temperature has to be matched, and the least loss tells the concentration.",)
    return decide(COVARIANCE, maps, asked, remarks=told)


def _rising(reading: Reading) -> Assumption:
    name, law = "form of the conditional", reading.law
    repair = "draw positives by their angle to the anchor alone, from `VonMisesFisher` for one"
    if isinstance(law, Quadratic) and law.isotropic and law.exact and law.kappa > 0:
        return Assumption(name, True, f"von Mises-Fisher, kappa = {law.kappa:.4g}: the density rises with the cosine")
    if isinstance(law, Other) and law.rising:
        return Assumption(name, True, f"{law.name}: the density rises with the cosine")
    told = "precisions differ" if isinstance(law, Quadratic) and not law.isotropic else "not a law of the angle alone"
    return Assumption(name, False, f"{told}: linear functions need not lead (step 15)", repair)


def _centred(loss: CovarianceContrast, encoder: Any) -> Assumption:
    name = "mean subtracted"
    if loss.centre:
        return Assumption(name, True, "the constant function does not count")
    if bool(getattr(encoder, "odd", False)):
        return Assumption(name, True, "the encoder is odd, so its mean is zero under a symmetric law")
    return Assumption(name, False, "a constant direction beats the truth (step 11)", "centre = True, or an odd encoder")


def spectral(reading: Reading, loss: Spectral | TriCL, head: Head) -> Verdict:
    """The verdict on the spectral contrast, plain or with TriCL's importance."""
    law = reading.law
    free = Assumption(
        "free embeddings",
        isinstance(head.space, Euclidean),
        "embeddings may have any length" if isinstance(head.space, Euclidean) else "their length is fixed",
        "" if isinstance(head.space, Euclidean) else "leave the encoder's end free",
    )
    spare = head.space.dim >= reading.space.dim + 1
    room = Assumption(
        "a coordinate to spare",
        spare,
        f"{head.space.dim} coordinates for {reading.space.dim} latents and the constant function",
        "" if spare else "embed in one coordinate more",
        needed=False,
    )
    sphere = isinstance(reading.space, Sphere)
    where = Assumption("space", sphere, f"latents on {reading.space}", "" if sphere else "take latents on a sphere")
    even = isinstance(law, Quadratic) and law.isotropic or isinstance(law, Other) and law.rising
    form = Assumption(
        "form of the conditional",
        even,
        "a law of the angle to the anchor" if even else "not a law of the angle alone",
        "" if even else "draw from `VonMisesFisher`",
    )
    asked = [where, assumptions.uniform(reading), form, assumptions.support(reading), free, room]
    asked.append(assumptions.mixing(reading))
    exact = head.space.dim == reading.space.dim + 1
    # With two coordinates to spare and more, functions of degree 2 come along; the latents stay linear in them.
    maps = Maps.AFFINE if exact or spare else Maps.NOTHING
    shown = (evidence.TRICL,) if isinstance(loss, TriCL) else ()
    told = (
        "" if spare else f"One random direction of {reading.space.dim} is missing: R² near 1 - 1/{reading.space.dim}."
    )
    return decide(STATEMENT_5, maps, asked, evidence=shown, remarks=(told,) if told else ())
