"""What the laws that live on spheres only ask of their space."""

from ..spaces import AbstractSpace, Sphere


def require_sphere(law: object, space: AbstractSpace) -> Sphere:
    """`space`, if it is a sphere; ValueError otherwise, as `AbstractConditional.on` promises."""
    if not isinstance(space, Sphere):
        raise ValueError(f"`{type(law).__name__}` lives on a sphere, got `{space}`; use `Sphere`.")
    return space
