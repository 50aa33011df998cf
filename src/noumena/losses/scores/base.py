"""How alike two embeddings are: a model of log p(h' | h)."""

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from ... import _checks
from ..kernels import AbstractKernel


class AbstractScore(nn.Module, ABC):
    """s(h, h'), larger for more alike. Twin of a conditional: it matches one when s - log p(h' | h) is free of h'.

    A score is a *kernel* (what the streaming path can sum without storing it: an inner product, a squared distance,
    a p-th power distance) applied to *folded* embeddings. Temperature and precision are folded into the embeddings,
    so that autograd supplies their gradients and a new score is a new way to fold.

    Attributes:
        symmetric: Whether s(h, h') = s(h', h).
    """

    symmetric: bool = True

    @property
    @abstractmethod
    def kernel(self) -> AbstractKernel:
        """The sum that is left once the embeddings are folded."""

    @abstractmethod
    def fold(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        """Anchors as the kernel takes them."""

    def fold_candidates(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n k"]:
        """Candidates as the kernel takes them; as anchors, for a symmetric score."""
        return self.fold(h)

    def forward(self, h: Float[Tensor, "n d"], h_pos: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """The score of each pair."""
        _checks.matrix("h", h)
        _checks.matrix("h_pos", h_pos)
        _checks.same_shape("h_pos", h_pos, "h", h)
        _checks.same_kind("h_pos", h_pos, "h", h)
        return self.kernel.pairs(self.fold(h), self.fold_candidates(h_pos))

    def grid(
        self, h: Float[Tensor, "n d"], candidates: Float[Tensor, "m d"] | Float[Tensor, "n m d"]
    ) -> Float[Tensor, "n m"]:
        """The score of every anchor against every candidate, whole: for tests and small batches."""
        n, d = _checks.matrix("h", h).shape
        private = _checks.floating("candidates", candidates).ndim == 3
        if candidates.shape != ((n, *candidates.shape[1:2], d) if private else (*candidates.shape[:1], d)):
            raise ValueError(
                f"`candidates` must have the shape (m, {d}) or ({n}, m, {d}); got {tuple(candidates.shape)}."
            )
        _checks.same_kind("candidates", _checks.finite("candidates", candidates), "h", h)
        return self.kernel.pairs(self.fold(h)[:, None, :], self.fold_candidates(candidates))


def scaled(h: Float[Tensor, "*n d"], factor: Tensor | float) -> Float[Tensor, "*n d"]:
    """`h` times a number, or one for each coordinate, in the dtype of `h`."""
    return h * (factor.to(h.dtype) if isinstance(factor, Tensor) else factor)


def require_dim(h: Tensor, dim: int) -> None:
    """Refuse embeddings that do not have the `dim` coordinates a score holds values for."""
    if h.shape[-1] != dim:
        raise ValueError(f"`h` must have {dim} coordinates, one for each value of the score; got {h.shape[-1]}.")
