"""A training step of the support-corrected loss: groups that supply their own negatives, against private draws."""

from collections.abc import Callable, Iterator

import torch

from .. import conditionals, marginals
from ..encoders import MLP
from ..losses import Dot, Drawn, GroupMates, InfoNCE
from ..pairs import AbstractPairSource, FromSupport, GroupedSupport, Synthetic
from ..spaces import Sphere
from ..training import embed
from .measure import Row, seconds

BATCH, GROUP, NEGATIVES = 2000, 50, 2000


def run(anchors_measured: int = 40) -> Iterator[Row]:
    """Anchors of a private step are encoded in parts of `anchors_measured`: 2000 x 2000 negatives at once would take
    gigabytes of activations. The full step is that many times as long."""
    marginal, law = marginals.Uniform(Sphere(3)), conditionals.FixedContent(10 / 3, 1)
    grouped = _step(GroupedSupport(marginal, law, group_size=GROUP), InfoNCE(Dot(0.3), GroupMates()), BATCH)
    private = Synthetic(marginal, law, negatives=FromSupport(NEGATIVES))
    part = seconds(_step(private, InfoNCE(Dot(0.3), Drawn()), anchors_measured), repeats=2)
    yield Row(
        f"adapted InfoNCE step, {BATCH} anchors, MLP 64x3",
        seconds(grouped),
        plain=part * BATCH / anchors_measured,
        claim=200.0,
        note=f"groups of {GROUP}; plain is {NEGATIVES} private negatives for each anchor, "
        f"{anchors_measured} anchors measured and scaled",
    )


def _step(source: AbstractPairSource, loss: InfoNCE, n: int) -> Callable[[], None]:
    generator = torch.Generator().manual_seed(0)
    encoder = MLP.small(3, 3, generator=generator)

    def step() -> None:
        encoder.zero_grad(set_to_none=True)
        loss(embed(encoder, source.draw(n, generator), loss)).total.backward()

    return step
