"""The lowest loss there is: InfoNCE with the true density ratio as its score."""

from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch, PairEmbeddings
from ..conditionals import AbstractConditional
from ..losses import InfoNCE
from ..losses.candidates import Available, Contrast, Drawn, GroupMates, InBatch, Segment
from ..losses.gather import Gather
from ..losses.weighting import Equal
from ..marginals import AbstractMarginal
from .second_views import second_view_law, symmetric

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
    if isinstance(candidates, InBatch) and candidates.views == "both":
        if candidates.cross_block == "published" or not symmetric(world.marginal, world.conditional):
            raise ValueError(
                '`loss` must contrast with candidates of one law for a floor, and those of InBatch(views="both") '
                "follow two, as first views and second views differ in this world."
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
    candidates = loss.candidates
    if not isinstance(candidates, InBatch):
        ratio = _Ratio(world, loss, drawn=batch.z_neg is not None)
        return _bayes_loss(candidates.contrast(latents, Gather(False)), ratio)
    sides = ("first", "second") if candidates.anchors == "both" else (candidates.anchors,)
    values = [
        _bayes_loss(
            replace(candidates, anchors=side).contrast(latents, Gather(False)),
            _ViewRatio(world, side, candidates.views),
        )
        for side in sides
    ]
    return torch.stack(values).mean()


class _Ratio:
    """Log of how much likelier a candidate is as positive than as negative of an anchor: a term of the two, less one
    of the candidate alone."""

    def __init__(self, world: World, loss: InfoNCE, drawn: bool) -> None:
        self.marginal, self.conditional = world.marginal, world.conditional
        self.from_support = isinstance(loss.candidates, GroupMates)
        self.negatives = None if not drawn or self.from_support else getattr(world, "negatives", None)
        if self.negatives is None and not self.from_support:
            _require_full_support(self.conditional)

    def pair(self, candidates: Tensor, z: Tensor) -> Tensor:
        """Row by row."""
        if self.negatives is not None:
            return self.negatives.log_ratio(candidates, z, self.marginal, self.conditional)
        return self.conditional.log_prob(candidates, z)

    def grid(self, candidates: Tensor, z: Tensor) -> Tensor:
        """Every anchor of `z` (n, d) with every candidate (m, d); (n, m)."""
        if self.negatives is None:
            return self.conditional.log_prob_grid(candidates, z)
        n, m = len(z), len(candidates)
        return self.pair(candidates.repeat(n, 1), z.repeat_interleave(m, dim=0)).view(n, m)

    def alone(self, candidates: Tensor) -> Tensor:
        if self.from_support or self.negatives is not None:
            return candidates.new_zeros(len(candidates))
        return self.marginal.log_prob(candidates)


class _ViewRatio:
    """The same where both views of a batch serve as anchors or candidates.

    An anchor z' of the second view has its positive z from p(z | z'), which is p(z) p(z' | z) but for a factor of the
    anchor's; candidates follow the marginal p where they are first views, and the law q of positives by themselves
    where they are second ones.
    """

    def __init__(self, world: World, anchors: str, views: str) -> None:
        self.marginal, self.conditional, self.anchors = world.marginal, world.conditional, anchors
        _require_full_support(self.conditional)
        if anchors == "second" and not self.conditional.normalised:
            raise ValueError(
                f"`{type(self.conditional).__name__}` is known up to a factor of the anchor's, so the law of an "
                'anchor given its second view is not; a floor needs InBatch(anchors="first", views="own").'
            )
        # With symmetric views both laws are the marginal.
        second = {"own": anchors == "second", "other": anchors == "first", "both": False}[views]
        self.law = second_view_law(self.marginal, self.conditional) if second else self.marginal.log_prob

    def pair(self, candidates: Tensor, z: Tensor) -> Tensor:
        if self.anchors == "first":
            return self.conditional.log_prob(candidates, z)
        return self.conditional.log_prob(z, candidates)

    def grid(self, candidates: Tensor, z: Tensor) -> Tensor:
        if self.anchors == "first":
            return self.conditional.log_prob_grid(candidates, z)
        return self.conditional.log_prob_grid(z, candidates).T

    def alone(self, candidates: Tensor) -> Tensor:
        law = self.law(candidates)
        return law if self.anchors == "first" else law - self.marginal.log_prob(candidates)


def _require_full_support(conditional: AbstractConditional) -> None:
    if not conditional.full_support:
        raise ValueError(
            f"`{type(conditional).__name__}` keeps part of the anchor fixed, so a score that sees it tells the "
            "positive from other anchors for certain and the floor is 0; contrast with the anchor's own support."
        )


def _bayes_loss(contrast: Contrast, ratio: _Ratio | _ViewRatio) -> Tensor:
    z, z_pos = contrast.anchors, contrast.positives
    pos = ratio.pair(z_pos, z) - ratio.alone(z_pos)
    grids = [_log_odds(segment, z, pos, ratio) for segment in contrast.segments]
    return torch.nn.functional.softplus(torch.logsumexp(torch.stack(grids), dim=0)).mean()


def _log_odds(segment: Segment, z: Tensor, pos: Tensor, ratio: _Ratio | _ViewRatio) -> Tensor:
    """Log of the summed ratios of an anchor's candidates in a segment, over that of its positive; (n,)."""
    groups, m, d = segment.candidates.shape
    alone = ratio.alone(segment.candidates.reshape(-1, d)).view(groups, m)
    rows = len(z) // groups
    step = max(1, ROWS // m)
    odds = []
    for start in range(0, len(z), step):
        index = torch.arange(start, min(start + step, len(z)), device=z.device)
        group = index // rows
        if groups == 1:
            grid = ratio.grid(segment.candidates[0], z[index])
        else:
            candidates = segment.candidates[group].reshape(-1, d)
            grid = ratio.pair(candidates, z[index].repeat_interleave(m, dim=0)).view(len(index), m)
        grid = grid - alone[group] - pos[index, None]
        if segment.layout.excluded is not None:
            grid.scatter_(1, segment.layout.excluded[index, None], float("-inf"))
        odds.append(torch.logsumexp(grid, dim=1))
    return torch.cat(odds)
