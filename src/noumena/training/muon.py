"""Orthogonalised momentum, for the hidden weight matrices of a network."""

from collections import defaultdict
from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

# Of Jordan et al. (2024): s -> a s + b s^3 + c s^5, whose slope at 0 is as large as it can be while five steps keep
# singular values near 1. They end within [0.68, 1.14], not at 1: as a direction of descent that is as good.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def newton_schulz(matrices: Float[Tensor, "*k rows cols"], steps: int = 5) -> Float[Tensor, "*k rows cols"]:
    """U V^T of every matrix U S V^T, nearly: its singular values pulled towards 1 by matrix products alone.

    Five steps carry a singular value of 1 % of the Frobenius norm, or more, into [0.68, 1.14]; much smaller ones stay
    below. Rounding is that of the dtype, and half precision is widened to float32. A zero matrix stays zero.
    """
    a, b, c = COEFFICIENTS
    x = matrices.float() if matrices.dtype in (torch.float16, torch.bfloat16) else matrices
    norm = torch.linalg.matrix_norm(x, keepdim=True)
    x = x / torch.where(norm == 0, torch.ones_like(norm), norm)
    wide = x.shape[-2] > x.shape[-1]
    x = x.mT if wide else x  # the products below are of the shorter side
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if wide else x).to(matrices.dtype)


class OrthogonalisedMomentum(torch.optim.Optimizer):
    """Steps of one size in every direction of a weight matrix: W <- W - lr sqrt(max(1, rows / cols)) O(m).

    O is `newton_schulz` and m the momentum, m <- momentum m + gradient, with Nesterov's look ahead
    gradient + momentum m (Jordan et al., 2024). Convolutions are taken as matrices of (out, everything else).
    torch's own Muon asks for torch 2.9, takes matrices alone, and works in bfloat16.

    Args:
        params: Weights with two axes or more.
        lr: Rate. An entry moves by about lr / sqrt(cols) in a step, whatever the gradient's size.
        momentum: At least 0, below 1.
        weight_decay: Each step multiplies weights by 1 - lr * weight_decay first, apart from the gradient.
    """

    def __init__(self, params: Iterable, lr: float, momentum: float = 0.95, weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """One step; the closure of torch's interface is not taken."""
        if closure is not None:
            raise ValueError("`closure` must be None: a step needs one gradient alone.")
        for group in self.param_groups:
            # Matrices of one shape go through the products together: for small networks that is what a step costs.
            alike: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[tuple(parameter.shape)].append(parameter)
            for parameters in alike.values():
                momenta = torch.stack([self._look_ahead(p, group["momentum"]) for p in parameters])
                rows, cols = momenta.shape[1:]
                scale = group["lr"] * max(1.0, rows / cols) ** 0.5
                for parameter, direction in zip(parameters, newton_schulz(momenta), strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.sub_(direction.view_as(parameter), alpha=scale)

    def _look_ahead(self, parameter: Tensor, momentum: float) -> Tensor:
        assert parameter.grad is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].mul_(momentum).add_(parameter.grad)
        return parameter.grad.add(state["momentum"], alpha=momentum).flatten(1)
