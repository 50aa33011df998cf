"""Injective affine maps."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks, _rng
from .base import AbstractMixing


class InjectiveLinear(AbstractMixing):
    """x = W z + b with W of full column rank, so that no latent is lost.

    The drawn W stacks diag(r), r_j ~ Uniform(0, 1), over independent N(0, 1) entries, and b has entries from
    Uniform(-1/sqrt(dim_in), 1/sqrt(dim_in)) (the generator of "The Loss Is Not Enough", arXiv 2606.04280). For
    dim_out = dim_in that leaves the diagonal alone, which can be close to singular: look at `singular_values`.
    `from_matrix` takes any W of your own. The inverse is by least squares.

    Args:
        dim_in, dim_out: Coordinates of z and of x; dim_out is at least dim_in.
        generator: Draws W, then b.
        bias: Whether b is drawn; without it the map is linear.
        dtype: What W and b are stored in.
    """

    matrix: Tensor
    bias: Tensor

    def __init__(
        self,
        dim_in: int,
        dim_out: int,
        *,
        generator: torch.Generator,
        bias: bool = True,
        dtype: torch.dtype = torch.float64,
    ):
        super().__init__()
        _checks.count("dim_in", dim_in)
        if _checks.count("dim_out", dim_out) < dim_in:
            raise ValueError(f"`dim_out` must be at least `dim_in`, {dim_in}, for an injective map; got {dim_out}.")
        _checks.generator(generator)
        _checks.dtype(dtype)
        diagonal = torch.diag(_rng.uniform((dim_in,), generator, torch.float64))
        below = _rng.normal((dim_out - dim_in, dim_in), generator, torch.float64)
        shift = torch.zeros(dim_out, dtype=torch.float64, device=generator.device)
        if _checks.kind("bias", bias, bool):
            shift = (2 * _rng.uniform((dim_out,), generator, torch.float64) - 1) / dim_in**0.5
        self._store(torch.cat([diagonal, below]).to(dtype), shift.to(dtype))

    @classmethod
    def from_matrix(cls, matrix: Float[Tensor, "x d"], bias: Float[Tensor, " x"] | None = None) -> "InjectiveLinear":
        """The map z -> `matrix` z + `bias` (zero if None); both are copied."""
        matrix = _checks.matrix("matrix", matrix, axes="(x, d)").detach().clone()
        rows, columns = matrix.shape
        if rows < columns:
            raise ValueError(f"`matrix` must have at least as many rows as columns; got {rows} x {columns}.")
        if bias is None:
            bias = matrix.new_zeros(rows)
        _checks.finite("bias", _checks.floating("bias", bias))
        _checks.same_kind("bias", bias, "matrix", matrix)
        if bias.shape != (rows,):
            raise ValueError(f"`bias` must have one entry for each row of `matrix`, {rows}; got {tuple(bias.shape)}.")
        mixing = cls.__new__(cls)
        nn.Module.__init__(mixing)
        mixing._store(matrix, bias.detach().clone())
        return mixing

    @property
    def singular_values(self) -> Float[Tensor, " d"]:
        """Of W, largest first; their ratio is the condition number of the map."""
        return torch.linalg.svdvals(self.matrix)

    def _store(self, matrix: Tensor, bias: Tensor) -> None:
        rank = int(torch.linalg.matrix_rank(matrix))
        if rank < matrix.shape[1]:
            raise ValueError(
                f"`matrix` must have rank {matrix.shape[1]}, its number of columns, for an injective map; got {rank}."
            )
        self.dim_out, self.dim_in = matrix.shape
        self.register_buffer("matrix", matrix)
        self.register_buffer("bias", bias)

    def _forward(self, z: Tensor) -> Tensor:
        return z @ self.matrix.to(z).mT + self.bias.to(z)

    def _inverse(self, x: Tensor) -> Tensor:
        return torch.linalg.lstsq(self.matrix.to(x), (x - self.bias.to(x)).mT).solution.mT
