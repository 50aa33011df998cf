"""The vision transformer."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from .. import _checks
from ..spaces import AbstractSpace
from ._layers import linear
from .heads import AbstractHead
from .image import AbstractImageEncoder
from .projector import Projector

STD = 0.02  # of initial weights and positions


class ViT(AbstractImageEncoder):
    """The vision transformer of Dosovitskiy et al. (2021): the least assumptions about images, at the highest price.

    Patches are mapped to tokens, a class token joins them, and learned positions are added; then come blocks of
    attention and an MLP, each on normalised input and added to it. Features are the class token, normalised. No
    dropout. The defaults, with 512 coordinates, are the ViT of "The Loss Is Not Enough" (arXiv 2606.04280), of
    10 888 832 parameters.

    Args:
        shape: Of one image, (channels, height, width); height and width are multiples of `patch`.
        dim_out: Coordinates of embeddings.
        patch: Side of a patch in pixels.
        width: Coordinates of a token, a multiple of `heads`.
        depth: Number of blocks.
        heads: Of each attention.
        mlp_ratio: Width of the MLPs' hidden layer, as a multiple of `width`.
        projector, mean, std: See `AbstractImageEncoder`.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values: weights and positions normal with standard deviation 0.02, biases 0.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dim_out: int,
        *,
        patch: int = 4,
        width: int = 384,
        depth: int = 6,
        heads: int = 6,
        mlp_ratio: float = 4.0,
        projector: Projector | Sequence[int] | str = "linear",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        super().__init__(
            shape,
            dim_out,
            feature_dim=_checks.count("width", width),
            projector=projector,
            mean=mean,
            std=std,
            head=head,
            generator=generator,
        )
        channels, rows, columns = self.shape
        if rows % _checks.count("patch", patch) or columns % patch:
            raise ValueError(f"`patch` must divide height and width, {rows} and {columns}; got {patch}.")
        if width % _checks.count("heads", heads):
            raise ValueError(f"`heads` must divide `width`, {width}; got {heads}.")
        hidden = round(width * _checks.positive("mlp_ratio", mlp_ratio))
        patches = (rows // patch) * (columns // patch)
        self.layers = nn.Sequential(
            _Tokens(patch, channels * patch**2, patches, width, generator),
            *(_Block(width, heads, max(1, hidden), generator) for _ in range(_checks.count("depth", depth))),
            nn.LayerNorm(width, device=generator.device),
        )

    def backbone(self, x: Tensor) -> Tensor:
        return self.layers(x)[:, 0]


class _Tokens(nn.Module):
    """(n, c, h, w) -> (n, 1 + patches, width): the class token first, then the patches row by row."""

    def __init__(self, patch: int, entries: int, patches: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.patch = patch
        self.linear = _linear(entries, width, generator)
        self.class_token = nn.Parameter(_normal((width,), generator))
        self.positions = nn.Parameter(_normal((1 + patches, width), generator))

    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        p = self.patch
        pieces = x.reshape(n, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
        pieces = pieces.reshape(n, (h // p) * (w // p), c * p * p)
        tokens = self.linear(pieces)
        return torch.cat([self.class_token.to(tokens).expand(n, 1, -1), tokens], dim=1) + self.positions


class _Block(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width, device=generator.device)
        self.to_attention = _linear(width, 3 * width, generator)  # queries, keys, values
        self.from_attention = _linear(width, width, generator)
        self.norm_mlp = nn.LayerNorm(width, device=generator.device)
        self.to_hidden = _linear(width, hidden, generator)
        self.from_hidden = _linear(hidden, width, generator)

    def forward(self, x: Tensor) -> Tensor:
        n, tokens, width = x.shape
        parts = self.to_attention(self.norm_attention(x)).view(n, tokens, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(queries, keys, values).transpose(1, 2).reshape(n, tokens, width)
        x = x + self.from_attention(seen)
        return x + self.from_hidden(functional.gelu(self.to_hidden(self.norm_mlp(x))))


def _linear(dim_in: int, dim_out: int, generator: torch.Generator) -> nn.Linear:
    layer = linear(dim_in, dim_out, generator=generator)
    nn.init.normal_(layer.weight, std=STD, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return STD * torch.randn(shape, generator=generator, device=generator.device)
