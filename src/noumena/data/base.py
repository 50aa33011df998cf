"""Images that exist already, by row."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from .. import _checks


class AbstractImageTable(ABC):
    """Numbered images of one shape, with what is known of each: a class, factors, the sequence it belongs to.

    Images are bytes, as they are stored; whoever feeds a network divides by 255. A table that lies on disk is read by
    row, never whole. Subclasses define `_images`, which sees checked rows only, and set what they know.

    Attributes:
        name: What the table is called in messages and descriptions.
        shape: Of one image: channels, height, width.
        labels: The class of each row (n,), int64; None if there are no classes.
        class_names: In the order of the labels.
        factors: True factors of each row (n, k), floating; None if they are unknown.
        factor_names: One for each column of `factors`.
        episodes: The sequence of each row (n,), consecutive rows of one value being one sequence; None for rows
            without order.
    """

    name: str
    shape: tuple[int, int, int]
    labels: Tensor | None = None
    class_names: tuple[str, ...] = ()
    factors: Tensor | None = None
    factor_names: tuple[str, ...] = ()
    episodes: np.ndarray | None = None

    @abstractmethod
    def __len__(self) -> int: ...

    def images(self, rows: Int64[Tensor, " n"]) -> UInt8[Tensor, "n c h w"]:
        """The images of some rows, in the order asked for, on the device where the table holds them."""
        _checks.kind("rows", rows, Tensor, "torch.as_tensor converts lists and arrays.")
        if rows.ndim != 1 or rows.dtype != torch.int64:
            raise ValueError(f"`rows` must be a vector of int64, got the shape {tuple(rows.shape)} of {rows.dtype}.")
        if rows.numel() and not (0 <= int(rows.min()) and int(rows.max()) < len(self)):
            raise ValueError(
                f"`rows` must lie between 0 and {len(self) - 1}, the last of `{self.name}`; "
                f"got {int(rows.min())} to {int(rows.max())}."
            )
        return self._images(rows)

    @abstractmethod
    def _images(self, rows: Tensor) -> Tensor: ...


class InMemory(AbstractImageTable):
    """A table whose images are all in memory: small sets, and one's own arrays.

    Args:
        images: Bytes (n, c, h, w), a tensor or an array; kept, not copied.
        labels, factors, episodes: What is known of each row; see `AbstractImageTable`.
        class_names, factor_names: What they are called.
        name: What the table is called.
    """

    def __init__(
        self,
        images: Tensor | np.ndarray,
        *,
        labels: Tensor | np.ndarray | None = None,
        factors: Tensor | np.ndarray | None = None,
        episodes: np.ndarray | None = None,
        class_names: tuple[str, ...] = (),
        factor_names: tuple[str, ...] = (),
        name: str = "images",
    ) -> None:
        _checks.kind("images", images, (np.ndarray, Tensor), "numpy.asarray converts lists.")
        self.pixels = torch.as_tensor(images)
        if self.pixels.ndim != 4 or self.pixels.dtype != torch.uint8:
            raise ValueError(
                f"`images` must be bytes of the shape (n, channels, height, width), got {tuple(self.pixels.shape)} "
                f"of {self.pixels.dtype}."
            )
        for key, given in {"labels": labels, "factors": factors, "episodes": episodes}.items():
            if given is not None and len(given) != len(self.pixels):
                raise ValueError(f"`{key}` must have {len(self.pixels)} rows, one for each image; got {len(given)}.")
        self.name = name
        _, channels, height, width = self.pixels.shape
        self.shape = (channels, height, width)
        self.labels = None if labels is None else torch.as_tensor(labels).long()
        self.factors = None if factors is None else torch.as_tensor(factors)
        self.episodes = episodes
        self.class_names, self.factor_names = class_names, factor_names

    def __len__(self) -> int:
        return len(self.pixels)

    def _images(self, rows: Tensor) -> Tensor:
        return self.pixels[rows.to(self.pixels.device)]
