"""The lowest loss there is: InfoNCE with the true density ratio as its score."""

from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch, PairEmbeddings
from ..conditionals import AbstractConditional
from ..losses import InfoNCE
from ..losses.candidates import Available, Contrast, Drawn, GroupMates, InBatch
from ..losses.gather import Gather
from ..losses.weighting import Equal
from ..marginals import AbstractMarginal

ROWS = 2**16  # densities evaluated at once


@runtime_checkable
class World(Protocol):
    """What a floor needs to know of a source of pairs: its laws, and draws with their latents."""

    marginal: AbstractMarginal
    conditional: AbstractConditional

    def draw(self, n: int, generator: torch.Generator, dtype: torch.dtype = ...) -> PairBatch: ...


class Floor(NamedTuple):
    """A Monte Carlo value and its standard error."""

    value: float
    error: float


def loss_floor(world: World, loss: InfoNCE, batch_size: int, *, generator: torch.Generator, batches: int = 20) -> Floor:
    """The Bayes-optimal value of `loss` in `world` at this batch size.

    InfoNCE asks which of the candidates is the positive. The best answer uses the ratio of the densities of
    positives and negatives, so the loss at that score is the least that any encoder and score can reach (Bayes
    optimum of AnInfoNCE's Theorem on density ratios; for vMF pairs and uniform negatives it is reached by the true
    latents at tau = 1/kappa). Averages `batches` fresh batches in float64.

    Args:
        world: A source with known laws, such as `Synthetic` or `GroupedSupport`.
        loss: The loss; its candidates and reduction count, its score does not.
        batch_size: Anchors of a batch: the floor of an in-batch loss depends on it.
        generator: Draws the batches.
        batches: How many; the standard error is taken over them.
    """
    _checks.kind("world", world, World, "Pass a source with known laws, such as `Synthetic` or `GroupedSupport`.")
    _check(world, loss)
    _checks.count("batch_size", batch_size)
    _checks.generator(generator)
    _checks.count("batches", batches, low=2)
    values = torch.stack([_batch_floor(world, loss, batch_size, generator) for _ in range(batches)])
    return Floor(float(values.mean()), float(values.std() / batches**0.5))


def _check(world: World, loss: InfoNCE) -> None:
    _checks.kind("loss", loss, InfoNCE, "Other losses have no density-ratio floor.")
    weighted = loss.positive_weight.value != 1 or loss.cutoff is not None
    if not loss.positive_in_denominator or weighted or not isinstance(loss.weighting, Equal):
        raise ValueError(
            "`loss` must be plain InfoNCE (positive in the denominator, weight 1, no cutoff, equal weighting): the "
            "density ratio is not the optimum of its variants."
        )
    if loss.candidate_reduction != "sum":
        raise ValueError('`loss` must have candidate_reduction="sum" for the density ratio to be its optimum.')
    candidates = loss.candidates
    if isinstance(candidates, InBatch) and (candidates.anchors, candidates.views) != ("first", "own"):
        raise ValueError(
            '`loss` must contrast with first views or drawn negatives for a floor: use InBatch(anchors="first", '
            'views="own"); second views do not follow the marginal in general.'
        )
    if not isinstance(candidates, InBatch | Drawn | Available | GroupMates):
        raise ValueError(f"`loss` has candidates without a known law, {candidates}.")
    if isinstance(candidates, GroupMates) and candidates.share != 1:
        raise ValueError("`loss` must contrast with group mates alone (share=1) for a floor.")


@torch.no_grad()
def _batch_floor(world: World, loss: InfoNCE, n: int, generator: torch.Generator) -> Tensor:
    batch = world.draw(n, generator, torch.float64)
    assert batch.z is not None and batch.z_pos is not None
    latents = PairEmbeddings(batch.z, batch.z_pos, batch.z_neg, group_size=batch.group_size)
    contrast = loss.candidates.contrast(latents, Gather(False))
    ratio = _Ratio(world, loss, drawn=batch.z_neg is not None)
    return _bayes_loss(contrast, ratio)


class _Ratio:
    """Log of how much likelier a candidate is as positive than as negative of an anchor."""

    def __init__(self, world: World, loss: InfoNCE, drawn: bool) -> None:
        self.world = world
        self.from_support = isinstance(loss.candidates, GroupMates)
        in_batch = isinstance(loss.candidates, InBatch) or not drawn
        self.negatives = None if in_batch or self.from_support else getattr(world, "negatives", None)

    def __call__(self, candidates: Tensor, z: Tensor) -> Tensor:
        marginal, conditional = self.world.marginal, self.world.conditional
        if self.from_support:
            return conditional.log_prob(candidates, z)
        if self.negatives is not None:
            return self.negatives.log_ratio(candidates, z, marginal, conditional)
        if not conditional.full_support:
            raise ValueError(
                f"`{type(conditional).__name__}` keeps part of the anchor fixed, so a score that sees it tells the "
                "positive from other anchors for certain and the floor is 0; contrast with the anchor's own support."
            )
        return conditional.log_prob(candidates, z) - marginal.log_prob(candidates)


def _bayes_loss(contrast: Contrast, ratio: _Ratio) -> Tensor:
    z, z_pos = contrast.anchors, contrast.positives
    pos = ratio(z_pos, z)
    (segment,) = contrast.segments
    groups, m, d = segment.candidates.shape
    rows = len(z) // groups
    step = max(1, ROWS // m)
    losses = []
    for start in range(0, len(z), step):
        index = torch.arange(start, min(start + step, len(z)), device=z.device)
        candidates = segment.candidates[index // rows].reshape(-1, d)
        grid = ratio(candidates, z[index].repeat_interleave(m, dim=0)).view(len(index), m) - pos[index, None]
        if segment.layout.excluded is not None:
            grid.scatter_(1, segment.layout.excluded[index, None], float("-inf"))
        losses.append(torch.nn.functional.softplus(torch.logsumexp(grid, dim=1)))
    return torch.cat(losses).mean()
