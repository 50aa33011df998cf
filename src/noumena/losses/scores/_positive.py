"""One positive number for each coordinate, fixed or learned."""

from collections.abc import Sequence
from numbers import Real

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ... import _checks


class PositiveVector(nn.Module):
    """Positive numbers, learned as the softplus of free ones (as the code published with AnInfoNCE does).

    Args:
        name: What errors call it.
        values: (Initial) values, one for each coordinate; a single number with `dim`. Fixed ones may be 0.
        dim: Number of coordinates, where `values` is a single number.
        learnable: Whether the vector is a parameter.
    """

    fixed: Tensor

    def __init__(self, name: str, values: float | Sequence[float] | Tensor, dim: int | None, learnable: bool) -> None:
        super().__init__()
        if not isinstance(values, Tensor | Real):
            values = [_checks.number(name, value) for value in _checks.sequence(name, values)]
        numbers = torch.as_tensor(values, dtype=torch.float64).detach()
        if numbers.ndim == 0:
            if dim is None:
                raise ValueError(f"`dim` must be given when `{name}` is a single number.")
            numbers = numbers.expand(_checks.count("dim", dim))
        if numbers.ndim != 1 or len(numbers) == 0 or (dim is not None and len(numbers) != dim):
            wanted = "each coordinate" if dim is None else f"each of {dim} coordinates"
            raise ValueError(f"`{name}` must have one value for {wanted}; got the shape {tuple(numbers.shape)}.")
        _checks.finite(name, numbers)
        lowest = float(numbers.min())
        if lowest < 0 or (learnable and lowest == 0):
            raise ValueError(f"`{name}` must be positive, got {lowest}.")
        self.dim = len(numbers)
        if _checks.kind("learnable", learnable, bool):
            # The inverse of softplus, log(e^x - 1), written so that it does not overflow.
            raw = numbers + torch.log(-torch.expm1(-numbers))
            self.raw = nn.Parameter(raw.to(torch.get_default_dtype()))
        else:
            self.raw = None
            self.register_buffer("fixed", numbers.clone())

    def forward(self) -> Float[Tensor, " d"]:
        """The numbers; they carry a gradient when they are trained."""
        return self.fixed if self.raw is None else nn.functional.softplus(self.raw)
