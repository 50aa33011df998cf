"""How an encoder ends: which space its embeddings are in."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks
from ..spaces import AbstractSpace, Box, Euclidean, Product, Sphere


class AbstractHead(nn.Module, ABC):
    """The last map of an encoder, (n, dim) -> points of `space`.

    Attributes:
        dim: Coordinates; None until an encoder or the constructor fixes them.
        odd: Whether head(-y) = -head(y), so that an odd body makes an odd encoder.
    """

    dim: int | None
    odd: bool = False

    def of_dim(self, dim: int) -> "AbstractHead":
        """This head, of `dim` coordinates; raises ValueError if it has others."""
        if self.dim is not None and self.dim != dim:
            raise ValueError(
                f"`head` must have the {dim} coordinates of embeddings; this `{type(self).__name__}` has {self.dim}."
            )
        self.dim = dim
        return self

    @property
    def known_dim(self) -> int:
        if self.dim is None:
            raise ValueError(
                f"`{type(self).__name__}` has no `dim` yet; pass it, or hand the head to an encoder first."
            )
        return self.dim

    @property
    @abstractmethod
    def space(self) -> AbstractSpace:
        """Where the embeddings lie at the current values of radius or bounds."""

    @property
    def space_learns(self) -> bool:
        """Whether `space` moves in training."""
        return any(parameter.requires_grad for parameter in self.parameters())

    def forward(self, y: Float[Tensor, "n d"]) -> Float[Tensor, "n e"]:
        return self._forward(_checks.rows("y", y, self.dim))

    @abstractmethod
    def _forward(self, y: Tensor) -> Tensor: ...


class Free(AbstractHead):
    """No restriction: embeddings are the output of the body, anywhere in R^dim."""

    odd = True

    def __init__(self, *, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else _checks.count("dim", dim)

    @property
    def space(self) -> Euclidean:
        return Euclidean(self.known_dim)

    def _forward(self, y: Tensor) -> Tensor:
        return y


class SphereHead(AbstractHead):
    """h = radius * y / ||y||.

    No epsilon stands in the norm: rows are divided by their largest entry first, so that none under- or overflows,
    and what comes out has the radius to the last digits however short y was. A zero row has no direction and raises
    ValueError, in training and in evaluation; an encoder meets one at x = 0 if it is odd or free of biases, and
    elsewhere only if its last layer has died. NaN passes through as NaN.

    Args:
        radius: Distance from the origin, positive; the first value if learned.
        learnable: Whether the radius is trained. What is stored then is a raw value, and the radius is its absolute
            value: it cannot turn negative, and steps are those of an unconstrained radius while it is positive.
        dim: Coordinates; an encoder fills them in.
    """

    odd = True
    raw_radius: Tensor

    def __init__(self, radius: float = 1.0, learnable: bool = False, *, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else _checks.count("dim", dim)
        _store(self, "raw_radius", torch.tensor(_checks.positive("radius", radius)), learnable)

    @property
    def radius(self) -> Float[Tensor, ""]:
        return self.raw_radius.abs()

    def set_radius(self, radius: float) -> None:
        """Replace the radius in place, for a schedule or a restart."""
        with torch.no_grad():
            self.raw_radius.fill_(_checks.positive("radius", radius))

    @property
    def space(self) -> Sphere:
        return Sphere(self.known_dim, radius=self.radius.item())

    def _forward(self, y: Tensor) -> Tensor:
        # The direction does not depend on this scale, so that detaching it leaves the gradient exact.
        scale = y.detach().abs().amax(dim=-1, keepdim=True)
        zero = scale.squeeze(-1) == 0
        if bool(zero.any()):
            raise ValueError(
                f"`y` must not be zero before a sphere: it has no direction there; {int(zero.sum())} of {len(y)} rows "
                f"are, the first is row {int(zero.nonzero()[0])}. Drop observations at the origin, or use biases."
            )
        y = y / scale
        return y * (self.radius / torch.linalg.vector_norm(y, dim=-1, keepdim=True))


class BoxHead(AbstractHead):
    """h_j = low_j + sigmoid(y_j) b_j: a soft clip to (low_j, low_j + b_j).

    With `low=0` and learned bounds that start at 1 this is the box of Zimmermann et al. (2021) as released; the
    text calls it an L-infinity normalisation. To match a loss at temperature 1 the bounds must grow well beyond
    1, to 14 or more there, and Adam moves them by about its rate in each step: give them time, a higher rate, or
    start them near that value.

    Args:
        dim: Coordinates.
        bound: Width b of the interval, positive: one number, or one for each coordinate. The first value if learned.
        learnable: Whether the bounds are trained, one for each coordinate. What is stored then is a raw value, and
            the bound is its absolute value: it cannot turn negative, and steps are the published ones while it is
            positive.
        low: Lower ends: one number, or one for each coordinate; fixed.
    """

    raw_bound: Tensor
    low: Tensor

    def __init__(
        self,
        dim: int,
        bound: float | Sequence[float] = 1.0,
        learnable: bool = True,
        low: float | Sequence[float] = 0.0,
    ) -> None:
        super().__init__()
        self.dim = _checks.count("dim", dim)
        _store(self, "raw_bound", self._widths(bound), learnable)
        self.register_buffer("low", torch.tensor(_per_coordinate("low", low, dim)))

    @property
    def bound(self) -> Float[Tensor, " d"]:
        return self.raw_bound.abs()

    def set_bound(self, bound: float | Sequence[float]) -> None:
        """Replace the bounds in place, for a schedule or a restart."""
        with torch.no_grad():
            self.raw_bound.copy_(self._widths(bound))

    def _widths(self, bound: float | Sequence[float]) -> Tensor:
        return torch.tensor([_checks.positive("bound", b) for b in _per_coordinate("bound", bound, self.known_dim)])

    @property
    def space(self) -> Box:
        return Box(self.known_dim, low=self.low.tolist(), high=(self.low + self.bound).tolist())

    def _forward(self, y: Tensor) -> Tensor:
        return self.low + torch.sigmoid(y) * self.bound


class ProductHead(AbstractHead):
    """Heads side by side: the first coordinates go to the first head, and so on, into the product of their spaces.

    Args:
        heads: The factors' heads, at least one, each with its `dim`.
    """

    def __init__(self, heads: Sequence[AbstractHead]) -> None:
        super().__init__()
        heads = _checks.sequence("heads", heads)
        if not heads:
            raise ValueError("`heads` must name at least one head, got none.")
        for head in heads:
            _checks.kind("heads", head, AbstractHead, "Pass heads such as `SphereHead(dim=3)`.")
        self.heads = nn.ModuleList(heads)
        self.dims = [head.known_dim for head in heads]
        self.dim = sum(self.dims)
        self.odd = all(head.odd for head in heads)

    @property
    def space(self) -> Product:
        return Product([head.space for head in self.heads])  # pyright: ignore[reportArgumentType]

    def _forward(self, y: Tensor) -> Tensor:
        parts = torch.split(y, self.dims, dim=-1)
        return torch.cat([head(part) for head, part in zip(self.heads, parts, strict=True)], dim=-1)


class GaussianHead(AbstractHead):
    """A normal law for each observation: means and log-variances in training, the means alone in evaluation.

    The encoder of a variational autoencoder (`VAE`, `SlowVAE`): its loss needs both, and whoever measures it wants the
    means. The body gives the means first, then as many log-variances.

    Args:
        dim: Entries of what the body gives, an even number; half of them are coordinates in evaluation.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = _checks.count("dim", dim)
        if dim % 2:
            raise ValueError(f"`dim` must be even, for as many means as log-variances; got {dim}.")

    @property
    def space(self) -> Euclidean:
        """Of the means."""
        return Euclidean(self.known_dim // 2)

    def _forward(self, y: Tensor) -> Tensor:
        return y if self.training else y[:, : self.known_dim // 2]


class Turned(AbstractHead):
    """Another head behind a trained rotation: h = head(y R), R = exp(A) with A skew-symmetric.

    The last layer can make every such map by itself; what this one changes is how fast it is found. A loss that
    leaves rotations free but for a small preference, as AnInfoNCE does where two precisions are nearly equal, says
    little about each of the layer's many weights. The d (d - 1) / 2 angles hear nothing else, and can be given a rate
    of their own (`rates = { head = 2.0 }` of an optimiser). R starts at the identity. Under a
    loss that no rotation changes it is of no use, and the angles wander.

    Args:
        head: How embeddings end behind the rotation, and where they lie.
    """

    angles: nn.Parameter

    def __init__(self, head: AbstractHead) -> None:
        super().__init__()
        self.head = _checks.kind("head", head, AbstractHead, "Pass one such as `SphereHead()`.")
        self.odd = head.odd
        self.dim = None
        if head.dim is not None:
            self.of_dim(head.dim)

    def of_dim(self, dim: int) -> "Turned":
        super().of_dim(dim)
        self.head.of_dim(dim)
        if not hasattr(self, "angles"):
            self.angles = nn.Parameter(torch.zeros(dim * (dim - 1) // 2))
        return self

    @property
    def space(self) -> AbstractSpace:
        return self.head.space

    @property
    def space_learns(self) -> bool:
        return self.head.space_learns  # the angles move embeddings within it

    @property
    def rotation(self) -> Float[Tensor, "d d"]:
        """R; it carries a gradient."""
        d = self.known_dim
        above = torch.triu_indices(d, d, offset=1, device=self.angles.device)
        skew = self.angles.new_zeros(d, d).index_put((above[0], above[1]), self.angles)
        return torch.linalg.matrix_exp(skew - skew.mT)

    def _forward(self, y: Tensor) -> Tensor:
        return self.head(y @ self.rotation.to(y.dtype))


def make_head(head: AbstractHead | AbstractSpace | str, dim: int) -> AbstractHead:
    """The head of `dim` coordinates that `head` means: itself, one that ends in a space, or one by name."""
    if isinstance(head, str):
        name = _checks.choice("head", head, ("free", "sphere", "box", "gaussian"))
        if name in ("box", "gaussian"):
            head = BoxHead(dim) if name == "box" else GaussianHead(dim)
        else:
            head = SphereHead() if name == "sphere" else Free()
    elif isinstance(head, AbstractSpace):
        head = _ending_in(head)
    _checks.kind("head", head, AbstractHead, 'Pass a head, a space, or one of "free", "sphere", "box" and "gaussian".')
    return head.of_dim(dim)


def _ending_in(space: AbstractSpace) -> AbstractHead:
    match space:
        case Sphere():
            return SphereHead(space.radius, dim=space.dim)
        case Box():
            low, high = space.bounds(torch.empty((), dtype=torch.float64))
            return BoxHead(space.dim, (high - low).tolist(), learnable=False, low=low.tolist())
        case Euclidean():
            return Free(dim=space.dim)
        case Product():
            return ProductHead([_ending_in(factor) for factor in space.factors])
        case _:
            raise ValueError(f"`head` cannot end in {space}; pass a subclass of `AbstractHead` that does.")


def _per_coordinate(name: str, value: float | Sequence[float], dim: int) -> list[float]:
    values = list(value) if isinstance(value, Sequence) else [value] * dim
    if len(values) != dim:
        raise ValueError(f"`{name}` must have one value or {dim}, one for each coordinate; got {len(values)}.")
    return [_checks.number(name, one) for one in values]


def _store(module: nn.Module, name: str, value: Tensor, learnable: bool) -> None:
    """Under one name either way, so that a state dict fits a head whether or not it learns."""
    if _checks.kind("learnable", learnable, bool):
        module.register_parameter(name, nn.Parameter(value))
    else:
        module.register_buffer(name, value)
