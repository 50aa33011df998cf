"""Whether an encoder's class holds an inverse of the mixing. Structured encoders are known by their names."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ...mixings import AbstractMixing, CouplingFlow, Identity, InjectiveLinear, Monomial, Patches, Spiral
from ...spaces import AbstractSpace, Sphere
from .base import Representable

_POINTS = 64
_FLEXIBLE = "use `MLP`"


def representable(encoder: nn.Module, mixing: AbstractMixing, space: AbstractSpace) -> Representable:
    """Whether some member of the encoder's class is the inverse of `mixing` up to a linear map."""
    for cls in type(encoder).__mro__:
        if cls.__name__ in _STRUCTURED:
            return _STRUCTURED[cls.__name__](encoder, mixing, space)
    layers = [layer for layer in encoder.modules() if isinstance(layer, nn.Linear)]
    if not any(True for _ in encoder.parameters()):
        flat = isinstance(mixing, Identity | InjectiveLinear)
        told = "nothing is trained: embeddings are the observations"
        return Representable(flat, told, "" if flat else "train an encoder")
    if len(layers) == 1 and getattr(encoder, "fourier_octaves", 0) == 0 and type(encoder).__name__ == "MLP":
        return _linear(encoder, mixing, space)
    if bool(getattr(encoder, "odd", False)) and not _odd_inverse(mixing, space):
        told = f"an odd encoder, but `{type(mixing).__name__}` is not odd: g(-z) is not -g(z)"
        return Representable(False, told, "odd = False")
    if not mixing.smooth:
        told = "the inverse jumps; a continuous network comes near it except about the jumps"
        return Representable(None, told, "use an encoder with the shape of the inverse")
    parity = "an odd network, and the inverse is odd" if getattr(encoder, "odd", False) else "an expressive network"
    return Representable(True, f"{parity}: it comes as near to the inverse as its width allows")


def linear_class(encoder: nn.Module | None) -> bool:
    """Whether embeddings are a linear map without bias, then the head: a class too small to fold or to collapse."""
    if type(encoder).__name__ != "InverseLinear":
        return False
    layer = getattr(encoder, "linear", None)
    return isinstance(layer, nn.Linear) and layer.bias is None


def _linear(encoder: nn.Module, mixing: AbstractMixing, space: AbstractSpace) -> Representable:
    bias = any(name.endswith("bias") for name, _ in encoder.named_parameters())
    name = type(mixing).__name__
    if isinstance(mixing, Identity | Monomial):
        return Representable(True, f"a linear encoder holds the inverse of `{name}`")
    if isinstance(mixing, InjectiveLinear):
        joint = torch.cat([mixing.matrix, mixing.bias[:, None]], dim=1)
        apart = bool(mixing.bias.abs().max() == 0) or int(torch.linalg.matrix_rank(joint)) > mixing.dim_in
        if bias or apart:
            return Representable(True, "a linear encoder holds the inverse of a linear mixing")
        return Representable(False, "without a bias it cannot undo the shift of the mixing", "bias = True")
    return Representable(False, f"a linear encoder cannot invert `{name}`", _FLEXIBLE)


def _spiral(encoder: Any, mixing: AbstractMixing, space: AbstractSpace) -> Representable:
    if isinstance(mixing, Spiral) and mixing.dim_in == 3 and abs(mixing.period) == abs(encoder.period):
        if mixing.period == encoder.period:
            return Representable(True, "the inverse of the spiral, with a control that is its third coordinate")
    if isinstance(mixing, Identity) and encoder.period == 0:
        return Representable(True, "turns by nothing")
    told = f"it turns back a spiral of period {encoder.period:g} and nothing else"
    return Representable(False, told, "give it the period of the mixing, or use `MLP`")


def _patches(encoder: Any, mixing: AbstractMixing, space: AbstractSpace) -> Representable:
    if encoder.variant == "published":
        told = (
            "one network chooses the slices of both turns: it has no weights for the inverse (R² at most .92 in runs)"
        )
        return Representable(False, told, 'variant = "exact"')
    if isinstance(mixing, Patches) and mixing.slices == len(encoder.angles):
        return Representable(True, "the inverse of the patches, slice by slice")
    return Representable(False, f"it undoes patches of {len(encoder.angles)} slices and nothing else", _FLEXIBLE)


_STRUCTURED: dict[str, Callable[[Any, AbstractMixing, AbstractSpace], Representable]] = {
    "InverseLinear": _linear,
    "InverseSpiral": _spiral,
    "InversePatches": _patches,
}


@torch.no_grad()
def _odd_inverse(mixing: AbstractMixing, space: AbstractSpace) -> bool:
    """Whether an odd map can be the inverse on the image of the mixing.

    It can if g is odd, and also if g(z) and -g(z') never meet, as where a bias or an even power sets them apart.
    """
    if isinstance(mixing, Identity | Monomial | Patches):
        return True
    if isinstance(mixing, InjectiveLinear):
        joint = torch.cat([mixing.matrix, mixing.bias[:, None]], dim=1)
        return bool(mixing.bias.abs().max() == 0) or int(torch.linalg.matrix_rank(joint)) > mixing.dim_in
    if not isinstance(space, Sphere) or isinstance(mixing, CouplingFlow):
        return False
    z = _spread(space)
    return bool(torch.allclose(mixing(-z), -mixing(z), atol=1e-8))


def _spread(space: Sphere) -> Tensor:
    return space.sample_uniform(_POINTS, torch.Generator().manual_seed(0), torch.float64)
