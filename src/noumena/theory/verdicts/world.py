"""What a verdict reads off a world: the law of latents, and how the density of a positive depends on its anchor."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from ... import _checks
from ...conditionals import AbstractConditional, Anisotropic, FixedContent, GeneralizedNormal, VonMisesFisher
from ...marginals import AbstractMarginal, Uniform
from ...marginals import VonMisesFisher as Gathered
from ...mixings import AbstractMixing
from ...spaces import AbstractSpace, Sphere


@runtime_checkable
class Mixed(Protocol):
    """A source of pairs with a known marginal and mixing, such as `Synthetic`, `GroupedSupport` and `Processes`.

    It has a `conditional`, or `conditionals` where there are several processes, and perhaps `negatives`.
    """

    @property
    def marginal(self) -> AbstractMarginal: ...

    @property
    def mixing(self) -> AbstractMixing: ...


@dataclass(frozen=True, eq=False)
class Reading:
    """One process of a world, and what is drawn beside its pairs."""

    source: Any
    marginal: AbstractMarginal
    conditional: AbstractConditional
    mixing: AbstractMixing
    law: "Form"

    @property
    def space(self) -> AbstractSpace:
        return self.marginal.space

    @property
    def uniform(self) -> bool:
        return is_uniform(self.marginal)


def readings(world: Mixed) -> list[Reading]:
    """One for each process, in order."""
    given = getattr(world, "conditionals", None) or [getattr(world, "conditional", None)]
    hint = "Pass a source with known laws: `Synthetic`."
    laws: list[AbstractConditional] = [_checks.kind("conditional", law, AbstractConditional, hint) for law in given]
    space = world.marginal.space
    return [Reading(world, world.marginal, law, world.mixing, form(law, space)) for law in laws]


@dataclass(frozen=True)
class Quadratic:
    """log p(z' | z) = -(z' - z)^T diag(precision) (z' - z) and a term free of z', for unit vectors.

    `exact` is False where draws follow another law than the density, nearly.
    """

    precision: tuple[float, ...]
    exact: bool = True

    @property
    def isotropic(self) -> bool:
        return close(max(self.precision), min(self.precision))

    @property
    def kappa(self) -> float:
        """Of the von Mises-Fisher law with this (mean) precision."""
        return 2 * sum(self.precision) / len(self.precision)


@dataclass(frozen=True)
class Power:
    """log p(z' | z) = -sum_j (|z'_j - z_j| / scale_j)^p and a term free of z'."""

    p: float
    scale: tuple[float, ...]


@dataclass(frozen=True)
class Fixed:
    """The first k coordinates are copied, the others redrawn on their sphere; `exact` as `FixedContent` means it."""

    kappa: float
    fixed: int
    exact: bool


@dataclass(frozen=True)
class Other:
    """No density that a score of this package matches. `rising`: it falls with the angle to the anchor alone."""

    name: str
    rising: bool = False


Form = Quadratic | Power | Fixed | Other


def form(conditional: AbstractConditional, space: AbstractSpace) -> Form:
    """What kind of law of positives it is, in its space."""
    match conditional:
        case VonMisesFisher(kappa=Tensor()):
            return Other("von Mises-Fisher with a concentration for each anchor")
        case VonMisesFisher(kappa=kappa):
            return Quadratic((float(kappa) / 2,) * space.dim)
        case FixedContent(kappa=kappa, fixed=0):
            return Quadratic((float(kappa) / 2,) * space.dim)
        case FixedContent():
            return Fixed(float(conditional.kappa), conditional.fixed, conditional.concentration == "exact")
        case Anisotropic(precision=precision):
            factor = 0.5 if conditional.half else 1.0
            return Quadratic(tuple(factor * float(one) for one in precision), conditional.proposal == "exact")
        case GeneralizedNormal():
            return _generalized_normal(conditional, space)
    return Other(f"`{type(conditional).__name__}`")


def _generalized_normal(law: GeneralizedNormal, space: AbstractSpace) -> Form:
    width = law.scale if law.scale is not None else law.std
    given = [float(one) for one in width] if isinstance(width, list | tuple | Tensor) else [float(width)] * space.dim  # pyright: ignore
    if isinstance(space, Sphere):
        rising = law.p == 2 and close(max(given), min(given))
        return Other(f"a generalised normal law (p = {law.p:g}) projected to the sphere", rising)
    factor = 1.0 if law.scale is not None else 2**0.5
    return Power(float(law.p), tuple(factor * one for one in given))


def is_uniform(marginal: AbstractMarginal) -> bool:
    return isinstance(marginal, Uniform) or (isinstance(marginal, Gathered) and marginal.kappa == 0)


def exchangeable(marginal: AbstractMarginal, law: Form) -> bool:
    """Whether second views are uniform like first ones, and a pair in the other order has the same law."""
    if not is_uniform(marginal):
        return False
    match law:
        case Quadratic():
            return law.isotropic
        case Fixed():
            return True
        case Other():
            return law.rising
    return False


def close(a: float, b: float, tolerance: float = 1e-3) -> bool:
    """Equal but for how many digits a table gives."""
    return abs(a - b) <= tolerance * max(abs(a), abs(b))
