"""Several generating processes that share one mixing."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch
from ..conditionals import AbstractConditional
from ..marginals import AbstractMarginal
from ..mixings import AbstractMixing
from .base import AbstractPairSource
from .synthetic import Synthetic


class Processes(AbstractPairSource):
    """A batch from each of several processes: one marginal and mixing, a conditional of their own.

    Data sets of one domain whose pairs were made in different ways, as by different augmentations. What one process
    leaves undetermined another may settle: with AnInfoNCE every two coordinates that differ in precision under some
    process are told apart (`losses.Ensemble`, one loss for each process). Rows come in equal consecutive blocks, the
    first from `conditional`; `PairBatch.processes` says how many.

    Args:
        marginal: Law of all anchors.
        conditional: Law of positives of the first process.
        mixing: What turns latents into observations; the identity by default.
        others: Laws of positives of the other processes, at least one.
    """

    def __init__(
        self,
        marginal: AbstractMarginal,
        conditional: AbstractConditional,
        mixing: AbstractMixing | None = None,
        *,
        others: Sequence[AbstractConditional],
    ) -> None:
        others = _checks.sequence("others", others)
        if not others:
            raise ValueError("`others` must name at least one more process, got none; one alone is `Synthetic`.")
        self.sources = [Synthetic(marginal, law, mixing) for law in (conditional, *others)]
        first = self.sources[0]
        self.marginal, self.space, self.mixing = first.marginal, first.space, first.mixing

    @property
    def conditionals(self) -> tuple[AbstractConditional, ...]:
        """The law of positives of each process, in the order of the blocks."""
        return tuple(source.conditional for source in self.sources)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        count = len(self.sources)
        if n % count:
            would_do = n - n % count or count
            raise ValueError(f"`n` must be a multiple of the {count} processes, got {n}; {would_do} would do.")
        batches = [source.draw(n // count, generator, dtype) for source in self.sources]
        x, x_pos, z, z_pos = (torch.cat(views) for views in zip(*(_known(batch) for batch in batches), strict=True))
        return PairBatch(x, x_pos, z=z, z_pos=z_pos, processes=count)


def _known(batch: PairBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    assert batch.z is not None and batch.z_pos is not None
    return batch.x, batch.x_pos, batch.z, batch.z_pos
