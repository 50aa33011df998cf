"""What encoders of images share."""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace
from .base import AbstractEncoder
from .heads import AbstractHead
from .projector import Projector


class AbstractImageEncoder(AbstractEncoder):
    """Images (n, c, h, w), or the same as rows (n, c h w), -> backbone -> projector -> head.

    `features(x)` is the output of the backbone, `body` that of the projector before the head, and the encoder itself
    what the loss sees; probes read any of the three. Subclasses define `backbone`.

    Args:
        shape: Of one image, (channels, height, width).
        dim_out: Coordinates of embeddings.
        feature_dim: Of the backbone's output.
        projector: "linear", one layer from features to embeddings; "none", where features are the embeddings; the
            widths of hidden layers; or a `Projector`.
        mean, std: Of each channel, subtracted and divided by first; None leaves images as they are.
        channels_last: Hand images to the backbone with channels as the last axis in memory.
        init: Of the projector, as in `MLP`.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        shape: Sequence[int],
        dim_out: int,
        *,
        feature_dim: int,
        projector: Projector | Sequence[int] | str,
        mean: Sequence[float] | None,
        std: Sequence[float] | None,
        channels_last: bool = False,
        init: str = "torch",
        head: AbstractHead | AbstractSpace | str,
        generator: torch.Generator,
    ) -> None:
        self.shape = image_shape(shape)
        super().__init__(_entries(self.shape), dim_out, head=head, generator=generator)
        self.feature_dim = feature_dim
        self.channels_last = _checks.kind("channels_last", channels_last, bool)
        if (mean is None) != (std is None):
            raise ValueError("`mean` and `std` must both be given, or neither.")
        channels = {} if mean is None or std is None else {"mean": mean, "std": std}
        self.normalises = bool(channels)
        for name, values in channels.items():
            self.register_buffer(name, self._per_channel(name, values, generator.device))
        self.projector = self._projector(projector, init, generator)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return self.shape

    @abstractmethod
    def backbone(self, x: Tensor) -> Tensor:
        """(n, c, h, w) -> (n, feature_dim)."""

    def features(self, x: Float[Tensor, "n ..."]) -> Float[Tensor, "n f"]:
        """What the backbone says of images, before projector and head."""
        return self.backbone(self._prepared(self._checked(x)))

    def body(self, x: Tensor) -> Tensor:
        return self.projector(self.backbone(self._prepared(x)))

    def _prepared(self, x: Tensor) -> Tensor:
        if self.normalises:
            x = (x - self.mean) / self.std
        return x.contiguous(memory_format=torch.channels_last) if self.channels_last else x

    def _per_channel(self, name: str, values: Sequence[float], device: torch.device) -> Tensor:
        check = _checks.positive if name == "std" else _checks.number
        values = [check(name, value) for value in _checks.sequence(name, values)]
        if len(values) != self.shape[0]:
            raise ValueError(f"`{name}` must have a value for each of {self.shape[0]} channels, got {len(values)}.")
        return torch.tensor(values, device=device)[:, None, None]

    def _projector(self, given: Projector | Sequence[int] | str, init: str, generator: torch.Generator) -> nn.Module:
        if isinstance(given, str):
            if _checks.choice("projector", given, ("linear", "none")) == "none":
                if self.dim_out != self.feature_dim:
                    raise ValueError(
                        f'`dim_out` must be the {self.feature_dim} of the features with projector="none", got '
                        f"{self.dim_out}."
                    )
                return nn.Identity()
            given = Projector()
        elif not isinstance(given, Projector):
            given = Projector(_checks.sequence("projector", given))
        return given.build(self.feature_dim, self.dim_out, init=init, generator=generator)


def image_shape(shape: Sequence[int]) -> tuple[int, int, int]:
    """Channels, height and width."""
    sizes = [_checks.count("shape", size) for size in _checks.sequence("shape", shape)]
    if len(sizes) != 3:
        raise ValueError(f"`shape` must be (channels, height, width), got {tuple(sizes)}.")
    return sizes[0], sizes[1], sizes[2]


def _entries(shape: tuple[int, int, int]) -> int:
    return shape[0] * shape[1] * shape[2]
