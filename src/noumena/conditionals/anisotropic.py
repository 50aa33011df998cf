"""The anisotropic conditional on the unit sphere."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from .. import _checks, _rng
from ..spaces import AbstractSpace, Sphere
from . import _projected_gaussian
from ._rejection import first_accepted
from ._sphere import require_sphere
from .base import AbstractConditional

_SHELL_ROUNDS = 500  # each with at least one proposal for every anchor still waiting


@dataclass(frozen=True, eq=False)
class Anisotropic(AbstractConditional):
    """Positives that vary unevenly: p(z' | z) proportional to exp(-(z' - z)^T diag(precision) (z' - z)).

    The law of AnInfoNCE (Rusak et al., 2024, eq. 2), with respect to the surface of the unit sphere: coordinates of
    high precision are nearly kept (content), those of low precision are nearly redrawn (style). Equal precisions L
    give the von Mises-Fisher law with kappa = 2 L. Its normaliser depends on the anchor and is left out.

    The formula of the paper has no factor one half, its published code has: there the quoted precisions are inverse
    variances. `half=True` is the code's convention; precision L with it is L / 2 without.

    Args:
        precision: One positive number for each coordinate.
        space: The unit sphere of that dimension; no other space is possible.
        proposal: "exact" draws from the density. "shell" is the published draw: a Gaussian step about the anchor,
            repeated until its norm is within `shell` of one, and projected. It tends to the density as the shell
            gets thin; `log_prob` stays that of the formula.
        shell: Half the thickness of the shell, positive. Unused by "exact".
        half: Whether the factor one half stands in front of the quadratic form.
    """

    precision: Sequence[float] | Tensor
    space: AbstractSpace | None = None
    proposal: Literal["exact", "shell"] = "exact"
    shell: float = 0.1
    half: bool = False
    normalised = False

    def __post_init__(self) -> None:
        values = self.precision
        if isinstance(values, Tensor) and values.ndim != 1:
            raise ValueError(f"`precision` must have the shape (d,), one per coordinate; got {tuple(values.shape)}.")
        values = values.tolist() if isinstance(values, Tensor) else _checks.sequence("precision", values)
        object.__setattr__(self, "precision", tuple(_checks.positive("precision", value) for value in values))
        if not self.precision:
            raise ValueError("`precision` must have one number for each coordinate, got none.")
        _checks.choice("proposal", self.proposal, ("exact", "shell"))
        _checks.positive("shell", self.shell)
        _checks.kind("half", self.half, bool)
        if self.space is not None:
            sphere = require_sphere(self, self.space)
            if sphere.radius != 1:
                raise ValueError(f"`space` must have radius 1, got {sphere.radius!r}: precisions are for unit vectors.")
            if sphere.dim != len(self.precision):
                raise ValueError(
                    f"`precision` must have {sphere.dim} numbers, one for each coordinate of `{sphere}`; "
                    f"got {len(self.precision)}."
                )

    def natural_space(self, dim: int) -> Sphere:
        return Sphere(len(self.precision))

    def _sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        if self.proposal == "exact":
            return _projected_gaussian.sample(z, self._diagonal(z), generator)
        return self._sample_shell(z, generator)

    def _sample_shell(self, z: Tensor, generator: torch.Generator) -> Tensor:
        deviation = (2 * self._diagonal(z)).rsqrt()

        def propose(row: Tensor) -> tuple[Tensor, Tensor]:
            y = z[row] + deviation * _rng.normal((len(row), z.shape[1]), generator, z.dtype)
            norm = y.norm(dim=1)
            return y / norm[:, None], (norm - 1).abs() < self.shell

        drawn, waiting = first_accepted(z, propose, _SHELL_ROUNDS)
        if len(waiting):
            raise ValueError(
                f"`shell` must be thick enough to be met; at {self.shell!r} no proposal came within it for "
                f"{len(waiting)} of {len(z)} anchors in {_SHELL_ROUNDS} rounds. Widen it, or use proposal='exact'."
            )
        return drawn

    def _log_prob(self, z_pos: Tensor, z: Tensor) -> Tensor:
        log_prob = -(self._diagonal(z) * (z_pos - z).square()).sum(1)
        return log_prob.masked_fill(~self.space_of(z).contains(z_pos), -math.inf)

    def _diagonal(self, z: Tensor) -> Tensor:
        """The matrix of the quadratic form, with the factor one half if there is one."""
        return z.new_tensor(self.precision) * (0.5 if self.half else 1.0)
