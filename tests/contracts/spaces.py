"""Laws of every space."""

import math

import pytest
import torch

from noumena.spaces import AbstractSpace


class SpaceContract:
    def make(self) -> AbstractSpace:
        raise NotImplementedError

    def monte_carlo_log_volume(self, generator: torch.Generator) -> float | None:
        """An independent estimate of the log volume; None where the space is unbounded."""
        raise NotImplementedError

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_project_lands_inside_and_is_idempotent(self, generator, dtype):
        space = self.make()
        z = space.project(3 * torch.randn(500, space.dim, generator=generator, dtype=dtype))
        assert z.dtype == dtype
        assert space.contains(z).all()
        torch.testing.assert_close(space.project(z), z)

    def test_uniform_draws_lie_inside_and_follow_the_generator(self):
        space = self.make()
        if not space.bounded:
            with pytest.raises(ValueError, match="bounded"):
                space.sample_uniform(5, torch.Generator())
            return
        first = space.sample_uniform(200, torch.Generator().manual_seed(3))
        again = space.sample_uniform(200, torch.Generator().manual_seed(3))
        other = space.sample_uniform(200, torch.Generator().manual_seed(4))
        assert space.contains(first).all()
        assert torch.equal(first, again) and not torch.equal(first, other)

    def test_volume(self, generator):
        space = self.make()
        estimate = self.monte_carlo_log_volume(generator)
        if estimate is None:
            assert space.log_volume == math.inf
        else:
            assert space.log_volume == pytest.approx(estimate, abs=0.02)

    def test_points_outside_are_refused_by_row(self, generator, unchecked_shapes):
        space = self.make()
        z = space.project(torch.randn(8, space.dim, generator=generator))
        assert space.require("z", z) is z
        z[5] = float("nan")
        with pytest.raises(ValueError, match="`z` must be finite"):
            space.require("z", z)
        with pytest.raises(ValueError, match=rf"\(n, {space.dim}\)"):
            space.require("z", torch.zeros(4, space.dim + 1))
        if space.bounded:
            z[5] = 100.0
            with pytest.raises(ValueError, match="row 5"):
                space.require("z", z)
