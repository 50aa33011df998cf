import math

import numpy as np
import pytest
import torch

from noumena.mixings import Patches
from tests.contracts.mixings import MixingContract


def _slices_turned(point, slices):
    a, b, c = point
    for i in range(slices):
        if abs(c) <= (i + 1) / slices or i == slices - 1:
            phi = math.pi / (slices - i)
            return math.cos(phi) * a - math.sin(phi) * b, math.sin(phi) * a + math.cos(phi) * b, c


class TestPatches(MixingContract):
    random = False
    slices = 4

    def make(self, seed=0):
        return Patches(self.slices)

    def reference(self, z):
        rows = []
        for point in z:
            a, b, c = _slices_turned(point, self.slices)
            rows.append([min(max(v, -1.0), 1.0) for v in _slices_turned((c, b, -a), self.slices)])
        return np.array(rows)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_the_inverse_holds_on_the_borders(self, generator, dtype):
        mixing = self.make()
        turn = 2 * math.pi * torch.rand(500, generator=generator, dtype=dtype)
        for border in range(self.slices + 1):
            for sign in (1, -1):
                height = torch.full_like(turn, sign * border / self.slices)
                width = (1 - height.square()).clamp(min=0).sqrt()
                z = torch.stack([width * turn.cos(), width * turn.sin(), height], 1)
                torch.testing.assert_close(mixing.inverse(mixing(z)), z, rtol=0, atol=20 * torch.finfo(dtype).eps)


class TestFiveSlices(TestPatches):
    slices = 5


def test_one_slice_is_a_rotation(generator):
    z = torch.randn(50, 3, generator=generator, dtype=torch.float64)
    z = z / z.norm(dim=1, keepdim=True)
    x = Patches(1)(z)
    torch.testing.assert_close(x @ x.mT, z @ z.mT)


def test_it_is_onto_the_sphere(generator):
    z = torch.randn(500, 3, generator=generator, dtype=torch.float64)
    x = z / z.norm(dim=1, keepdim=True)
    torch.testing.assert_close(Patches()(Patches().inverse(x)), x, rtol=0, atol=1e-14)


def test_points_outside_the_ball_are_refused():
    with pytest.raises(ValueError, match="`z` must lie in the unit ball.*row 1 has the norm 1.1"):
        Patches()(torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.1]]))
    with pytest.raises(ValueError, match="`x` must lie in the unit ball"):
        Patches().inverse(torch.ones(1, 3))
    with pytest.raises(ValueError, match="`slices` must be at least 1"):
        Patches(0)
