"""Optimisers from their description: names and numbers, that a table file can hold."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from .. import _checks
from .muon import OrthogonalisedMomentum

ROLES = ("hidden", "edge", "head", "loss")


def roles(encoder: nn.Module, loss: nn.Module) -> dict[str, list[nn.Parameter]]:
    """What is trained, by the part it plays; every parameter stands under one role.

    - hidden: weights of linear and convolution layers that have such a layer before and after them.
    - edge: the first and the last of these layers, all biases, normalisations, and whatever else the encoder holds.
    - head: the parameters of `encoder.head` (a learned radius or bound).
    - loss: the parameters of the loss (temperature, precision).

    Before and after are meant within a chain: the layers of one outermost `nn.Sequential` in their order, and those
    that stand outside of any, in the order of their registration. So a network with two branches has two first layers.
    """
    hidden = {id(weight) for weight in _hidden_weights(encoder)}
    in_head = {id(parameter) for parameter in _head(encoder).parameters()}
    found: dict[str, dict[int, nn.Parameter]] = {role: {} for role in ROLES}
    for parameter in encoder.parameters():
        role = "head" if id(parameter) in in_head else "hidden" if id(parameter) in hidden else "edge"
        found[role][id(parameter)] = parameter
    taken = {key for members in found.values() for key in members}
    found["loss"] = {id(p): p for p in loss.parameters() if id(p) not in taken}
    return {role: [p for p in members.values() if p.requires_grad] for role, members in found.items()}


def _head(encoder: nn.Module) -> nn.Module:
    head = getattr(encoder, "head", None)
    return head if isinstance(head, nn.Module) else nn.Module()


def _hidden_weights(encoder: nn.Module) -> list[nn.Parameter]:
    chains, loose, inside = list[list[nn.Parameter]](), list[nn.Parameter](), set[int]()
    head = set(_head(encoder).modules())
    for module in encoder.modules():  # parents come before their children
        if module in head or id(module) in inside:
            continue
        if isinstance(module, nn.Sequential):
            inside |= {id(part) for part in module.modules()}
            chains.append([part.weight for part in module.modules() if _is_layer(part)])  # pyright: ignore[reportArgumentType]
        elif _is_layer(module):
            loose.append(module.weight)  # pyright: ignore[reportArgumentType]
    return [weight for chain in [*chains, loose] for weight in chain[1:-1]]


def _is_layer(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d)


@dataclass(frozen=True)
class AbstractOptimizer(ABC):
    """A description of an optimiser. `lr` is its rate, and `rates` what single roles multiply it with.

    Args:
        lr: Rate, positive.
        rates: Multipliers of the rate by role ("hidden", "edge", "head", "loss"; see `roles`); 1 where not named.
            `{"loss": 4.0}` trains a precision four times as fast.
    """

    lr: float = 1e-3
    rates: Mapping[str, float] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        _checks.positive("lr", self.lr)
        _checks.kind("rates", self.rates, Mapping, "Pass one such as `{'loss': 4.0}`.")
        for role, rate in self.rates.items():
            _checks.choice("rates", role, ROLES)
            _checks.positive(f"rates[{role!r}]", rate)

    def build(self, encoder: nn.Module, loss: nn.Module) -> tuple[torch.optim.Optimizer, ...]:
        """torch's optimisers over the parameters of encoder and loss, a group for each role that has any."""
        return self._build({role: parameters for role, parameters in roles(encoder, loss).items() if parameters})

    @abstractmethod
    def _build(self, parameters: dict[str, list[nn.Parameter]]) -> tuple[torch.optim.Optimizer, ...]: ...

    def _groups(self, parameters: dict[str, list[nn.Parameter]]) -> list[dict[str, Any]]:
        return [{"params": members, "lr": self.lr * self.rates.get(role, 1.0)} for role, members in parameters.items()]


@dataclass(frozen=True)
class AbstractAdam(AbstractOptimizer):
    """What Adam and AdamW share.

    Args:
        betas: Decay of the means of the gradient and of its square.
        eps: Added to the root of the latter.
    """

    betas: Sequence[float] = (0.9, 0.999)
    eps: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "betas", _betas(self.betas))
        _checks.positive("eps", self.eps)


@dataclass(frozen=True)
class Adam(AbstractAdam):
    """Adam (Kingma & Ba, 2015), the optimiser of all three papers. Arguments as in `AbstractAdam`."""

    def _build(self, parameters: dict[str, list[nn.Parameter]]) -> tuple[torch.optim.Optimizer, ...]:
        return (torch.optim.Adam(self._groups(parameters), betas=(self.betas[0], self.betas[1]), eps=self.eps),)


@dataclass(frozen=True)
class AdamW(AbstractAdam):
    """Adam with decay of the weights apart from the gradient (Loshchilov & Hutter, 2019).

    Head and loss are spared: what decays to 0 there is the logarithm of a temperature or the width of a box, and
    neither would be a simpler model for it.

    Args:
        weight_decay: Each step multiplies hidden matrices and edges (see `roles`) by 1 - rate * weight_decay.
    """

    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.at_least("weight_decay", self.weight_decay, 0.0)

    def _build(self, parameters: dict[str, list[nn.Parameter]]) -> tuple[torch.optim.Optimizer, ...]:
        groups = self._groups(parameters)
        for role, group in zip(parameters, groups, strict=True):
            group["weight_decay"] = 0.0 if role in ("head", "loss") else self.weight_decay
        return (torch.optim.AdamW(groups, betas=(self.betas[0], self.betas[1]), eps=self.eps),)


@dataclass(frozen=True)
class SGD(AbstractOptimizer):
    """Stochastic gradient descent.

    Args:
        momentum: At least 0, below 1.
        weight_decay: Coefficient of the squared parameters, added to the gradient.
        nesterov: Whether momentum looks ahead.
    """

    lr: float = 0.1
    momentum: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _decay("momentum", self.momentum)
        _checks.at_least("weight_decay", self.weight_decay, 0.0)
        if _checks.kind("nesterov", self.nesterov, bool) and self.momentum == 0:
            raise ValueError("`nesterov` needs a momentum, got `momentum` 0; pass 0.9, or leave `nesterov` out.")

    def _build(self, parameters: dict[str, list[nn.Parameter]]) -> tuple[torch.optim.Optimizer, ...]:
        options: dict[str, Any] = {
            "momentum": self.momentum,
            "weight_decay": self.weight_decay,
            "nesterov": self.nesterov,
        }
        return (torch.optim.SGD(self._groups(parameters), **options),)


@dataclass(frozen=True)
class Muon(AbstractOptimizer):
    """Orthogonalised momentum on hidden weight matrices, another optimiser on everything else: the fast recipes'.

    Every direction of a hidden matrix moves at one speed, so that those the gradient hardly sees are learned too. An
    encoder without hidden matrices (see `roles`) is trained by `rest` alone.

    Args:
        lr: Rate of the hidden matrices; see `OrthogonalisedMomentum` for its scale, which is not Adam's.
        momentum: At least 0, below 1.
        rest: Trains edges, head and loss, at its own rate and with its own multipliers.
        weight_decay: Each step multiplies hidden matrices by 1 - lr * weight_decay. Where pairs are few, decay of all
            weights is what keeps the encoder from learning them by heart: give `rest` one too, `AdamW`.
    """

    lr: float = 0.15
    momentum: float = 0.95
    rest: AbstractOptimizer = field(default_factory=lambda: Adam(lr=1e-2, betas=(0.9, 0.99)))
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _decay("momentum", self.momentum)
        _checks.at_least("weight_decay", self.weight_decay, 0.0)
        _checks.kind("rest", self.rest, (AbstractAdam, SGD), "Pass one such as `Adam(lr=1e-2)`.")
        if set(self.rates) - {"hidden"}:
            raise ValueError(
                f"`rates` of `Muon` speaks of hidden matrices alone, got {sorted(self.rates)}; "
                "give the others to `rest`."
            )

    def _build(self, parameters: dict[str, list[nn.Parameter]]) -> tuple[torch.optim.Optimizer, ...]:
        rest = {role: members for role, members in parameters.items() if role != "hidden"}
        hidden = self._groups({role: members for role, members in parameters.items() if role == "hidden"})
        matrices = (OrthogonalisedMomentum(hidden, self.lr, self.momentum, self.weight_decay),) if hidden else ()
        return (*matrices, *(self.rest._build(rest) if rest else ()))


def _decay(name: str, value: Any) -> float:
    if not 0 <= _checks.number(name, value) < 1:
        raise ValueError(f"`{name}` must be at least 0 and below 1, got {value!r}.")
    return float(value)


def _betas(value: Any) -> tuple[float, float]:
    betas = tuple(_decay("betas", beta) for beta in _checks.sequence("betas", value))
    if len(betas) != 2:
        raise ValueError(f"`betas` must be two numbers, got {len(betas)}.")
    return betas
