"""The oracle: a world and a learner -> what is identifiable, by which statement, and what fails."""

from torch import nn

from ... import _checks
from ...losses import AbstractLoss, CovarianceContrast, Ensemble, InfoNCE, Regression, TriCL
from ...losses.spectral import Spectral
from ...mixings import InjectiveLinear
from ...mixings.identity import Identity
from ...spaces import Sphere
from .base import Assumption, Maps, Representable, Theorem, Verdict, decide, with_encoder
from .box import box
from .covariance import covariance, spectral
from .ensemble import joined
from .fixed import fixed_part
from .learner import Head, Learner
from .negatives import negatives
from .representable import linear_class, representable
from .score import model
from .sphere import sphere
from .theorems import OURS, REGRESSION
from .world import Fixed, Mixed, Reading, readings


def verdict(world: Mixed, learner: Learner | nn.Module, loss: AbstractLoss | None = None) -> Verdict:
    """Up to which maps the latents are identified at the optimum, by which theorem, and which assumption fails.

    Before training, to know what to expect; after it, to know whether a score is the loss's fault or the optimiser's.
    Nothing is trained or drawn beyond a few points of the mixing; it takes milliseconds.

        verdict(Synthetic(Uniform(Sphere(3)), VonMisesFisher(kappa=5.0)), encoder, InfoNCE(Dot(tau=0.2))).summary

    Args:
        world: A source with known laws: `Synthetic`, `GroupedSupport` or `Processes`.
        learner: A `Learner`, or an encoder beside its `loss`.
        loss: What is minimised, beside an encoder.
    """
    _checks.kind("world", world, Mixed, "Pass a source with known laws, such as `Synthetic`; given pairs have none.")
    if loss is not None:
        learner = Learner.of(_checks.kind("learner", learner, nn.Module, "Beside a loss, pass an encoder."), loss)
    _checks.kind("learner", learner, Learner, "Pass `Learner(loss, head)`, or an encoder and a loss.")
    assert isinstance(learner, Learner)
    processes = readings(world)
    found = _of_loss(processes, learner.loss, learner.ends, learner.encoder)
    if learner.encoder is None:
        return found
    first = processes[0]
    held = representable(learner.encoder, first.mixing, first.space)
    return with_encoder(*_within(found, held, first, learner.encoder))


def _of_loss(processes: list[Reading], loss: AbstractLoss, head: Head, encoder: nn.Module | None) -> Verdict:
    if isinstance(loss, Ensemble):
        members = list(zip(loss.losses, loss.coordinates, strict=True))
        each = processes if len(processes) == len(members) else [processes[0]] * len(members)
        verdicts = [
            _of_loss([one], member, head, encoder)  # pyright: ignore[reportArgumentType]
            for one, (member, _) in zip(each, members, strict=True)
        ]
        return joined(verdicts, processes[0].space.dim, all(chosen is None for _, chosen in members))
    if len(processes) > 1:
        several = Assumption("one process", False, f"{len(processes)} processes and one loss", "use `Ensemble`")
        return decide(_NONE, Maps.OPEN, [several])
    return _of_process(processes[0], loss, head, encoder)


def _of_process(reading: Reading, loss: AbstractLoss, head: Head, encoder: nn.Module | None) -> Verdict:
    if isinstance(loss, TriCL) and isinstance(loss.contrast, InfoNCE):
        # At the minimum of the contrast a sphere's second moments are even, so decorrelation is least there as well.
        found = _of_process(reading, loss.contrast, head, encoder)
        holds = isinstance(head.space, Sphere) or loss.decorrelation == 0
        even = Assumption("decorrelation", holds, *_decorrelated(holds))
        asked = (*found.assumptions, even)
        return decide(found.theorem, found.maps, asked, otherwise=found.expected, evidence=found.evidence)
    match loss:
        case Regression():
            return _shown(head, reading)
        case CovarianceContrast():
            return covariance(reading, loss, head, encoder)
        case Spectral() | TriCL():
            if isinstance(loss, TriCL) and not isinstance(loss.contrast, Spectral):
                return _unknown(loss, "its published form weighs the first view alone")
            return spectral(reading, loss, head)
        case InfoNCE():
            return _info_nce(reading, loss, head)
    return _unknown(loss, f"`{type(loss).__name__}` is not covered")


def _info_nce(reading: Reading, loss: InfoNCE, head: Head) -> Verdict:
    found = negatives(reading.source, reading.marginal, reading.law, loss)
    read = model(loss.score, head)
    if not isinstance(reading.space, Sphere):
        return box(reading, loss, head, read, found)
    if isinstance(reading.law, Fixed):
        return fixed_part(reading, loss, head, read, found)
    return sphere(reading, loss, head, read, found)


def _decorrelated(holds: bool) -> tuple[str, str]:
    if holds:
        return "least where second moments are even, as they are at the optimum", ""
    return "it asks for white embeddings, whose scale the contrast has another wish for", "end on a sphere"


def _shown(head: Head, reading: Reading) -> Verdict:
    same = type(head.space) is type(reading.space) or not isinstance(head.space, Sphere)
    fits = head.space.dim == reading.space.dim and same
    told = "embeddings can lie where latents do" if fits else f"latents in {reading.space}, embeddings in {head.space}"
    space = Assumption("space", fits, told, "" if fits else "end the encoder in the latents' space")
    return decide(REGRESSION, Maps.IDENTITY, [space])


def _unknown(loss: AbstractLoss, reason: str) -> Verdict:
    return decide(_NONE, Maps.OPEN, [Assumption("loss", False, reason, "use `InfoNCE` or `CovarianceContrast`")])


_NONE = Theorem(OURS, "no statement", "none speaks of this loss")


def _within(
    found: Verdict, held: Representable, reading: Reading, encoder: nn.Module
) -> tuple[Verdict, Representable, str]:
    """What an encoder whose class is small makes of a verdict on all encoders."""
    linear = linear_class(encoder) and isinstance(reading.mixing, Identity | InjectiveLinear)
    if linear and held.holds and found.maps is Maps.FIXED_PART:
        return found, held, LINEAR_CORRECTED
    if linear and held.holds and found.maps is Maps.NOTHING and isinstance(reading.law, Fixed):
        return found, held, LINEAR_SHRINKS
    return found, held, ""


LINEAR_CORRECTED = (
    "This encoder is linear before its sphere: among its maps only isometries are optimal (Statement 4), so that the "
    "latents are identified up to an orthogonal map."
)
LINEAR_SHRINKS = (
    "This encoder is linear before its sphere: it cannot collapse, and tends to a shrink map (`theory.Shrink`), which "
    "keeps R² high and angles wrong, the less so the fewer coordinates vary."
)
