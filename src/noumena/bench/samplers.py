"""What a batch of pairs costs."""

from collections.abc import Iterator

import numpy as np
import torch

from .. import conditionals, marginals
from ..spaces import Box, Euclidean, Sphere
from .measure import Row, seconds

PAIRS, DIM = 6144, 10


def run() -> Iterator[Row]:
    """6144 anchors and positives at d = 10, on one thread; and vMF at d = 512 beside scipy's."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield from _pairs()
        yield _von_mises_fisher_beside_scipy()
    finally:
        torch.set_num_threads(threads)


def _pairs() -> Iterator[Row]:
    sphere, box, line = Sphere(DIM), Box(DIM), Euclidean(DIM)
    on_sphere, in_box = marginals.Uniform(sphere), marginals.Uniform(box)
    spread = marginals.GeneralizedNormal(line, p=2, std=1.0)
    uneven = [25.0] * 5 + [5.0] * 5
    cases = {
        "vMF(10) on the sphere": (on_sphere, conditionals.VonMisesFisher(10.0, space=sphere)),
        "Laplace(0.05), unbounded": (spread, conditionals.GeneralizedNormal(1, scale=0.05, space=line)),
        "Laplace(0.05) in a box": (in_box, conditionals.GeneralizedNormal(1, scale=0.05, space=box)),
        "normal(0.05), unbounded": (spread, conditionals.GeneralizedNormal(2, std=0.05, space=line)),
        "normal(0.05) in a box": (in_box, conditionals.GeneralizedNormal(2, std=0.05, space=box)),
        "generalized normal p = 3 in a box": (in_box, conditionals.GeneralizedNormal(3, scale=0.05, space=box)),
        "anisotropic 25/5, exact": (on_sphere, conditionals.Anisotropic(uneven, space=sphere)),
        "anisotropic 25/5, shell rejection": (
            on_sphere,
            conditionals.Anisotropic(uneven, space=sphere, proposal="shell"),
        ),
        "one coordinate fixed": (on_sphere, conditionals.FixedContent(10 / 3, 1, space=sphere)),
    }
    for name, (marginal, conditional) in cases.items():
        generator = torch.Generator().manual_seed(0)

        def draw(marginal=marginal, conditional=conditional, generator=generator):
            conditional.sample(marginal.sample(PAIRS, generator=generator), generator=generator)

        yield Row(f"{PAIRS} pairs, d = {DIM}: {name}", seconds(draw, repeats=9))


def _von_mises_fisher_beside_scipy(n: int = 100_000, d: int = 512) -> Row:
    from scipy.stats import vonmises_fisher

    mean = torch.zeros(n, d)
    mean[:, 0] = 1
    law, generator = conditionals.VonMisesFisher(50.0), torch.Generator().manual_seed(0)
    theirs = vonmises_fisher(mean[0].double().numpy(), 50, seed=np.random.default_rng(0))
    return Row(
        f"{n} vMF draws, d = {d}",
        seconds(lambda: law.sample(mean, generator=generator), repeats=2),
        plain=seconds(lambda: theirs.rvs(n), repeats=1, warmup=0),
        note="plain is scipy's, with one mean for all draws; ours takes a mean for each",
    )
