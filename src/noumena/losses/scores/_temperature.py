"""A temperature that is fixed or learned."""

import math

import torch
from torch import Tensor, nn

from ... import _checks


class Temperature(nn.Module):
    """A positive number; learned through its logarithm, so that it stays positive.

    Args:
        tau: Its (initial) value.
        learnable: Whether it is a parameter.
    """

    def __init__(self, tau: float, learnable: bool = False) -> None:
        super().__init__()
        # A fixed value stays a plain number: moving or casting the module cannot change the model.
        self._fixed = _checks.positive("tau", tau)
        self.log_tau = None
        if _checks.kind("learnable", learnable, bool):
            self.log_tau = nn.Parameter(torch.tensor(math.log(tau), dtype=torch.get_default_dtype()))

    def forward(self) -> Tensor | float:
        """Its value; carries a gradient when it is trained."""
        return self._fixed if self.log_tau is None else self.log_tau.exp()

    @property
    def value(self) -> float:
        """The number alone."""
        return self._fixed if self.log_tau is None else float(self.log_tau.detach().exp())

    def set(self, tau: float) -> None:
        """Replace a fixed value, for a schedule; one that is trained is the optimiser's to move."""
        if self.log_tau is not None:
            raise ValueError("`tau` must be fixed to be set, and this one is trained; pass `learnable=False`.")
        self._fixed = _checks.positive("tau", tau)
