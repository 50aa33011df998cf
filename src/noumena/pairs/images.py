"""The images of a table as they are: what scores are measured on."""

from collections.abc import Iterator

import torch

from .. import _checks
from ..batch import PairBatch
from ..data.base import AbstractImageTable
from .base import AbstractPairSource


class Images(AbstractPairSource):
    """Every image is its own positive. Nothing is learned from such pairs; scores want images without any change.

    Observations are bytes / 255, latents the factors of the table. No image is drawn twice in one call, nor in the
    parts of one call.

    Args:
        table: Where images come from.
    """

    def __init__(self, table: AbstractImageTable) -> None:
        self.table = _checks.kind("table", table, AbstractImageTable, "Pass one such as `InMemory(images)`.")

    def __len__(self) -> int:
        return len(self.table)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        (whole,) = self._draw_parts(n, n, generator, dtype)
        return whole

    def _draw_parts(self, n: int, size: int, generator: torch.Generator, dtype: torch.dtype) -> Iterator[PairBatch]:
        if n > len(self):
            raise ValueError(f"`n` must be at most the {len(self)} images of `{self.table.name}`, got {n}.")
        rows = torch.randperm(len(self), generator=generator, device=generator.device)[:n].cpu()
        for part in rows.split(size):
            x = self.table.images(part).to(generator.device, dtype) / 255
            factors, labels = self.table.factors, self.table.labels
            z = None if factors is None else factors[part.to(factors.device)].to(generator.device, dtype)
            known = None if labels is None else labels[part.to(labels.device)].to(generator.device)
            yield PairBatch(x=x, x_pos=x, z=z, z_pos=z, labels=known)
