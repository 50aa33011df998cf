import cmath
import math

import pytest
import torch

from noumena._geometry import angle_between, rotate_plane, slice_index


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rotation_is_multiplication_by_a_unit_complex_number(generator, dtype):
    xy = torch.randn(50, 2, generator=generator, dtype=dtype)
    angle = 10 * torch.randn(50, generator=generator, dtype=dtype)
    turned = rotate_plane(xy, angle)
    assert turned.dtype == dtype
    for (x, y), phi, result in zip(xy.tolist(), angle.tolist(), turned.tolist(), strict=True):
        expected = complex(x, y) * cmath.exp(1j * phi)
        assert complex(*result) == pytest.approx(expected, abs=1e-10 if dtype == torch.float64 else 1e-5)


def test_a_quarter_turn_is_counter_clockwise():
    turned = rotate_plane(torch.tensor([[1.0, 0.0]], dtype=torch.float64), torch.tensor([math.pi / 2]).double())
    torch.testing.assert_close(turned, torch.tensor([[0.0, 1.0]]).double(), atol=1e-7, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("angle", [1e-12, 1e-7, 1e-4, 0.3, 2.0, 3.1, math.pi])
def test_angles_are_resolved_far_below_those_that_acos_can_see(dtype, angle):
    first = torch.tensor([[1.0, 0.0, 0.0]], dtype=dtype)
    second = torch.tensor([[math.cos(angle), math.sin(angle), 0.0]], dtype=dtype)
    measured = angle_between(first, second)
    assert measured.dtype == dtype and measured.shape == (1,)
    assert float(measured) == pytest.approx(angle, rel=4 * torch.finfo(dtype).eps)


def test_acos_would_not_do():
    angle = 1e-4
    second = torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float32)
    assert float(torch.acos(second[0])) == 0  # what angle_between is there to avoid


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_angle_has_a_finite_gradient_at_equal_and_opposite_vectors(sign):
    first = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    angle_between(first, sign * first.detach()).sum().backward()
    assert first.grad is not None and torch.isfinite(first.grad).all()


def test_angle_gradient_against_finite_differences(generator):
    first, second = (torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    first, second = first / first.norm(dim=1, keepdim=True), second / second.norm(dim=1, keepdim=True)
    assert torch.autograd.gradcheck(angle_between, (first.requires_grad_(), second.requires_grad_()))


def test_slices_are_half_open_and_hold_their_upper_border():
    heights = [0.0, 0.1, -0.25, 0.26, 0.5, -0.51, 0.75, 0.76, 1.0, -1.0, 1.0000001]
    for dtype in (torch.float32, torch.float64):
        index = slice_index(torch.tensor(heights, dtype=dtype), 4)
        assert index.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3]


@pytest.mark.parametrize("slices", [1, 3, 5, 7])
def test_borders_keep_their_slice_after_round_off(slices):
    borders = torch.arange(1, slices + 1, dtype=torch.float64) / slices
    for wobble in (1 - 4e-16, 1.0, 1 + 4e-16):
        assert slice_index(borders * wobble, slices).tolist() == list(range(slices))
