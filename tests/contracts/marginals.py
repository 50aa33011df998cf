"""Laws of every marginal."""

import math

import numpy as np
import pytest
import torch

from noumena.marginals.base import AbstractMarginal
from tests.statistics import ALARM

DRAWS = 100_000


class MarginalContract:
    """A case gives the law, an independent density, a test of fit and a nearby law which that test must reject."""

    def make(self) -> AbstractMarginal:
        raise NotImplementedError

    def reference_log_prob(self, z: np.ndarray) -> np.ndarray:
        """Log density of the rows of `z` (n, d) in float64, sharing no line with the package."""
        raise NotImplementedError

    def fit_p_value(self, z: np.ndarray) -> float:
        """Conservative p-value of the draws `z` (n, d) under the law, from a reference such as scipy's cdf.

        With several statistics, return the smallest p-value times their number.
        """
        raise NotImplementedError

    def mutant(self) -> AbstractMarginal:
        """A law whose draws `fit_p_value` must reject: a scale off by a few percent, a wrong exponent."""
        raise NotImplementedError

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_draws_lie_in_the_space_and_keep_dtype_and_device(self, generator, dtype):
        marginal = self.make()
        z = marginal.sample(500, generator=generator, dtype=dtype)
        assert z.shape == (500, marginal.space.dim)
        assert z.dtype == dtype and z.device == generator.device
        assert marginal.space.contains(z).all()
        log_prob = marginal.log_prob(z)
        assert log_prob.shape == (500,) and log_prob.dtype == dtype
        assert torch.isfinite(log_prob).all()

    def test_draws_follow_the_generator(self):
        marginal = self.make()
        first = marginal.sample(64, generator=torch.Generator().manual_seed(3))
        again = marginal.sample(64, generator=torch.Generator().manual_seed(3))
        other = marginal.sample(64, generator=torch.Generator().manual_seed(4))
        assert torch.equal(first, again) and not torch.equal(first, other)

    def test_log_prob_equals_the_reference(self, generator):
        marginal = self.make()
        z = marginal.sample(100, generator=generator, dtype=torch.float64)
        if marginal.space.bounded:  # the draws stay where the density is high; these go everywhere
            z = torch.cat([z, marginal.space.sample_uniform(100, generator, torch.float64)])
        expected = torch.from_numpy(np.asarray(self.reference_log_prob(z.numpy())))
        torch.testing.assert_close(marginal.log_prob(z), expected, rtol=1e-10, atol=1e-10)
        # float32 rounds z itself, which the slope of the log density multiplies; 1e-3 leaves room for steep cases.
        torch.testing.assert_close(marginal.log_prob(z.float()), expected.float(), rtol=1e-3, atol=1e-3)

    def test_density_vanishes_outside_of_the_space(self, generator):
        marginal = self.make()
        if marginal.space.bounded:
            z = marginal.sample(8, generator=generator)
            z[3] += 100.0
            assert (marginal.log_prob(z) == -math.inf).tolist() == [row == 3 for row in range(8)]

    def test_density_integrates_to_one(self, generator):
        marginal = self.make()
        if marginal.normalised and marginal.space.bounded:
            z = marginal.space.sample_uniform(DRAWS, generator, torch.float64)
            ratios = (marginal.log_prob(z) + marginal.space.log_volume).exp()
            # Five standard errors; the floor is for a constant density, which has none.
            assert abs(ratios.mean() - 1) < 5 * ratios.std() / DRAWS**0.5 + 1e-9

    def test_draws_fit_the_law_and_the_mutant_is_caught(self, generator):
        draws = self.make().sample(DRAWS, generator=generator, dtype=torch.float64)
        assert self.fit_p_value(draws.numpy()) > ALARM
        wrong = self.mutant().sample(DRAWS, generator=generator, dtype=torch.float64)
        assert self.fit_p_value(wrong.numpy()) < ALARM

    def test_wrong_calls_are_refused(self, generator, unchecked_shapes):
        marginal = self.make()
        dim = marginal.space.dim
        with pytest.raises(ValueError, match="`n` must be at least 1"):
            marginal.sample(0, generator=generator)
        with pytest.raises(TypeError, match="`generator` must be a torch.Generator"):
            marginal.sample(5, generator=None)  # pyright: ignore
        with pytest.raises(ValueError, match=rf"\(n, {dim}\)"):
            marginal.log_prob(torch.zeros(5, dim + 1))
        with pytest.raises(ValueError, match="`z` must be finite"):
            marginal.log_prob(torch.full((5, dim), math.nan))
        with pytest.raises(TypeError, match="`z` must have a floating dtype"):
            marginal.log_prob(torch.zeros(5, dim, dtype=torch.int64))
