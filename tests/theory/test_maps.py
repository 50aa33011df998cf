"""The explicit maps: what each keeps, loses and leaves invariant."""

import re

import pytest
import torch

from noumena.conditionals import FixedContent
from noumena.spaces import Sphere
from noumena.theory import FibreRotation, Fold, Forget, Shrink

MAPS = [Shrink(2, 0.4), Shrink(1, 3.0), FibreRotation(1, 5.0), FibreRotation(2, -1.0), Fold(2), Forget(1)]


def points(dim: int = 5, radius: float = 1.0) -> torch.Tensor:
    return Sphere(dim, radius).sample_uniform(200, torch.Generator().manual_seed(3), torch.float64)


@pytest.mark.parametrize("h", MAPS)
@pytest.mark.parametrize("radius", [1.0, 2.5])
def test_a_map_stays_on_the_sphere_of_its_latents(h, radius):
    z = points(radius=radius)
    torch.testing.assert_close(h(z).norm(dim=1), z.norm(dim=1))


def test_shrinking_is_undone_by_stretching():
    z = points()
    torch.testing.assert_close(Shrink(2, 1 / 0.3)(Shrink(2, 0.3)(z)), z)
    torch.testing.assert_close(Shrink(2)(z), z)
    ratio = Shrink(2, 0.3)(z)[:, 2:] / z[:, 2:] / (Shrink(2, 0.3)(z)[:, :1] / z[:, :1])
    torch.testing.assert_close(ratio, torch.full_like(ratio, 0.3))


def test_a_rotation_of_fibres_is_undone_by_its_opposite_and_keeps_angles_within_a_fibre():
    z = points()
    h = FibreRotation(1, 2.0)
    torch.testing.assert_close(FibreRotation(1, -2.0)(h(z)), z)
    z_pos = FixedContent(3.0, 1).sample(z, generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close((h(z) * h(z_pos)).sum(1), (z * z_pos).sum(1))
    assert not torch.allclose(h(z) @ h(z).T, z @ z.T, atol=0.1)


def test_a_fold_loses_signs_alone():
    z = points()
    mirrored = torch.cat([-z[:, :2], z[:, 2:]], dim=1)
    torch.testing.assert_close(Fold(2)(mirrored), Fold(2)(z))
    torch.testing.assert_close(Fold(2)(z).abs(), torch.cat([z[:, :2].abs(), z[:, 2:].abs()], dim=1))


def test_forgetting_leaves_the_direction_of_what_varies():
    z = points()
    assert not Forget(1)(z)[:, 0].any()
    torch.testing.assert_close(Forget(1)(z)[:, 1:], z[:, 1:] / z[:, 1:].norm(dim=1, keepdim=True))
    pole = torch.tensor([[1.0, 0.0, 0.0]])
    assert torch.isfinite(Forget(1)(pole)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Shrink(1, 0.0), "`factor` must be positive, got 0.0."),
        (lambda: Fold(0), "`fixed` must be at least 1, got 0."),
        (lambda: Fold(3)(points(3)), "`z` must have more than the 3 fixed coordinates"),
        (lambda: FibreRotation(2)(points(3)), "`z` must have two coordinates that vary, to be turned; got 1."),
    ],
)
def test_wrong_calls(unchecked_shapes, call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
