"""Which law stands in an anchor's denominator, as far as the limit of many candidates sees it."""

from dataclasses import dataclass
from typing import Any, Literal

from ...losses import Drawn, GroupMates, InBatch, InfoNCE, Union
from ...losses.candidates import AbstractCandidates, Available
from ...marginals import AbstractMarginal
from .world import Form, exchangeable, form, is_uniform


@dataclass(frozen=True)
class Negatives:
    """What the candidates of an anchor are draws of.

    Attributes:
        law: "marginal"; "support", uniform on the anchor's own; "mixture" of these; "harder", about the anchor;
            "other", which no statement covers.
        reason: Why.
        repair: What to take instead where the law is "other".
        form: The law of harder negatives.
    """

    law: Literal["marginal", "support", "mixture", "harder", "other"]
    reason: str
    repair: str = ""
    form: Form | None = None


def negatives(world: Any, marginal: AbstractMarginal, law: Form, loss: InfoNCE) -> Negatives:
    """The law of the candidates of `loss` in `world`, whose positives have the form `law`."""
    return _of(loss.candidates, world, marginal, law)


def _of(candidates: AbstractCandidates, world: Any, marginal: AbstractMarginal, law: Form) -> Negatives:
    grouped = getattr(world, "group_size", None) is not None
    drawn = getattr(world, "negatives", None)
    if grouped and not drawn:
        drawn = None
    match candidates:
        case Available():
            return _of(InBatch() if drawn is None else Drawn(), world, marginal, law)
        case InBatch() if grouped:
            return Negatives(
                "other",
                "anchors of a group share a support and are not independent",
                "contrast with `GroupMates(share=1.0)`, or draw pairs from `Synthetic`",
            )
        case InBatch():
            return _in_batch(candidates, marginal, law)
        case Drawn():
            return _drawn(drawn, marginal)
        case GroupMates(share=share):
            if not grouped:
                return Negatives("other", "pairs come in no groups", "draw them from `GroupedSupport`")
            if share == 1 or drawn is None:
                return Negatives("support", "group mates are uniform on the anchor's own support")
            part = "some" if share is None else f"a share of {share:g}"
            return Negatives("mixture", f"{part} from the anchor's own support, the rest from the marginal")
        case Union(choices=choices):
            found = [_of(choice, world, marginal, law) for choice in choices]
            if all(one.law == found[0].law != "harder" for one in found):
                return found[0]
            return Negatives("other", "candidates of several laws together", "contrast with one kind of candidates")
    return Negatives("other", f"`{type(candidates).__name__}` is not known here", "use `InBatch()` or `Drawn()`")


def _in_batch(candidates: InBatch, marginal: AbstractMarginal, law: Form) -> Negatives:
    if candidates.cross_block == "published":
        return Negatives(
            "other", "anchors of the second view borrow the first view's scores", 'take cross_block="exact"'
        )
    own = " (and the anchor itself, which counts for less the larger the batch)" if candidates.include_self else ""
    if (candidates.anchors, candidates.views) == ("first", "own"):
        return Negatives("marginal", f"the other anchors of the batch, draws of the marginal{own}")
    if exchangeable(marginal, law):
        return Negatives(
            "marginal", f"both views are draws of the marginal, and pairs may be read in either order{own}"
        )
    return Negatives(
        "other",
        "second views stand among anchors or candidates, and they do not follow the marginal (or a pair read "
        "backwards has another law)",
        'contrast first views alone, `InBatch(anchors="first", views="own")`',
    )


def _drawn(drawn: Any, marginal: AbstractMarginal) -> Negatives:
    name = type(drawn).__name__
    match name:
        case "NoneType":
            return Negatives("other", "the loss asks for drawn negatives and the source draws none", "draw some")
        case "FromMarginal" | "int":
            return Negatives("marginal", "independent draws of the marginal")
        case "FromSupport":
            return Negatives("support", "uniform draws from the anchor's own support")
        case "Mixed" if drawn.share == 0:
            return Negatives("marginal", "independent draws of the marginal")
        case "Mixed" if drawn.share == 1:
            return Negatives("support", "uniform draws from the anchor's own support")
        case "Mixed":
            return Negatives("mixture", f"a share of {drawn.share:g} from the anchor's own support")
        case "Harder":
            return Negatives("harder", "draws about the anchor", form=form(drawn.law, marginal.space))
    return Negatives("other", f"`{name}` is not known here", "draw negatives `FromMarginal`")


def from_everywhere(found: Negatives, marginal: AbstractMarginal, full_support: bool) -> bool:
    """Whether the candidates are draws of the marginal, perhaps because the support is the whole space."""
    spread = full_support and is_uniform(marginal) and found.law in ("support", "mixture")
    return found.law == "marginal" or spread
