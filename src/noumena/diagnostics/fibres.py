"""What an encoder makes of each fibre, where positives keep part of the latents."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks, _fixed_part
from ..conditionals import AbstractConditional, FixedContent
from ..finding import Curve, Finding
from ..marginals import AbstractMarginal
from .base import AbstractDiagnostic, Subject

NEAR = 0.25  # root mean square distance, in radii; the known maps are about twice that apart in three dimensions
HEIGHTS = tuple(round(0.1 * i, 1) for i in range(-9, 10))  # of the fibres on the curves
MAPS = {"recovered": lambda z, fixed: z, "folded": _fixed_part.fold, "forgot": _fixed_part.forget}


@runtime_checkable
class World(Protocol):
    """What must be known of the source to draw fibres, as `pairs.Synthetic` knows it."""

    @property
    def marginal(self) -> AbstractMarginal: ...

    @property
    def conditional(self) -> AbstractConditional: ...

    @property
    def mixing(self) -> nn.Module: ...


@dataclass(frozen=True)
class FibreRadius(AbstractDiagnostic):
    """Radius of the image of each fibre, and what is left of the fixed coordinates u of z = (u, v).

    R² alone cannot tell an encoder that lays two fibres onto one, (|u|, v), from one that puts all fibres on one great
    circle, (0, v/|v|), nor from one that turns each fibre by an angle of its own: all can score .65 in three
    dimensions. The radius can: |v| for the latents, a fold and turned fibres, 1 for the circle, 0 where v is not
    followed. And the distance of (u, v) from (-u, v) tells the latents from a fold. For worlds with `FixedContent`.

    Numbers, over fibres of the marginal:

    - `fibre_radius_error`: root mean square of the radius less |v|. The radius of a fibre is the root mean square
      distance of its embeddings from their mean.
    - `fibre_r2`: share of v that linear maps of h, one for each fibre, find there. Fitted in sample.
    - `mirror_distance`: mean distance of the embeddings of (u, v) and (-u, v), over that of the latents: 1 for the
      latents, 0 where the signs of u are lost.
    - `recovered`, `folded`, `forgot`: 1 if the embeddings lie within a quarter (root mean square) of the latents, of
      (|u|, v), or of (0, v/|v|), each up to the best orthogonal map; else 0. Means over seeds count runs.

    Curves, along the fibres at heights u_1 (the other fixed coordinates 0): radius, distance of the fibre's centre from
    the origin, and mirror distance without division.

    Args:
        fibres: How many are drawn, and
        points: how many points on each.
    """

    fibres: int = 128
    points: int = 64

    def __post_init__(self) -> None:
        _checks.count("fibres", self.fibres, low=2)
        _checks.count("points", self.points, low=16)

    @property
    def names(self) -> tuple[str, ...]:
        return ("fibre_radius_error", "fibre_r2", "mirror_distance", *MAPS)

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        world = subject.source
        law = world.conditional if isinstance(world, World) else None
        if not isinstance(world, World) or not isinstance(law, FixedContent):
            raise ValueError(
                "`subject` must come from a source whose conditional is `FixedContent`: fibres are where its positives "
                f"can lie; got `{type(world if law is None else law).__name__}`."
            )
        dtype = next((parameter.dtype for parameter in subject.encoder.parameters()), torch.float32)
        anchors = world.marginal.sample(self.fibres, generator=generator, dtype=dtype)
        drawn = self._image(world, law, subject.encoder, anchors, generator)
        return Finding(
            {
                "fibre_radius_error": float((drawn.radius - drawn.true_radius).square().mean().sqrt()),
                "fibre_r2": float(_r2(drawn.v, drawn.h_by_fibre)),
                "mirror_distance": float(drawn.mirrored.mean() / drawn.true_mirrored.mean()),
                **{name: float(_near(drawn.h, known(drawn.z, law.fixed))) for name, known in MAPS.items()},
            },
            self._curves(self._image(world, law, subject.encoder, _at_heights(anchors, law.fixed), generator)),
        )

    def _image(
        self, world: World, law: FixedContent, encoder: nn.Module, anchors: Tensor, generator: torch.Generator
    ) -> "_Image":
        z = law.sample_support(anchors, self.points, generator=generator).reshape(-1, anchors.shape[1])
        mirrored = _fixed_part.mirror(z, law.fixed)
        h, h_mirrored = encoder(world.mixing(z)), encoder(world.mixing(mirrored))
        return _Image(len(anchors), law.fixed, z, h, (h - h_mirrored).norm(dim=1), (z - mirrored).norm(dim=1))

    def _curves(self, image: "_Image") -> dict[str, Curve]:
        lines = {
            "radius of the fibre": image.radius,
            "radius of the fibre, latents": image.true_radius,
            "distance of its centre": image.h_by_fibre.mean(dim=1).norm(dim=1),
            "distance of its mirror image": image.mirrored.view(image.fibres, -1).mean(dim=1),
        }
        return {name: Curve(HEIGHTS, line.tolist(), "u", "distance") for name, line in lines.items()}


@dataclass(frozen=True, eq=False)
class _Image:
    """Points of some fibres and their embeddings, fibre by fibre; distances of either from their mirror images."""

    fibres: int
    fixed: int
    z: Float[Tensor, "n d"]
    h: Float[Tensor, "n e"]
    mirrored: Float[Tensor, " n"]
    true_mirrored: Float[Tensor, " n"]

    @property
    def v(self) -> Tensor:
        """(fibres, points, d - k)."""
        return _fixed_part.split(self.z, self.fixed).v.view(self.fibres, -1, self.z.shape[1] - self.fixed)

    @property
    def h_by_fibre(self) -> Tensor:
        """(fibres, points, e)."""
        return self.h.view(self.fibres, -1, self.h.shape[1])

    @property
    def radius(self) -> Tensor:
        return self.h_by_fibre.var(dim=1).sum(dim=1).sqrt()

    @property
    def true_radius(self) -> Tensor:
        return self.v[:, 0].norm(dim=1)


def _at_heights(like: Tensor, fixed: int) -> Tensor:
    """One point of each fibre of the curves."""
    anchors = like.new_zeros(len(HEIGHTS), like.shape[1])
    anchors[:, 0] = like.new_tensor(HEIGHTS)
    if fixed < like.shape[1]:
        anchors[:, fixed] = (1 - anchors[:, 0].square()).sqrt()
    return anchors * like[0].norm() / anchors.norm(dim=1, keepdim=True)


def _r2(v: Float[Tensor, "f p m"], h: Float[Tensor, "f p e"]) -> Tensor:
    """Share of the variation of v within fibres that is linear in h; `gelsd`, as h may have lost a dimension."""
    v, h = ((part - part.mean(dim=1, keepdim=True)).double() for part in (v, h))
    residual = v - h @ torch.linalg.lstsq(h, v, rcond=1e-6, driver="gelsd").solution
    return 1 - residual.square().sum() / v.square().sum()


def _near(h: Float[Tensor, "n e"], target: Float[Tensor, "n d"]) -> bool:
    """Whether h lies near `target` up to an orthogonal map (Procrustes)."""
    left, _, right = torch.linalg.svd(target.T @ h, full_matrices=False)
    distance = (h - target @ (left @ right)).square().sum(dim=1).mean().sqrt()
    return bool(distance < NEAR * target.norm(dim=1).mean())
