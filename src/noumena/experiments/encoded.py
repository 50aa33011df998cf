"""A table of images whose factors are what an autoencoder makes of them."""

from pathlib import Path

import torch
from torch import Tensor

from ..data import AbstractImageTable
from .vae import posterior_mean

PART = 4096  # images that are encoded at once


class Encoded(AbstractImageTable):
    """Another table's images, with the latents of an autoencoder for factors.

    For real images, whose factors nobody knows: AnInfoNCE (arXiv 2407.00143), Section G, scores encoders of digits
    against the latents of its autoencoder. They are one description of the images, not the truth about them.

    Args:
        table: The images.
        vae: What `train_vae` wrote: a name in the cache, or the path of a file.
    """

    def __init__(self, table: AbstractImageTable, vae: str | Path) -> None:
        self.table = table
        self.name, self.shape = f"{table.name} encoded", table.shape
        self.labels, self.class_names, self.episodes = table.labels, table.class_names, table.episodes
        encoder = posterior_mean(vae)
        with torch.no_grad():
            parts = torch.arange(len(table)).split(PART)
            means = [encoder(table.images(rows).flatten(1).float().cpu() / 255) for rows in parts]
        self.factors = torch.cat(means)
        self.factor_names = tuple(f"latent {i + 1}" for i in range(self.factors.shape[1]))

    def __len__(self) -> int:
        return len(self.table)

    def _images(self, rows: Tensor) -> Tensor:
        return self.table.images(rows)
