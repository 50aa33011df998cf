"""The assumptions that several statements share, each looked at once."""

from ...losses import InfoNCE
from ...losses.weighting import Equal
from ...mixings import AbstractMixing
from ...spaces import Box, Euclidean, Sphere
from .base import Assumption
from .learner import Head
from .negatives import Negatives, from_everywhere
from .world import Reading


def uniform(reading: Reading) -> Assumption:
    name = "uniform marginal"
    if reading.uniform:
        return Assumption(name, True, f"latents are uniform on {reading.space}")
    given = f"{type(reading.marginal).__name__}, {reading.space}"
    if isinstance(reading.space, Euclidean):
        return Assumption(name, False, f"there is no uniform law on R^{reading.space.dim}", "bound the latents")
    return Assumption(
        name, False, f"latents are not uniform ({given}), so the ratio of densities is not the conditional's", _WEIGHT
    )


_WEIGHT = "draw anchors uniformly, or weigh candidates by 1/p(z)"


def spaces(reading: Reading, head: Head, *, same: bool) -> Assumption:
    """Whether embeddings live where latents do or, if `same` is False, in a space that can hold them."""
    world, model = reading.space, head.space
    name = "space"
    if model.dim != world.dim:
        return Assumption(
            name, False, f"{world.dim} latent and {model.dim} embedding coordinates", f"embed in {world.dim}"
        )
    if isinstance(world, Sphere) and isinstance(model, Sphere):
        return Assumption(name, True, f"both on a sphere in R^{world.dim}")
    if isinstance(world, Box) and isinstance(model, Sphere):
        return Assumption(
            name,
            False,
            f"a box of {world.dim} dimensions goes into no sphere of {model.dim - 1} without losing one",
            "end the encoder in a box, or leave it free",
        )
    kinds = {Sphere: "a sphere", Box: "a box", Euclidean: "all of R^d"}
    told = f"latents on {kinds.get(type(world), 'a product')}, embeddings on {kinds.get(type(model), 'a product')}"
    if isinstance(world, Sphere | Box) and isinstance(model, Box | Euclidean):
        fits = type(world) is type(model) or not same
        return Assumption(name, fits, told, "" if fits else f"end the encoder on {kinds[type(world)]}")
    return Assumption(name, False, told, "take latents and embeddings of one bounded space, a sphere or a box")


def support(reading: Reading, *, needed: bool = True) -> Assumption:
    name = "full support"
    if reading.conditional.full_support:
        return Assumption(name, True, "positives reach every part of the space (Lemma 4.3, Definition 3.1)", "", needed)
    return Assumption(
        name,
        False,
        "positives keep a part of the latents: the diversity condition (Definition 3.1) fails",
        "let pairs vary in every latent, however little",
        needed,
    )


def negatives(found: Negatives, reading: Reading) -> Assumption:
    """Candidates from everywhere."""
    name = "negatives' law"
    if from_everywhere(found, reading.marginal, reading.conditional.full_support):
        return Assumption(name, True, found.reason)
    repair = found.repair or "draw them from the marginal, or contrast within the batch"
    return Assumption(name, False, found.reason, repair)


def objective(loss: InfoNCE) -> Assumption:
    """Whether the minimum over all scores is the ratio of densities (Theorem C.1 of AnInfoNCE)."""
    name = "objective"
    if loss.positive_weight.value != 1:
        reason = f"positives count {loss.positive_weight.value:g} times, which is another objective"
        return Assumption(name, False, reason, "positive_weight = 1")
    if loss.cutoff is not None:
        return Assumption(name, False, "negatives beyond a cutoff do not repel", "leave out the cutoff")
    if not isinstance(loss.weighting, Equal):
        return Assumption(name, False, "candidates are weighted by their hardness", "weigh them equally")
    if loss.positive_in_denominator and loss.candidate_reduction == "mean":
        return Assumption(
            name, False, "all candidates together weigh as much as the positive", 'candidate_reduction = "sum"'
        )
    if not loss.positive_in_denominator:
        return Assumption(name, True, "InfoNCE without the positive in the denominator: the same limit")
    return Assumption(name, True, "InfoNCE, in the limit of many candidates")


def differentiable(mixing: AbstractMixing) -> bool:
    """Whether it has a derivative everywhere: a leaky ReLU has kinks."""
    return mixing.smooth and getattr(mixing, "activation", "") != "leaky_relu"


def mixing(reading: Reading) -> Assumption:
    name, made = "injective mixing", type(reading.mixing).__name__
    if not reading.mixing.invertible:
        return Assumption(name, False, f"`{made}` has no inverse", "observe enough to tell all latents apart")
    kinks = "" if differentiable(reading.mixing) else ", though not smooth: of that no step here makes use"
    return Assumption(name, True, f"`{made}` is injective by construction{kinks}")
