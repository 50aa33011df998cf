"""A trained variational autoencoder as a file: what its encoder and its decoder, kept apart elsewhere, agree on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from . import _cache, _files

FORMAT = "noumena vae 1"
SUFFIX = ".safetensors"


@dataclass(frozen=True)
class Description:
    """What the file says of itself, as JSON.

    Attributes:
        shape: Of one image, (channels, height, width); its entries are grey levels from 0 to 1.
        dim: Coordinates of a latent.
        encoder, decoder: Widths of the hidden layers, in the order of computation.
        slope: Of the LeakyReLU between layers.
        training: How it was trained, and how far it came.
    """

    shape: tuple[int, int, int]
    dim: int
    encoder: tuple[int, ...]
    decoder: tuple[int, ...]
    slope: float
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entries(self) -> int:
        """Of one image."""
        return self.shape[0] * self.shape[1] * self.shape[2]

    @property
    def encoder_sizes(self) -> list[int]:
        """The encoder ends in means, then log-variances."""
        return [self.entries, *self.encoder, 2 * self.dim]

    @property
    def decoder_sizes(self) -> list[int]:
        return [self.dim, *self.decoder, self.entries]


def leaky_layers(sizes: Sequence[int], slope: float, device: torch.device) -> nn.Sequential:
    """Linear layers between `sizes`, without values yet, and LeakyReLU after each but the last."""
    layers: list[nn.Module] = []
    for before, after in zip(sizes[:-1], sizes[1:], strict=True):
        layers += [skip_init(nn.Linear, before, after, device=device), nn.LeakyReLU(slope)]
    return nn.Sequential(*layers[:-1])


def place(name: str | Path) -> Path:
    """The file that a name or a path means: a name without a suffix is one of the cache's."""
    path = Path(name).expanduser()
    return path if path.suffix else _cache.folder() / "vae" / f"{name}{SUFFIX}"


def write(path: Path, description: Description, encoder: nn.Module, decoder: nn.Module) -> None:
    """Replace the file, in one stroke."""
    from safetensors.torch import save

    tensors = {
        f"{half}.{name}": tensor.detach().cpu().contiguous().clone()
        for half, module in {"encoder": encoder, "decoder": decoder}.items()
        for name, tensor in module.state_dict().items()
    }
    # One entry, since the format does not keep an order among several: equal autoencoders are equal files.
    _files.replace(path, save(tensors, {FORMAT: json.dumps(asdict(description))}))


def read(path: Path, half: str) -> tuple[Description, dict[str, Tensor]]:
    """What the file says of itself, and the values of its "encoder" or "decoder"."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise FileNotFoundError(f"no autoencoder `{path}`; train it once: `noumena data vae mnist`.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if FORMAT not in metadata:
                raise ValueError(f"`path` must be an autoencoder of noumena, got '{path}'.")
            names = [name for name in file.keys() if name.startswith(f"{half}.")]  # noqa: SIM118
            tensors = {name.removeprefix(f"{half}."): file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise ValueError(f"`path` must be a whole autoencoder, got '{path}' ({error}); remove it.") from error
    given = json.loads(metadata[FORMAT])
    lists = {key: tuple(given[key]) for key in ("shape", "encoder", "decoder")}
    return Description(**{**given, **lists}), tensors
