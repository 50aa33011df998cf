"""A search for a map of the latent sphere that beats every isometry."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .. import _checks, _rng
from .._rng import streams
from ..finding import Curve
from ..losses import AbstractScore
from ..spaces import Sphere
from .asymptotic import Laws, asymptotic_difference, asymptotic_loss
from .collapse import collapse_bound
from .verdicts.learner import Head
from .verdicts.score import model

STARTS = ("identity", "random")
ANCHORS, CANDIDATES = 512, 512  # of a training step
SUPPORTED, SUPPORT = 192, 48  # the same where anchors have private negatives
WIDTH, RATE, EVERY = 64, 1e-2, 20
RESOLUTION = 24  # of the quadrature that judges what was found
NOTICEABLE = 1e-3  # nats: below it the optimiser, not the loss, decides


class SphereFlow(nn.Module):
    """h(z) = r (skip z + N(z)) / |...| for unit z, N a small smooth network: any continuous map of spheres, nearly.

    Args:
        dim: Coordinates.
        radius: r.
        start: "identity" (N begins at 0, beside the latents) or "random" (N alone).
        generator: Draws the initial values.
    """

    def __init__(self, dim: int, radius: float, start: str, *, generator: torch.Generator) -> None:
        super().__init__()
        self.skip, self.radius = float(start == "identity"), radius
        sizes = [dim, WIDTH, WIDTH, dim]
        ends = zip(sizes[:-1], sizes[1:], strict=True)
        self.weights = nn.ParameterList([_normal((n, m), generator) * (2 / n) ** 0.5 for n, m in ends])
        self.biases = nn.ParameterList([torch.zeros(m) for m in sizes[1:]])
        if self.skip:
            with torch.no_grad():
                self.weights[-1].zero_()

    def forward(self, z: Tensor) -> Tensor:
        h = z
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = nn.functional.silu(h @ weight + bias)
        h = self.skip * z + h @ self.weights[-1] + self.biases[-1]
        return self.radius * h / torch.linalg.vector_norm(h, dim=1, keepdim=True)


@dataclass(frozen=True, eq=False)
class Attack:
    """What the search found.

    Attributes:
        isometries: Limit loss of every isometry, less log M.
        found: That of the best map found.
        gap: By how much the best map beats the isometries; negative where it does not.
        error: Of the gap.
        infimum: What no map goes below (`collapse_bound`); None where it is not known.
        start: Where the best map began.
        map: The map.
        curves: The loss of every search while it ran.
    """

    isometries: float
    found: float
    gap: float
    error: float
    infimum: float | None
    start: str
    map: SphereFlow
    curves: dict[str, Curve]

    @property
    def beyond(self) -> bool:
        """Whether the gap is more than its error, fivefold, and worth naming."""
        return self.gap > max(5 * self.error, NOTICEABLE)


def attack(
    world: Laws,
    score: AbstractScore,
    *,
    radius: float = 1.0,
    share: float = 0.0,
    steps: int = 800,
    seed: int = 0,
    starts: Sequence[str] = STARTS,
) -> Attack:
    """Optimise small maps of the latent sphere under the limit loss, and compare the best with the isometries.

    A theorem that isometries are optimal predicts that nothing is found; one that they are not, that something is.
    Finding nothing proves nothing. Each start is trained on fresh draws and judged by quadrature (spheres of up to
    three dimensions) or by draws that the identity meets too.

    Args:
        world: Its marginal lives on a unit sphere.
        score: One that rotations of the embeddings do not change, such as `Dot`: then isometries have one loss.
        radius: Of the embeddings.
        share: Share of negatives from the anchor's own support, as in `asymptotic_loss`.
        steps: Of each start.
        seed: Decides draws and initial values.
        starts: "identity" or "random", one for each search.
    """
    _checks.kind("world", world, Laws, "Pass a source with known laws, such as `Synthetic`.")
    space = world.marginal.space
    if space != Sphere(space.dim) or space.dim < 2:
        raise ValueError(f"`world` must have latents on a unit sphere such as Sphere(3), got {space}.")
    _checks.positive("radius", radius)
    _checks.within("share", share, 0.0, 1.0)
    _checks.count("steps", steps)
    read = model(_checks.kind("score", score, AbstractScore), Head(Sphere(space.dim, radius)))
    if read is None or read.p != 2 or not read.isotropic or read.shaped:
        raise ValueError("`score` must not change under rotations, so that isometries have one loss; use `Dot`.")
    for start in _checks.sequence("starts", starts):
        _checks.choice("starts", start, ("identity", "random"))
    own = streams(_checks.count("seed", seed, low=0))

    def identity(z: Tensor) -> Tensor:
        return radius * z

    best, curves = None, {}
    for i, start in enumerate(starts):
        flow = SphereFlow(space.dim, radius, start, generator=own.init)
        curves[f"{i + 1}: {start}"] = _search(flow, world, read.beta / radius**2, share, steps, own.pairs)
        flow = flow.double().requires_grad_(False)
        judge = torch.Generator().manual_seed(seed)
        gap = asymptotic_difference(identity, flow, world, score, share=share, resolution=RESOLUTION, generator=judge)
        if best is None or gap.value > best[1].value:
            best = (f"{i + 1}: {start}", gap, flow)
    assert best is not None, "`starts` names one at least"
    start, gap, flow = best
    judge = torch.Generator().manual_seed(seed)
    reference = asymptotic_loss(identity, world, score, share=share, resolution=RESOLUTION, generator=judge).total
    bound = collapse_bound(space.dim, 1 / read.beta) if share == 0 and read.inner else None
    return Attack(reference, reference - gap.value, gap.value, gap.error, bound, start, flow, curves)


def _search(
    flow: SphereFlow, world: Laws, sharpness: float, share: float, steps: int, generator: torch.Generator
) -> Curve:
    """Adam with a cosine to 0, on fresh draws; the mean loss of every few steps."""
    optimizer = torch.optim.Adam(flow.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    shown: list[float] = []
    sums, count = 0.0, 0
    for step in range(steps):
        loss = _drawn_loss(flow, world, sharpness, share, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        sums, count = sums + float(loss.detach()), count + 1
        if count == EVERY or step == steps - 1:
            shown.append(sums / count)
            sums, count = 0.0, 0
    return Curve([EVERY * (i + 1.0) for i in range(len(shown))], shown, "step", "limit loss less log M")


def _drawn_loss(flow: SphereFlow, world: Laws, sharpness: float, share: float, generator: torch.Generator) -> Tensor:
    """At fixed length every score that rotations leave alone is sharpness h.h', and a constant that cancels."""
    z = world.marginal.sample(SUPPORTED if share > 0 else ANCHORS, generator=generator)
    z_pos = world.conditional.sample(z, generator=generator)
    h = flow(z)
    h = sharpness * h
    positive = (h * flow(z_pos)).sum(dim=1)
    parts = []
    if share < 1:
        others = flow(world.marginal.sample(CANDIDATES, generator=generator))
        parts.append(math.log1p(-share) + _log_mean(h @ others.mT))
    if share > 0:
        support = world.conditional.sample_support(z, SUPPORT, generator=generator)
        own = flow(support.flatten(0, 1)).view(len(z), SUPPORT, -1)
        parts.append(math.log(share) + _log_mean((own @ h[:, :, None]).squeeze(2)))
    return (torch.logsumexp(torch.stack(parts), dim=0) - positive).mean()


def _log_mean(grid: Tensor) -> Tensor:
    return torch.logsumexp(grid, dim=1) - math.log(grid.shape[1])


def _normal(shape: tuple[int, int], generator: torch.Generator) -> Tensor:
    return _rng.normal(shape, generator, torch.float32)
