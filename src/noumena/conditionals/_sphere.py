"""What the laws that live on spheres only ask of their space."""

from .. import _checks
from ..spaces import AbstractSpace, Sphere


def require_sphere(law: object, space: AbstractSpace) -> Sphere:
    """`space`, if it is a sphere; ValueError otherwise, as `AbstractConditional.on` promises."""
    _checks.kind("space", space, AbstractSpace, "Pass a space such as `Sphere(3)`.")
    if not isinstance(space, Sphere):
        raise ValueError(f"`{type(law).__name__}` lives on a sphere, got `{space}`; use `Sphere`.")
    return space
