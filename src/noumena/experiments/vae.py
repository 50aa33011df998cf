"""A variational autoencoder of a table of images, trained once and used as a world (`mixings.Decoder`)."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from .. import _checks, _vae
from .._rng import streams
from ..batch import PairBatch
from ..data import AbstractImageTable
from ..encoders import MLP
from ..losses import VAE, VectorDecoder
from ..pairs import AbstractPairSource
from ..training import Adam, Checkpoint, Record, Schedule, train

SLOPE = 0.01
MEASURED = 10_000  # images on which the finished autoencoder is measured


def train_vae(
    table: AbstractImageTable,
    *,
    seed: int = 0,
    epochs: int = 50,
    dim: int = 10,
    widths: Sequence[int] = (256, 128),
    batch: int = 256,
    lr: float = 2e-3,
    beta: float = 1.0,
    out: str | Path | None = None,
    device: str | torch.device = "cpu",
    progress: Callable[[Record], None] | None = None,
) -> Path:
    """Train encoder and decoder, each of linear layers with LeakyReLU, and write them to one file.

    AnInfoNCE (arXiv 2407.00143) says three layers each, ten latents and 50 epochs for MNIST; widths, batch, optimiser
    (Adam, warmed up and annealed to 0), likelihood (Bernoulli, of grey levels) and weight of the divergence are ours.
    Batches hold distinct images; an epoch is as many images as there are, drawn anew rather than dealt out. The seed
    decides everything. A run that was killed goes on where it was; a finished one is returned at once.

    Args:
        table: The images.
        seed: Decides initial values, batches and noise.
        epochs: How long.
        dim: Coordinates of a latent.
        widths: Hidden layers of the encoder; the decoder has the same in the other order.
        batch: Images in a step, an even number.
        lr: Largest rate of Adam.
        beta: Weight of the divergence; 1 for the evidence lower bound.
        out: The file, or a name in the cache; by default the table's name before any "/", such as "mnist".
        device: Where to train.
        progress: Told of each epoch; the record's `loss` is minus the evidence lower bound, in nats per image.
    """
    _checks.kind("table", table, AbstractImageTable, "Pass one such as `MNIST()`.")
    if _checks.count("batch", batch) % 2 or batch > len(table):
        raise ValueError(f"`batch` must be even and at most the {len(table)} images there are, got {batch}.")
    rng = streams(seed, device)
    entries = math.prod(table.shape)
    encoder = MLP(entries, 2 * dim, widths, head="gaussian", slope=SLOPE, init="he", generator=rng.init)
    decoder = VectorDecoder(dim, entries, tuple(reversed(widths)), slope=SLOPE, generator=rng.init)
    loss = VAE(decoder, beta=beta, generator=rng.init)
    told = {"table": table.name, "images": len(table), "seed": seed, "epochs": epochs, "batch": batch, "lr": lr}
    asked = _vae.Description(table.shape, dim, tuple(widths), tuple(reversed(widths)), SLOPE, {**told, "beta": beta})
    path = _vae.place(table.name.split("/")[0] if out is None else out)
    if path.exists():
        return _finished(path, asked)
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = max(1, len(table) // batch)
    checkpoint = Checkpoint(path.with_name(f".{path.name}.checkpoint"))
    for record in train(
        _Images(table),
        encoder,
        loss,
        optimizer=Adam(lr),
        schedule=Schedule(0.02, "cosine"),
        steps=_checks.count("epochs", epochs) * steps,
        batch_size=batch // 2,
        every=steps,
        generator=rng.pairs,
        checkpoint=checkpoint,
    ):
        if progress is not None:
            progress(record)
    measured = _measured(table, encoder, loss, rng.eval)
    finished = _vae.Description(
        asked.shape, dim, asked.encoder, asked.decoder, SLOPE, {**asked.training, "measured": measured}
    )
    _vae.write(path, finished, encoder.layers, decoder.layers)
    Path(checkpoint.path).unlink()
    return path


def posterior_mean(vae: str | Path, *, device: str | torch.device = "cpu") -> MLP:
    """The encoder of a file of `train_vae`, in evaluation mode: rows of grey levels in [0, 1] -> the means (n, dim)."""
    description, values = _vae.read(_vae.place(vae), "encoder")
    encoder = MLP(
        description.entries,
        2 * description.dim,
        description.encoder,
        head="gaussian",
        slope=description.slope,
        generator=torch.Generator(device=device),
    )
    encoder.layers.load_state_dict(values)
    return encoder.eval().requires_grad_(False)


class _Images(AbstractPairSource):
    """Pairs of independent images, as rows of grey levels: to the autoencoder a pair is two of them."""

    def __init__(self, table: AbstractImageTable) -> None:
        self.table = table

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        rows = torch.randperm(len(self.table), generator=generator, device=generator.device)[: 2 * n].cpu()
        x, x_pos = _levels(self.table, rows, generator.device, dtype).chunk(2)
        return PairBatch(x, x_pos)


def _levels(table: AbstractImageTable, rows: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    """(n, entries) in [0, 1]."""
    return table.images(rows).to(device, dtype).flatten(1) / 255


@torch.no_grad()
def _measured(table: AbstractImageTable, encoder: MLP, loss: VAE, generator: torch.Generator) -> dict[str, object]:
    """Of the first images: the evidence lower bound by one draw each, and the divergence of each latent in nats."""
    rows = torch.arange(min(MEASURED, len(table)))
    x = _levels(table, rows, generator.device, torch.float32)
    mean, log_variance = encoder(x).chunk(2, dim=1)
    divergences = (mean.square() + log_variance.exp() - log_variance - 1).mean(dim=0) / 2
    noise = torch.randn(mean.shape, generator=generator, device=mean.device)
    logits = loss.reconstruction.decoder(mean + noise * (log_variance / 2).exp())
    missed = torch.nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    bound = -float(missed + divergences.sum())
    return {"images": len(rows), "evidence lower bound": bound, "divergences": divergences.tolist()}


def _finished(path: Path, asked: _vae.Description) -> Path:
    found, _ = _vae.read(path, "decoder")
    training = {name: value for name, value in found.training.items() if name != "measured"}
    here = (found.shape, found.dim, found.encoder, found.decoder, found.slope, training)
    if here != (asked.shape, asked.dim, asked.encoder, asked.decoder, asked.slope, dict(asked.training)):
        raise ValueError(f"`out` holds another autoencoder, {training} at `{path}`; name another file, or remove it.")
    return path
