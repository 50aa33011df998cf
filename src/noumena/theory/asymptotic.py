"""The loss of a map in the limit of many negatives: alignment and uniformity, by quadrature or by Monte Carlo."""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from .. import _checks
from ..conditionals import AbstractConditional
from ..losses import AbstractScore
from ..losses.kernels import AbstractKernel, Workspace
from ..marginals import AbstractMarginal
from ..spaces import Sphere
from .quadrature import DIM, fibres, marginal_nodes

RESOLUTION = 20
ANCHORS, CANDIDATES, SUPPORT, BATCHES = 1024, 4096, 256, 20  # of the Monte Carlo
BLOCK = 2**22  # scores held at once

Map = Callable[[Tensor], Tensor]


@runtime_checkable
class Laws(Protocol):
    """Who is paired with whom: any source with known laws is one, such as `Synthetic`."""

    @property
    def marginal(self) -> AbstractMarginal: ...

    @property
    def conditional(self) -> AbstractConditional: ...


class AsymptoticLoss(NamedTuple):
    """What a map costs.

    Attributes:
        alignment: -E s(h(z), h(z')) over positive pairs.
        uniformity: E log E exp(s(h(z), h(z-))) over negatives z-, and what a finite number of them adds.
        error: Of their sum: its standard error, or for quadrature the change from a coarser rule.
    """

    alignment: float
    uniformity: float
    error: float

    @property
    def total(self) -> float:
        return self.alignment + self.uniformity


def asymptotic_loss(
    map: Map,
    world: Laws,
    score: AbstractScore,
    *,
    share: float = 0.0,
    negatives: int | None = None,
    resolution: int = RESOLUTION,
    generator: torch.Generator | None = None,
) -> AsymptoticLoss:
    """InfoNCE of the recovery map h = encoder after mixing, in the limit of many negatives.

    The limit of L - log M as the number M of negatives grows (Theorem 3.3 of "The Loss Is Not Enough", arXiv
    2606.04280; A.4 for the adapted loss). To judge maps without training them: `Shrink` beats every isometry when
    positives keep a coordinate (Theorem 4.5). On spheres of up to three dimensions the integrals are quadratures,
    exact to many digits for smooth maps and for concentrations up to about the square of the resolution; elsewhere
    they are Monte Carlo, corrected for the bias of the logarithm of a mean to first order.

    Args:
        map: Latents (n, d) to embeddings (n, any): a function, a module, or one of `theory.maps`.
        world: Has a `marginal` and a `conditional`.
        score: As in the loss, its temperature included.
        share: c, the share of negatives uniform on the anchor's own support: 0 is the plain loss, 1 the adapted one.
        negatives: None for the limit. A number M gives L itself, with the positive in the denominator and the M
            negatives' sum replaced by its expectation, which leaves an error of order 1/M.
        resolution: Of the quadrature; its cost grows with the fourth power.
        generator: Draws the Monte Carlo; must be given where quadrature does not reach.
    """
    _checks.kind("world", world, Laws, "Pass a source with known laws, such as `Synthetic`.")
    _checks.kind("score", score, AbstractScore, "Pass a score such as `Dot(tau=0.1)`.")
    _checks.within("share", share, 0.0, 1.0)
    _checks.count("resolution", resolution, low=2)
    m = None if negatives is None else _checks.count("negatives", negatives)
    space = world.marginal.space
    with torch.no_grad():
        if isinstance(space, Sphere) and space.dim <= DIM:
            found = _quadrature(map, world, score, share, m, resolution)
            coarse = _quadrature(map, world, score, share, m, max(2, 3 * resolution // 4))
            return AsymptoticLoss(*found, abs(sum(found) - sum(coarse)))
        if generator is None:
            raise ValueError(
                f"`generator` must be given in {space}: quadrature serves spheres of at most {DIM} dimensions, and "
                "the rest is Monte Carlo. Pass torch.Generator().manual_seed(0)."
            )
        _checks.generator(generator)
        draws = torch.tensor([_monte_carlo(map, world, score, share, m, generator) for _ in range(BATCHES)])
        alignment, uniformity = draws.double().mean(dim=0).tolist()
        return AsymptoticLoss(alignment, uniformity, float(draws.sum(dim=1).std() / BATCHES**0.5))


class Difference(NamedTuple):
    """How much more one map costs than another, and the error of that: as in `AsymptoticLoss`."""

    value: float
    error: float


def asymptotic_difference(
    map: Map,
    other: Map,
    world: Laws,
    score: AbstractScore,
    *,
    share: float = 0.0,
    resolution: int = RESOLUTION,
    generator: torch.Generator | None = None,
) -> Difference:
    """`asymptotic_loss` of `map` less that of `other`; both meet the same draws, where there are any, so that the
    difference is known much better than either loss. Arguments are those of `asymptotic_loss`."""
    space = world.marginal.space
    if isinstance(space, Sphere) and space.dim <= DIM:
        first, second = (asymptotic_loss(h, world, score, share=share, resolution=resolution) for h in (map, other))
        return Difference(first.total - second.total, first.error + second.error)
    _checks.generator(generator)
    assert generator is not None
    gaps = []
    with torch.no_grad():
        for _ in range(BATCHES):
            state = generator.get_state()
            first = sum(_monte_carlo(map, world, score, share, None, generator))
            generator.set_state(state)
            gaps.append(first - sum(_monte_carlo(other, world, score, share, None, generator)))
    found = torch.tensor(gaps, dtype=torch.float64)
    return Difference(float(found.mean()), float(found.std() / BATCHES**0.5))


def _quadrature(
    map: Map, world: Laws, score: AbstractScore, share: float, m: int | None, resolution: int
) -> tuple[float, float]:
    space = world.marginal.space
    assert isinstance(space, Sphere)
    z, weight = marginal_nodes(world.marginal, resolution)
    h = map(z)
    anchors, candidates = score.fold(h), score.fold_candidates(h)
    alignment, uniformity = 0.0, 0.0
    for rows in _blocks(len(z), len(z)):
        around = fibres(world.conditional, space, z[rows], resolution)
        h_around = score.fold_candidates(_mapped(map, around.z))
        positive = score.kernel.pairs(anchors[rows, None], h_around)
        log_z = z.new_full((len(positive),), -math.inf)
        if share > 0:
            log_z = math.log(share) + torch.logsumexp(positive + around.uniform.log(), dim=1)
        if share < 1:
            grid = _grid(score.kernel, anchors[rows], candidates)
            log_z = torch.logaddexp(log_z, math.log1p(-share) + torch.logsumexp(grid + weight.log(), dim=1))
        alignment -= float(weight[rows] @ (around.positive * positive).sum(dim=1))
        uniformity += float(weight[rows] @ (around.positive * _denominator(positive, log_z[:, None], m)).sum(dim=1))
    return alignment, uniformity


def _mapped(map: Map, z: Float[Tensor, "n m d"]) -> Float[Tensor, "n m k"]:
    """The map of every point; once where all anchors share theirs, as a support that is the whole space."""
    if z.stride(0) == 0 and len(z) > 1:
        return map(z[0])[None].expand(len(z), -1, -1)
    return map(z.reshape(-1, z.shape[2])).view(*z.shape[:2], -1)


def _monte_carlo(
    map: Map, world: Laws, score: AbstractScore, share: float, m: int | None, generator: torch.Generator
) -> tuple[float, float]:
    z = world.marginal.sample(ANCHORS, generator=generator, dtype=torch.float64)
    z_pos = world.conditional.sample(z, generator=generator)
    anchors = score.fold(map(z))
    positive = score.kernel.pairs(anchors, score.fold_candidates(map(z_pos)))
    log_means, errors = [], []
    if share < 1:
        drawn = world.marginal.sample(CANDIDATES, generator=generator, dtype=torch.float64)
        candidates = score.fold_candidates(map(drawn))
        log_mean, error = _log_mean(_grid(score.kernel, anchors, candidates))
        log_means.append(math.log1p(-share) + log_mean)
        errors.append(error)
    if share > 0:
        support = world.conditional.sample_support(z, SUPPORT, generator=generator)
        h_support = score.fold_candidates(map(support.reshape(-1, z.shape[1])).view(ANCHORS, SUPPORT, -1))
        log_mean, error = _log_mean(score.kernel.pairs(anchors[:, None], h_support))
        log_means.append(math.log(share) + log_mean)
        errors.append(error)
    log_parts = torch.stack(log_means)
    log_z = torch.logsumexp(log_parts, dim=0)
    # log of a mean is too low by half its relative variance.
    log_z = log_z + ((2 * (log_parts - log_z)).exp() * torch.stack(errors)).sum(dim=0) / 2
    return -float(positive.mean()), float(_denominator(positive, log_z, m).mean())


def _grid(kernel: AbstractKernel, anchors: Float[Tensor, "n k"], candidates: Float[Tensor, "m k"]) -> Tensor:
    """Every anchor with every candidate, as the streamed loss computes it."""
    prepared = kernel.prepare(anchors[None], candidates[None])
    out = anchors.new_empty(1, len(anchors), len(candidates))
    kernel.margins(prepared.rows, prepared.columns, anchors.new_zeros(1, len(anchors)), out, Workspace())
    return out[0]


def _log_mean(grid: Float[Tensor, "n m"]) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Log of the mean of exp over each row, and the relative variance of that mean."""
    m = grid.shape[1]
    log_mean = torch.logsumexp(grid, dim=1) - math.log(m)
    return log_mean, (grid - log_mean[:, None]).exp().var(dim=1) / m


def _denominator(positive: Tensor, log_z: Tensor, m: int | None) -> Tensor:
    """Log of the denominator: of the negatives' mean in the limit, or of M of them and the positive."""
    if m is None:
        return log_z.expand_as(positive)
    return torch.logaddexp(positive, math.log(m) + log_z)


def _blocks(n: int, m: int) -> list[slice]:
    step = max(1, BLOCK // m)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
