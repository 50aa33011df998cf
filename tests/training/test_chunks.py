"""The gradient of the whole batch, a chunk at a time."""

import contextlib

import pytest
import torch
from torch import nn

from noumena import streams
from noumena.batch import PairBatch
from noumena.conditionals import Anisotropic, FixedContent
from noumena.encoders import MLP, ImageMLP, ResNet, ViT
from noumena.losses import AnisotropicScore, CovarianceContrast, Dot, Ensemble, GroupMates, InfoNCE
from noumena.marginals import Uniform
from noumena.mixings import Spiral
from noumena.pairs import FromMarginal, FromSupport, Given, GroupedSupport, Synthetic
from noumena.spaces import Sphere
from noumena.training import EMA, Adam, Muon, embed, train
from noumena.training.chunks import Chunks
from tests.memory import peak_bytes

SPHERE, UNEVEN = Sphere(3), Anisotropic([8.0, 4.0, 4.0])
SOURCES = {
    "in the batch": Synthetic(Uniform(SPHERE), UNEVEN, Spiral()),
    "shared negatives": Synthetic(Uniform(SPHERE), UNEVEN, Spiral(), FromMarginal(11)),
    "private negatives": Synthetic(Uniform(SPHERE), FixedContent(3.0, 1), Spiral(), FromSupport(2)),
    "groups": GroupedSupport(Uniform(SPHERE), FixedContent(3.0, 1), Spiral(), group_size=5, negatives=4),
}


def images(n=40, seed=1):
    x = torch.rand(2, n, 1, 8, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return Given(x[0], x[1])


def vectors(generator):
    return MLP(3, 3, [16, 16], head="sphere", generator=generator).double()


def residual(generator):
    return ResNet((1, 8, 8), 3, 10, width=2, stem="cifar", norm="group", generator=generator).double()


def transformer(generator):
    return ViT((1, 8, 8), 3, width=8, depth=1, heads=2, generator=generator).double()


def learned():
    return InfoNCE(AnisotropicScore(1.0, 3)).double()


def several():
    return Ensemble([learned(), InfoNCE(Dot(0.3, learnable=True)), CovarianceContrast()]).double()


CASES = {
    "in the batch": (SOURCES["in the batch"], vectors, learned),
    "several losses": (SOURCES["in the batch"], vectors, several),
    "shared negatives": (SOURCES["shared negatives"], vectors, learned),
    "private negatives": (SOURCES["private negatives"], vectors, learned),
    "groups": (SOURCES["groups"], vectors, lambda: InfoNCE(Dot(0.3, learnable=True), GroupMates()).double()),
    "residual network": (images(), residual, learned),
    "transformer": (images(), transformer, learned),
}


def trained(case, **changes):
    source, make, loss = CASES[case]
    rng, loss = streams(5), loss()
    encoder = make(rng.init)
    options = {"optimizer": Muon(0.05, rest=Adam(1e-2)), "ema": EMA(0.5), "clip": 0.5, "steps": 4, "batch_size": 20}
    records = list(train(source, encoder, loss, **{**options, **changes}, generator=rng.pairs, every=2))
    values = [tensor for module in (encoder, loss) for tensor in module.state_dict().values()]
    return torch.cat([value.flatten().double() for value in values]), [record.loss for record in records]


@pytest.mark.parametrize(
    ("case", "chunk"), [*((case, 7) for case in CASES), ("shared negatives", 1), ("private negatives", 1000)]
)
def test_a_run_in_chunks_is_the_run(case, chunk):
    whole, losses = trained(case)
    parts, losses_of_parts = trained(case, chunk=chunk)
    torch.testing.assert_close(parts, whole, rtol=0, atol=1e-10)
    assert losses_of_parts == pytest.approx(losses, abs=1e-10)


def gradients(encoder, loss, batch, chunk, context=contextlib.nullcontext):
    chunks = Chunks(encoder, batch, chunk)
    loss(chunks.seen(loss)).total.backward()
    chunks.backward(context)
    return [parameter.grad.clone() for parameter in (*encoder.parameters(), *loss.parameters())]


def by_hand(encoder, loss, batch, chunk):
    """The loss of the embeddings that the chunks have, by one graph through all of them."""
    pieces = [
        encoder(torch.cat(part)).split([len(view) for view in part]) for part in Chunks(encoder, batch, chunk).parts
    ]
    h, h_pos = (torch.cat(views) for views in zip(*pieces, strict=True))
    total = loss(embed(nn.Identity(), PairBatch(h, h_pos), loss)).total
    return list(torch.autograd.grad(total, [*encoder.parameters(), *loss.parameters()]))


class Foreign(nn.Module):
    """A module whose masks come from the global state."""

    def __init__(self, generator):
        super().__init__()
        self.layers = nn.Sequential(vectors(generator), nn.Dropout(0.3))

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize(
    ("make", "source"),
    [
        (lambda g: ImageMLP((1, 8, 8), 3, [16, 16], dropout=0.4, generator=g).double(), images()),
        (lambda g: ResNet((1, 8, 8), 3, 10, width=2, stem="cifar", generator=g).double(), images()),
        (Foreign, SOURCES["in the batch"]),
    ],
    ids=["dropout and batch statistics", "batch statistics", "the global state"],
)
def test_both_passes_draw_alike_and_count_once(make, source, monkeypatch):
    batch = source.draw(20, streams(2).pairs, torch.float64)
    with torch.random.fork_rng():
        ended = []
        for how in (gradients, by_hand):
            torch.manual_seed(0)
            encoder, loss = make(streams(1).init), learned()
            if how is by_hand:  # parts are cut by an encoder of their own, so that nothing is drawn twice
                monkeypatch.setattr(Chunks, "_encoded", lambda self, part: tuple(view[:, :3] for view in part))
            found = how(encoder, loss, batch, 12)
            ended.append((found, list(encoder.buffers()), torch.rand(3)))
            monkeypatch.undo()
    (found, buffers, after), (expected, buffers_expected, after_expected) = ended
    for one, other in zip(found + buffers, expected + buffers_expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)
    assert torch.equal(after, after_expected)


def test_masks_that_differ_between_passes_are_caught(monkeypatch):
    batch = images().draw(20, streams(2).pairs, torch.float64)
    found = []
    for repeated in (True, False):
        encoder, loss = ImageMLP((1, 8, 8), 3, [16], dropout=0.4, generator=streams(1).init).double(), learned()
        chunks = Chunks(encoder, batch, 12)
        loss(chunks.seen(loss)).total.backward()
        if not repeated:
            chunks.buffers = [buffer.clone() for buffer in encoder.buffers()]
        chunks.backward(contextlib.nullcontext)
        found.append(torch.cat([parameter.grad.flatten() for parameter in encoder.parameters()]))
    assert float((found[0] - found[1]).abs().max()) > 1e-3


def test_a_chunk_holds_anchors_with_their_positives():
    x = torch.arange(20.0)[:, None]
    chunks = Chunks(nn.Identity(), PairBatch(x, x + 100, x_neg=torch.zeros(7, 1)), 12)
    for anchors, positives, negatives in chunks.parts:
        assert torch.equal(positives, anchors + 100)
        assert len(anchors) + len(positives) + len(negatives) <= 12 and len(negatives) > 0
    assert sum(len(anchors) for anchors, _, _ in chunks.parts) == 20 and len(chunks.parts) == 4


def test_bfloat16_means_what_it_means_in_one_batch():
    """Rounding of a chunk's gradients, within what bfloat16 moves a run by."""
    source, options = SOURCES["in the batch"], {"optimizer": Adam(1e-2), "steps": 5, "batch_size": 32}
    ended = []
    for precision, chunk in (("full", None), ("bf16", None), ("bf16", 9)):
        rng = streams(5)
        encoder = MLP(3, 3, [16, 16], generator=rng.init)
        loss = InfoNCE(Dot(0.3))
        list(train(source, encoder, loss, **options, generator=rng.pairs, precision=precision, chunk=chunk))
        ended.append(torch.cat([parameter.detach().flatten() for parameter in encoder.parameters()]))
    full, half, parts = ended
    assert 0 < float((parts - half).norm()) < 0.5 * float((half - full).norm())


def test_memory_is_that_of_a_chunk():
    batch = images(256).draw(256, streams(2).pairs, torch.float64)
    encoder, loss = residual(streams(1).init), InfoNCE(Dot(0.3))
    plain = peak_bytes(lambda: loss(embed(encoder, batch, loss)).total.backward())
    parts = peak_bytes(lambda: gradients(encoder, loss, batch, 32))
    assert parts < plain / 6  # a sixteenth of the observations at once


def test_a_chunk_is_a_number():
    with pytest.raises(ValueError, match="`chunk` must be at least 1, got 0"):
        trained("in the batch", chunk=0)
