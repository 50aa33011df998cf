"""Laws of every mixing."""

import copy
import io
import math
import pickle

import numpy as np
import pytest
import torch

from noumena.mixings import AbstractMixing


class MixingContract:
    random = True  # whether the generator decides anything

    def make(self, seed: int = 0) -> AbstractMixing:
        raise NotImplementedError

    def reference(self, z: np.ndarray) -> np.ndarray:
        """`make()` in plain NumPy, row by row, from the specification; float64."""
        raise NotImplementedError

    def latents(self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """Draws from the domain: the unit sphere unless a case says otherwise."""
        z = torch.randn(n, self.make().dim_in, generator=generator, dtype=dtype)
        return z / z.norm(dim=1, keepdim=True)

    def test_agrees_with_the_reference(self, generator):
        mixing, z = self.make(), self.latents(200, generator)
        expected = torch.as_tensor(self.reference(z.numpy()))
        assert expected.shape == (200, mixing.dim_out)
        torch.testing.assert_close(mixing(z), expected, rtol=1e-10, atol=1e-10)
        if not mixing.differentiable:
            return  # how far rounding z alone moves x is not known
        # Rounding z alone moves x by |J| eps; a few such errors add up along the layers.
        stretch = float(torch.linalg.matrix_norm(mixing.jacobian(z), 2).max())
        tolerance = 50 * torch.finfo(torch.float32).eps * max(stretch, 1.0)
        torch.testing.assert_close(mixing(z.float()), expected.float(), rtol=0, atol=tolerance)

    def test_inverse_returns_the_latents(self, generator):
        mixing, z = self.make(), self.latents(1000, generator)
        if not mixing.invertible:
            with pytest.raises(ValueError, match="has no inverse"):
                mixing.inverse(torch.zeros(1, mixing.dim_out, dtype=z.dtype))
            return
        torch.testing.assert_close(mixing.inverse(mixing(z)), z, rtol=0, atol=1e-9)
        # An error of eps in x is one of |J^-1| eps in z, and x is |J| long: the condition number bounds both.
        condition = float(torch.linalg.cond(mixing.jacobian(z)).max())
        tolerance = 50 * torch.finfo(torch.float32).eps * condition
        single = z.float()
        torch.testing.assert_close(mixing.inverse(mixing(single)), single, rtol=0, atol=tolerance)

    def test_injective_on_a_sample_and_its_reflections(self, generator):
        mixing, z = self.make(), self.latents(60, generator)
        flips = 1 - 2 * torch.eye(mixing.dim_in, dtype=z.dtype)
        z = torch.cat([z, -z, *(z * flip for flip in flips)])
        apart = torch.pdist(z) > 1e-3
        assert float(torch.pdist(mixing(z))[apart].min()) > 1e-5

    def test_frozen_yet_differentiable(self, generator):
        mixing, z = self.make(), self.latents(5, generator)
        assert not list(mixing.parameters())
        assert not any(buffer.requires_grad for buffer in mixing.buffers())
        assert not mixing(z).requires_grad
        if not mixing.differentiable:
            assert not mixing(z.requires_grad_()).requires_grad
            return
        mixing(z.requires_grad_()).square().sum().backward()
        assert z.grad is not None and torch.isfinite(z.grad).all()

    def test_the_seed_decides(self, generator):
        z = self.latents(20, generator)
        first, again, other = self.make(seed=1)(z), self.make(seed=1)(z), self.make(seed=2)(z)
        assert torch.equal(first, again)
        assert torch.equal(first, other) != self.random

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_dtype_and_shape_are_kept(self, generator, dtype):
        mixing = self.make()
        for module in (mixing, copy.deepcopy(mixing).float(), copy.deepcopy(mixing).double()):
            z = self.latents(7, generator, dtype)
            x = module(z)
            assert x.dtype == dtype and x.shape == (7, mixing.dim_out)
            assert mixing.shape_out is None or math.prod(mixing.shape_out) == mixing.dim_out
            if not mixing.invertible:
                continue
            back = module.inverse(x)
            assert back.dtype == dtype and back.shape == z.shape

    def test_rows_do_not_see_each_other(self, generator):
        mixing, z = self.make(), self.latents(9, generator)
        one_by_one = torch.cat([mixing(row) for row in z.split(1)])
        torch.testing.assert_close(one_by_one, mixing(z), rtol=0, atol=1e-12)

    def test_smooth_where_it_says_so(self, generator):
        mixing, (u, v) = self.make(), self.latents(2, generator)
        v = v - (u @ v) / (u @ u) * u
        v = v * (u.norm() / v.norm())

        def largest_step(steps: int) -> float:
            turn = torch.linspace(0, 2 * math.pi, steps, dtype=u.dtype).unsqueeze(1)
            return float(mixing(turn.cos() * u + turn.sin() * v).diff(dim=0).norm(dim=1).max())

        # Eight times finer steps shorten a continuous path's largest step about eightfold, and leave a jump as it is.
        coarse, fine = largest_step(4_000), largest_step(32_000)
        assert mixing.smooth == (fine < coarse / 4)

    def test_jacobian_against_differences(self, generator):
        mixing, z, step = self.make(), self.latents(20, generator) * 0.99, 1e-6
        if not mixing.differentiable:
            with pytest.raises(ValueError, match="has no Jacobian"):
                mixing.jacobian(z)
            return
        jacobian = mixing.jacobian(z)
        for k in range(mixing.dim_in):
            shift = torch.zeros_like(z)
            shift[:, k] = step
            slope = (mixing(z + shift) - mixing(z - shift)) / (2 * step)
            torch.testing.assert_close(jacobian[:, :, k], slope, rtol=1e-6, atol=1e-6)

    def test_a_saved_state_restores_the_map(self, generator):
        mixing, other, z = self.make(seed=3), self.make(seed=4), self.latents(20, generator)
        stored = io.BytesIO()
        torch.save(mixing.state_dict(), stored)
        stored.seek(0)
        other.load_state_dict(torch.load(stored))
        assert torch.equal(other(z), mixing(z))
        # Solvers may round differently from one call to the next, with the alignment of their workspace.
        if not mixing.invertible:
            return
        torch.testing.assert_close(other.inverse(mixing(z)), mixing.inverse(mixing(z)), rtol=0, atol=1e-11)

    def test_copies_and_pickles(self, generator):
        mixing, z = self.make(), self.latents(20, generator)
        for twin in (copy.deepcopy(mixing), pickle.loads(pickle.dumps(mixing))):
            assert torch.equal(twin(z), mixing(z))

    def test_wrong_inputs_are_refused(self, generator, unchecked_shapes):
        mixing, z = self.make(), self.latents(4, generator)
        calls = [(mixing, "z", z), *([(mixing.inverse, "x", mixing(z))] if mixing.invertible else [])]
        for call, name, good in calls:
            with pytest.raises(ValueError, match=rf"`{name}` must have the shape \(n, {good.shape[1]}\)"):
                call(torch.cat([good, good], 1))
            with pytest.raises(ValueError, match=rf"`{name}` must have the shape"):
                call(good[0])
            with pytest.raises(ValueError, match=rf"`{name}` must not be empty"):
                call(good[:0])
            with pytest.raises(TypeError, match=rf"`{name}` must have a floating dtype"):
                call(good.long())
            bad = good.clone()
            bad[2, 0] = float("nan")
            with pytest.raises(ValueError, match=rf"`{name}` must be finite"):
                call(bad)
