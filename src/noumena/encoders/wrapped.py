"""A network of your own, as an encoder."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace
from .heads import AbstractHead
from .image import AbstractImageEncoder
from .projector import Projector


class Wrapped(AbstractImageEncoder):
    """Any `nn.Module` from images to rows (n, f), given a projector, a head and `features`.

    A module that is an encoder already needs no wrapper: a table may name its class in place of one of ours. Initial
    values are the module's own. It finds the global random state seeded by `generator`, and the state is put back
    afterwards, so that a seed decides them; what the module draws later, as `nn.Dropout` does, comes from the global
    state, which no checkpoint holds: use `noumena.encoders.dropout.Dropout`.

    Args:
        shape: Of one image, (channels, height, width).
        dim_out: Coordinates of embeddings.
        module: What computes features: a module, or "package.module:Class" to be imported and made. Its number of
            features is found by a trial in evaluation mode.
        arguments: For the class, by name.
        projector, mean, std: See `AbstractImageEncoder`.
        channels_last: See there; the module's input alone is moved.
        head: How embeddings end; see `AbstractEncoder`.
        generator: Source of the initial values.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dim_out: int,
        module: nn.Module | str,
        *,
        arguments: Mapping[str, Any] | None = None,
        projector: Projector | Sequence[int] | str = "linear",
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        channels_last: bool = False,
        head: AbstractHead | AbstractSpace | str = "sphere",
        generator: torch.Generator,
    ) -> None:
        seed = int(torch.randint(2**63 - 1, (), generator=_checks.generator(generator), device=generator.device))
        if isinstance(module, str):
            made: Any = _made(module, dict(arguments or {}), seed)
        elif arguments:
            raise ValueError("`arguments` are for a class that is made here; `module` is a module already.")
        else:
            made = module
        network: nn.Module = _checks.kind("module", made, nn.Module, 'Pass a module, or "package.module:Class".')
        network = network.to(generator.device)
        super().__init__(
            shape,
            dim_out,
            feature_dim=_feature_dim(network, shape, generator.device),
            projector=projector,
            mean=mean,
            std=std,
            channels_last=channels_last,
            head=head,
            generator=generator,
        )
        self.module = network

    def backbone(self, x: Tensor) -> Tensor:
        return self.module(x)


def _made(name: str, arguments: dict[str, Any], seed: int) -> Any:
    place, _, attribute = name.partition(":")
    if not place or not attribute:
        raise ValueError(f'`module` must be "package.module:Class", got {name!r}.')
    try:
        found = getattr(import_module(place), attribute, None)
    except ModuleNotFoundError as error:
        raise ValueError(f"`module` must be importable, got {name!r}: {error}.") from error
    if not callable(found):
        raise ValueError(f"`module` must name something to call; there is no such `{attribute}` in `{place}`.")
    with torch.random.fork_rng(devices=[]):  # modules are made on the CPU
        torch.default_generator.manual_seed(seed)
        return found(**arguments)


@torch.no_grad()
def _feature_dim(module: nn.Module, shape: Sequence[int], device: torch.device) -> int:
    parameter = next(module.parameters(), None)
    dtype = torch.get_default_dtype() if parameter is None else parameter.dtype
    was_training = module.training
    found = module.eval()(torch.zeros(2, *shape, device=device, dtype=dtype))
    module.train(was_training)
    if not isinstance(found, Tensor) or found.ndim != 2 or len(found) != 2:
        given = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(f"`module` must turn images (n, {', '.join(map(str, shape))}) into rows (n, f), got {given}.")
    return found.shape[1]
