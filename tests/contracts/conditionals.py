"""Laws of every conditional.

A case gives `make`, `reference_log_prob`, `goodness_of_fit` and `mutant`; the other methods have defaults that suit
a law whose support is all of its space. What is handed to the hooks is float64 NumPy; false-alarm rates are stated
by `ALARM` (one in a million for a fit) or by five standard errors (one in 1.7 million).
"""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from noumena.conditionals.base import AbstractConditional
from noumena.spaces import AbstractSpace
from tests.statistics import ALARM

DTYPES = [torch.float32, torch.float64]


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class ConditionalContract:
    draws = 100_000  # of a goodness of fit; the project promises at least this many
    integration_draws = 200_000  # for each of three anchors

    def make(self) -> tuple[AbstractConditional, AbstractSpace]:
        """The law and the space of its anchors; the law itself may leave its space open."""
        raise NotImplementedError

    def reference_log_prob(self, z_pos: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log density row by row, written apart from the implementation; -inf outside of the support.

        A law that is not `normalised` may differ from this by a term for each anchor.
        """
        raise NotImplementedError

    def goodness_of_fit(self, z_pos: np.ndarray, z: np.ndarray) -> float:
        """p-value that each row of `z_pos` was drawn from the law of `make` given the same row of `z`."""
        raise NotImplementedError

    def mutant(self) -> AbstractConditional:
        """A law so near that only a sound `goodness_of_fit` tells its draws apart."""
        raise NotImplementedError

    def anchors(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        _, space = self.make()
        if space.bounded:
            return space.sample_uniform(n, generator, dtype)
        return space.project(torch.randn(n, space.dim, generator=generator, dtype=dtype))

    def fit_anchors(self, n: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
        """Anchors of the goodness of fit; a case may repeat a single one."""
        return self.anchors(n, generator, dtype)

    def points(self, z: Tensor, generator: torch.Generator) -> Tensor:
        """Where log densities are compared with the reference: draws of the law, and others all over the space."""
        conditional, space = self.make()
        drawn, other = conditional.sample(z, generator=generator), self.anchors(len(z), generator, z.dtype)
        return torch.where((torch.arange(len(z)) % 2 == 0)[:, None], drawn, other)

    def integration_points(self, anchor: Tensor, m: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """`m` points of the support of one anchor (1, d), and the log density that they were drawn with.

        Uniform where the space is bounded; otherwise a Cauchy law about the anchor in each coordinate.
        """
        _, space = self.make()
        if space.bounded:
            return space.sample_uniform(m, generator, anchor.dtype), anchor.new_full((m,), -space.log_volume)
        steps = torch.tan(math.pi * (torch.rand(m, space.dim, generator=generator, dtype=anchor.dtype) - 0.5))
        return anchor + steps, -(math.pi * (1 + steps.square())).log().sum(-1)

    # ------------------------------------------------------------------------------------------------- draws

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_draws_lie_in_the_support_and_keep_shape_and_dtype(self, generator, dtype):
        conditional, space = self.make()
        z = self.anchors(500, generator, dtype)
        z_pos = conditional.sample(z, generator=generator)
        assert z_pos.shape == z.shape and z_pos.dtype == dtype and z_pos.device == z.device
        assert space.contains(z_pos).all()
        assert torch.isfinite(conditional.log_prob(z_pos, z)).all()

    def test_one_row_is_enough(self, generator):
        conditional, space = self.make()
        z = self.anchors(1, generator, torch.float64)
        assert space.contains(conditional.sample(z, generator=generator)).all()

    def test_same_seed_same_draw(self, generator):
        conditional, _ = self.make()
        z = self.anchors(50, generator, torch.float64)
        first, again, other = (conditional.sample(z, generator=_seeded(seed)) for seed in (3, 3, 4))
        assert torch.equal(first, again) and not torch.equal(first, other)

    def test_anchors_are_left_as_they_were(self, generator):
        conditional, _ = self.make()
        z = self.anchors(50, generator, torch.float64)
        before = z.clone()
        z_pos = conditional.sample(z, generator=generator)
        conditional.log_prob(z_pos, z)
        assert torch.equal(z, before) and z_pos.data_ptr() != z.data_ptr()

    def test_placed_in_its_own_space_it_is_the_same_law(self, generator):
        conditional, space = self.make()
        z = self.anchors(50, generator, torch.float64)
        first, placed = (law.sample(z, generator=_seeded(3)) for law in (conditional, conditional.on(space)))
        assert torch.equal(first, placed)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_support_draws(self, generator, dtype):
        conditional, space = self.make()
        z = self.anchors(6, generator, dtype)
        if not space.bounded:
            with pytest.raises(ValueError, match="bounded"):
                conditional.sample_support(z, 7, generator=generator)
            return
        support = conditional.sample_support(z, 7, generator=_seeded(3))
        assert support.shape == (6, 7, space.dim) and support.dtype == dtype
        assert space.contains(support.reshape(42, space.dim)).all()
        assert torch.equal(support, conditional.sample_support(z, 7, generator=_seeded(3)))
        repeated = z.repeat_interleave(7, dim=0)
        assert torch.isfinite(conditional.log_prob(support.reshape(42, space.dim), repeated)).all()

    # ------------------------------------------------------------------------------------------------- densities

    def test_log_prob_is_the_reference(self, generator):
        conditional, _ = self.make()
        anchors, each = self.anchors(12, generator, torch.float64), 20
        z = anchors.repeat_interleave(each, dim=0)
        z_pos = self.points(z, generator)
        ours = conditional.log_prob(z_pos, z).numpy()
        reference = np.asarray(self.reference_log_prob(z_pos.numpy(), z.numpy()), dtype=np.float64)
        assert np.array_equal(np.isfinite(ours), np.isfinite(reference))
        if not conditional.normalised:
            gap = np.where(np.isfinite(ours), ours - np.where(np.isfinite(reference), reference, 0.0), np.nan)
            reference = reference + np.nanmean(gap.reshape(12, each), axis=1).repeat(each)
        np.testing.assert_allclose(ours, reference, rtol=1e-10, atol=1e-10)

    def test_log_prob_keeps_float32(self, generator):
        conditional, _ = self.make()
        z = self.anchors(40, generator, torch.float32)
        ours = conditional.log_prob(conditional.sample(z, generator=generator), z)
        assert ours.dtype == torch.float32 and ours.shape == (40,)

    def test_a_grid_is_its_rows(self, generator):
        conditional, _ = self.make()
        z, z_pos = (self.anchors(n, generator, torch.float64) for n in (5, 5))
        rows = torch.stack([conditional.log_prob(z_pos.roll(-shift, 0), z) for shift in range(5)], dim=1)
        grid = conditional.log_prob_grid(z_pos, z)
        picked = torch.stack([grid[torch.arange(5), (torch.arange(5) + shift) % 5] for shift in range(5)], dim=1)
        torch.testing.assert_close(picked, rows, rtol=1e-9, atol=1e-9)

    def test_log_prob_integrates_to_one(self, generator):
        conditional, _ = self.make()
        if not conditional.normalised:
            return  # declared by the law itself
        for anchor in self.anchors(3, generator, torch.float64).split(1):
            z_pos, log_proposal = self.integration_points(anchor, self.integration_draws, generator)
            weights = (conditional.log_prob(z_pos, anchor.expand_as(z_pos)) - log_proposal).exp()
            error = float(weights.std()) / self.integration_draws**0.5
            assert error < 0.05, "the estimate says nothing; give a milder law or a nearer proposal"
            # Rounding stands beside five standard errors because a constant integrand has none.
            assert float(weights.mean()) == pytest.approx(1.0, abs=5 * error + 1e-9)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_sample_fits(self, dtype):
        conditional, _ = self.make()
        assert self._p_value(conditional, dtype) > ALARM

    def test_the_fit_catches_the_mutant(self):
        assert self._p_value(self.mutant(), torch.float64) < ALARM

    def _p_value(self, conditional: AbstractConditional, dtype: torch.dtype) -> float:
        generator = _seeded(11)
        z = self.fit_anchors(self.draws, generator, dtype)
        z_pos = conditional.sample(z, generator=generator)
        return float(self.goodness_of_fit(z_pos.double().numpy(), z.double().numpy()))

    # ------------------------------------------------------------------------------------------------- refusals

    def test_wrong_calls_are_refused(self, generator, unchecked_shapes):
        law, space = self.make()
        conditional = law.on(space)
        z = self.anchors(8, generator, torch.float32)
        z_pos = conditional.sample(z, generator=generator)
        wide = torch.cat([z, z[:, :1]], dim=1)
        broken = z.clone()
        broken[5] = float("nan")

        with pytest.raises(TypeError, match="`generator`"):
            conditional.sample(z, generator=None)  # pyright: ignore[reportArgumentType]
        with pytest.raises(TypeError, match="`z` must be a torch.Tensor"):
            conditional.sample(z.numpy(), generator=generator)  # pyright: ignore[reportArgumentType]
        with pytest.raises(TypeError, match="`z` must have a floating dtype"):
            conditional.sample(torch.ones(8, space.dim, dtype=torch.int64), generator=generator)
        for call in (
            lambda bad: conditional.sample(bad, generator=generator),
            lambda bad: conditional.log_prob(bad, bad),
        ):
            with pytest.raises(ValueError, match="`z` must have the shape"):
                call(wide)
            with pytest.raises(ValueError, match="`z` must have the shape"):
                call(z[0])
            with pytest.raises(ValueError, match="`z` must be finite"):
                call(broken)
        with pytest.raises(ValueError, match="`z_pos` must have the shape of `z`"):
            conditional.log_prob(z_pos[:-1], z)
        with pytest.raises(TypeError, match="`z_pos` must have the dtype of `z`"):
            conditional.log_prob(z_pos.double(), z)
        with pytest.raises(ValueError, match="`m` must be at least 1"):
            conditional.sample_support(z, 0, generator=generator)
        with pytest.raises(TypeError, match="`generator`"):
            conditional.sample_support(z, 2, generator=None)  # pyright: ignore[reportArgumentType]
        if space.bounded:
            outside = z.clone()
            outside[5] = 100.0
            with pytest.raises(ValueError, match="row 5"):
                conditional.sample(outside, generator=generator)
            with pytest.raises(ValueError, match="row 5"):
                conditional.log_prob(z_pos, outside)
