"""Pairs of two views of one image."""

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from ..batch import PairBatch
from ..data.augmentations import AbstractAugmentation
from ..data.base import AbstractImageTable
from ..data.pixels import unit
from .base import AbstractPairSource
from .given import places

VIEWS = ("both", "second")


class Augmented(AbstractPairSource):
    """One image, two augmentations of it: the pairs of contrastive learning where nothing else is known.

    A batch holds distinct images, whose pixels are numbers in [0, 1] before they are augmented. It states each image's
    class and what was done to each view. `z` are the factors of the image where the table knows them; an augmented
    view of it has others, so `z_pos` is left out, and with both views augmented `z` is what the anchor was made from.

    Args:
        table: The images.
        augmentation: Of the positive, and of the anchor unless `views` says otherwise.
        views: "both", or "second" for anchors as they are, as The Loss Is Not Enough has on CIFAR-10.
        anchor_augmentation: Of the anchor where it differs, as in `VICReg(1)` and `VICReg(2)`; by default it is
            `augmentation`.
        negatives: Further augmentations of the same image, as drawn negatives private to each anchor: `x_neg` is
            (n, negatives, c, h, w). This is the observation-space form of the adapted loss, whose negatives share what
            the augmentation leaves alone; use `InfoNCE(score, Drawn())`. 0 draws none.
        among: The rows that may be drawn; all by default.
    """

    def __init__(
        self,
        table: AbstractImageTable,
        augmentation: AbstractAugmentation,
        views: str = "both",
        *,
        anchor_augmentation: AbstractAugmentation | None = None,
        negatives: int = 0,
        among: np.ndarray | None = None,
    ) -> None:
        self.table = _checks.kind("table", table, AbstractImageTable, "Pass a table such as `InMemory(images)`.")
        hint = "Pass one such as `SimCLR(32)`."
        self.augmentation = _checks.kind("augmentation", augmentation, AbstractAugmentation, hint)
        self.views = _checks.choice("views", views, VIEWS)
        self.anchor_augmentation = augmentation if views == "both" else None
        if anchor_augmentation is not None:
            if views == "second":
                raise ValueError('`anchor_augmentation` needs `views="both"`; anchors are left as they are.')
            _checks.kind("anchor_augmentation", anchor_augmentation, AbstractAugmentation, hint)
            self.anchor_augmentation = anchor_augmentation
        self.negatives = _checks.count("negatives", negatives, low=0)
        self.among = None if among is None else places(among, len(table))
        after = augmentation.shape_after(table.shape)
        anchor = table.shape if self.anchor_augmentation is None else self.anchor_augmentation.shape_after(table.shape)
        if after != anchor:
            raise ValueError(
                f"`augmentation` must give positives the shape of anchors, {anchor}; it gives {after}. Crop to the "
                "size of the images, or augment both views."
            )

    def __len__(self) -> int:
        """The number of images that may be drawn."""
        return len(self.table) if self.among is None else len(self.among)

    def _draw(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> PairBatch:
        if n > len(self):
            raise ValueError(f"`n` must be at most the {len(self)} images there are, got {n}.")
        rows = torch.randperm(len(self), generator=generator, device=generator.device)[:n].cpu()
        rows = rows if self.among is None else self.among[rows]
        images = unit(self.table.images(rows), dtype, generator.device)
        x, parameters = images, None
        if self.anchor_augmentation is not None:
            x, parameters = self.anchor_augmentation(images, generator)
        x_pos, parameters_pos = self.augmentation(images, generator)
        x_neg = None
        if self.negatives:
            repeated = images.repeat_interleave(self.negatives, dim=0)
            x_neg = self.augmentation(repeated, generator).images.unflatten(0, (n, self.negatives))
        return PairBatch(
            x=x,
            x_pos=x_pos,
            x_neg=x_neg,
            z=_of_rows(self.table.factors, rows, generator.device, dtype),
            labels=_of_rows(self.table.labels, rows, generator.device, torch.int64),
            parameters=parameters,
            parameters_pos=parameters_pos,
        )


def _of_rows(known: Tensor | None, rows: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor | None:
    return None if known is None else known[rows.to(known.device)].to(device=device, dtype=dtype)
