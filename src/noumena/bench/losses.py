"""InfoNCE forward and backward against what published code builds: grids of n x m, and n x m x d for distances."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ..batch import PairEmbeddings
from ..losses import AbstractScore, AnisotropicScore, Dot, InBatch, InfoNCE, Lp
from .measure import Row, peak_megabytes, seconds

TAU = 0.3
CASES = {"dot": 3.0, "p = 2": 12.0, "anisotropic": 12.0, "p = 1": 15.0, "p = 3": 15.0, "p = 1.5": None}
BATCH, DIM = 6144, 10


def run(batch: int = BATCH) -> Iterator[Row]:
    """One row for each score. Plain distances hold several n x n x d tensors: about 5 GB at the default batch."""
    for name, claim in CASES.items():
        ours, plain = _ours(name, batch)(), _plain(name, batch)()
        assert torch.allclose(ours, plain, rtol=1e-4), (name, ours, plain)
        yield Row(
            name=f"InfoNCE {name}, {batch} x {batch}, d = {DIM}, forward and backward",
            ours=seconds(_ours(name, batch)),
            plain=seconds(_plain(name, batch), repeats=2, warmup=0),
            claim=claim,
            megabytes=peak_megabytes(_ours, name, batch),
            plain_megabytes=peak_megabytes(_plain, name, batch),
        )


def embeddings(batch: int, dim: int = DIM) -> tuple[Tensor, Tensor]:
    """Unit anchors and positives near them."""
    generator = torch.Generator().manual_seed(0)
    h = torch.nn.functional.normalize(torch.randn(batch, dim, generator=generator), dim=1)
    return h, torch.nn.functional.normalize(h + 0.1 * torch.randn(batch, dim, generator=generator), dim=1)


def score(name: str) -> AbstractScore:
    if name == "dot":
        return Dot(TAU)
    if name == "anisotropic":
        return AnisotropicScore(1 / TAU, DIM)
    return Lp(float(name.removeprefix("p = ")), TAU)


def _ours(name: str, batch: int) -> Callable[[], Tensor]:
    h, h_pos = embeddings(batch)
    loss = InfoNCE(score(name), InBatch(include_self=True))

    def step() -> Tensor:
        leaves = PairEmbeddings(h.clone().requires_grad_(), h_pos.clone().requires_grad_())
        total = loss(leaves).total
        total.backward()
        return total.detach()

    step_small = embeddings(64)
    loss(PairEmbeddings(step_small[0].requires_grad_(), step_small[1])).total.backward()
    return step


def _plain(name: str, batch: int) -> Callable[[], Tensor]:
    h, h_pos = embeddings(batch)
    precision = torch.full((DIM,), 1 / TAU)

    def scores(a: Tensor, b: Tensor, weights: Tensor) -> Tensor:
        if name == "anisotropic":
            return -((a - b).square() * weights).sum(dim=-1)
        p = float(name.removeprefix("p = "))
        return -torch.linalg.vector_norm(a - b, ord=p, dim=-1).pow(p) / TAU

    def step() -> Tensor:
        a, b = h.clone().requires_grad_(), h_pos.clone().requires_grad_()
        weights = precision.clone().requires_grad_()
        if name == "dot":
            pos, neg = (a * b).sum(dim=-1) / TAU, torch.einsum("ik,jk->ij", a, a) / TAU
        else:
            pos, neg = scores(a, b, weights), scores(a[:, None], a[None], weights)
        total = (torch.logsumexp(torch.cat([neg, pos[:, None]], dim=1), dim=1) - pos).mean()
        total.backward()
        return total.detach()

    return step
