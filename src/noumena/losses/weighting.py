"""How much each candidate counts in the denominator."""

from dataclasses import dataclass

from .. import _checks


@dataclass(frozen=True)
class Equal:
    """Every candidate counts once."""


@dataclass(frozen=True)
class HardNegatives:
    """Candidates count in proportion to exp(beta * score), with weights that average one (Robinson et al., 2021).

    The denominator is then M * sum_j e^{(1+beta) s_j} / sum_j e^{beta s_j}: candidates close to the anchor count
    more, as if they had been drawn from a harder law.

    Args:
        beta: Hardness, positive; 0 would be `Equal`.
        detach: Treat the weights as constants in the gradient (importance weights) instead of differentiating
            through them, as the code published with that paper does.
    """

    beta: float
    detach: bool = False

    def __post_init__(self) -> None:
        _checks.positive("beta", self.beta)


Weighting = Equal | HardNegatives
