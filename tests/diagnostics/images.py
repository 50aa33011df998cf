"""Images of which much is known, and encoders that read it off."""

import torch
from torch import Tensor, nn

from noumena.data import InMemory


def patterns(n: int, seed: int = 0, classes: int = 3, size: int = 10) -> InMemory:
    """Bright squares, in a place for each class, on noise."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(classes, (n,), generator=generator)
    images = torch.randint(120, (n, 3, size, size), generator=generator, dtype=torch.uint8)
    rows = torch.arange(n)
    for i in range(2):
        for j in range(2):
            images[rows, :, 2 + i, 2 * labels + j] += 90
    return InMemory(images, labels=labels, name="patterns")


class Statistics(nn.Module):
    """Of each channel the mean, its distance from that of `patterns`, and the deviation."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=(2, 3))
        return self.scale * torch.cat([mean, (mean - 0.25).abs(), x.std(dim=(2, 3))], dim=1)


class Backbone(nn.Module):
    """Features are the pixels; the embedding knows nothing but noise of its own."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = nn.BatchNorm1d(300), nn.Dropout(dropout)

    def features(self, x: Tensor) -> Tensor:
        return self.dropout(self.norm(x.flatten(1)))

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(1e4 * self.features(x)[:, :2])
