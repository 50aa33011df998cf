"""From observations to embeddings."""

from abc import ABC

from torch import nn


class AbstractEncoder(nn.Module, ABC):
    """f: (n, dim_in) -> (n, dim_out), trained.

    Initial values are drawn from an explicit generator, so that a seed fixes them whatever the global state.

    Attributes:
        dim_in, dim_out: Coordinates of observations and of embeddings.
    """

    dim_in: int
    dim_out: int
