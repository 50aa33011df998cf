"""Laws of every encoder."""

import copy
import math
import pickle
import re

import numpy as np
import pytest
import torch

from noumena.encoders import AbstractEncoder


class EncoderContract:
    published_parameters: int | None = None  # of the whole encoder, where a paper's network is meant

    def make(self, generator: torch.Generator) -> AbstractEncoder:
        raise NotImplementedError

    def reference(self, state: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        """The embedding of one observation in evaluation mode, from the values of the state dict."""
        raise NotImplementedError

    def observations(self, n: int, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(n, self.seeded().dim_in, generator=generator, dtype=dtype)

    def seeded(self, seed: int = 7) -> AbstractEncoder:
        return self.make(torch.Generator().manual_seed(seed))

    def used(self, generator: torch.Generator) -> AbstractEncoder:
        """An encoder that has been trained a little: no value is where it started, batch statistics included."""
        encoder = self.seeded().double()
        optimiser = torch.optim.SGD(encoder.parameters(), lr=0.01)
        target = torch.rand(64, encoder.dim_out, generator=generator, dtype=torch.float64)
        for _ in range(3):
            x = self.observations(64, generator, torch.float64)
            optimiser.zero_grad()
            (encoder(x) - target).square().sum(-1).mean().backward()
            optimiser.step()
        return encoder.eval()

    def test_float64_reference(self, generator):
        encoder = self.used(generator)
        x = self.observations(50, generator, torch.float64)
        state = {name: value.numpy() for name, value in encoder.state_dict().items()}
        expected = np.stack([self.reference(state, row) for row in x.numpy()])
        np.testing.assert_allclose(encoder(x).detach().numpy(), expected, rtol=0, atol=1e-10)

    def test_float32_agrees_with_float64(self, generator):
        encoder = self.used(generator)
        x = self.observations(50, generator, torch.float64)
        single = copy.deepcopy(encoder).float()(x.float())
        assert single.dtype == torch.float32
        # Up to nine layers, each rounding sums of up to a thousand terms of order one.
        torch.testing.assert_close(single.double(), encoder(x), rtol=0, atol=2e-4)

    def test_the_generator_decides_the_initial_values(self, generator):
        first, again, other = self.seeded(3), self.seeded(3), self.seeded(4)
        for name, value in first.named_parameters():
            assert torch.equal(value, again.get_parameter(name)), name
        assert any(not torch.equal(value, other.get_parameter(name)) for name, value in first.named_parameters())

    def test_initial_values_do_not_depend_on_the_global_state(self):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            first = self.seeded()
            torch.manual_seed(1)
            again = self.seeded()
        assert all(map(torch.equal, first.parameters(), again.parameters()))

    @pytest.mark.parametrize("training", [True, False])
    def test_embeddings_lie_in_the_space_of_the_head(self, generator, training):
        for encoder in (self.seeded(), self.used(generator)):
            encoder.train(training)
            dtype = next(encoder.parameters()).dtype
            h = encoder(self.observations(200, generator, dtype))
            assert h.shape == (200, encoder.dim_out) and h.dtype == dtype
            assert encoder.space == encoder.head.space and encoder.space.dim == encoder.dim_out
            assert encoder.space.contains(h).all()

    def test_gradients_reach_every_parameter(self, generator):
        encoder = self.seeded()
        h = encoder(self.observations(256, generator))
        (h * torch.randn(h.shape, generator=generator)).sum().backward()
        for name, parameter in encoder.named_parameters():
            assert parameter.grad is not None and parameter.grad.isfinite().all(), name
            assert parameter.grad.abs().max() > 1e-6, name

    def test_gradients_reach_the_observations(self, generator):
        x = self.observations(8, generator).requires_grad_()
        self.seeded()(x).square().mul(torch.arange(1.0, 1.0 + self.seeded().dim_out)).sum().backward()
        assert x.grad is not None and x.grad.isfinite().all() and (x.grad != 0).any(-1).all()

    def test_copies_embed_alike(self, generator):
        encoder, x = self.used(generator), self.observations(20, generator, torch.float64)
        loaded = self.seeded(8).double().eval()
        loaded.load_state_dict(encoder.state_dict())
        for other in (loaded, copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
            assert torch.equal(other(x), encoder(x))
            assert other.space == encoder.space

    def test_in_evaluation_rows_do_not_see_each_other(self, generator):
        encoder, x = self.used(generator), self.observations(40, generator, torch.float64)
        before = copy.deepcopy(encoder.state_dict())
        whole = encoder(x)
        order = torch.randperm(40, generator=generator)
        torch.testing.assert_close(encoder(x[order]), whole[order], rtol=0, atol=1e-12)
        torch.testing.assert_close(encoder(x[:1]), whole[:1], rtol=0, atol=1e-12)
        assert encoder(x[:0]).shape == (0, encoder.dim_out)
        assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())

    def test_wrong_batches_are_refused(self, generator, unchecked_shapes):
        encoder, x = self.seeded(), self.observations(4, generator)
        wanted = re.escape(f"`x` must have the shape (n, {', '.join(map(str, encoder.observation_shape))})")
        with pytest.raises(ValueError, match=rf"{wanted}.*; got \(4, "):
            encoder(torch.cat([x, x], dim=1))
        with pytest.raises(ValueError, match=rf"{wanted}.*; got "):
            encoder(x[0])
        with pytest.raises(TypeError, match="`x` must have the dtype of `encoder`, torch.float32; got torch.float64"):
            encoder(x.double())
        with pytest.raises(TypeError, match="`x` must have a floating dtype, got torch.int64"):
            encoder(x.long())
        with pytest.raises(TypeError, match="`x` must be a torch.Tensor, got `ndarray`"):
            encoder(x.numpy())

    def test_observations_may_come_as_rows(self, generator):
        encoder, x = self.used(generator), self.observations(5, generator, torch.float64)
        assert math.prod(encoder.observation_shape) == encoder.dim_in
        assert torch.equal(encoder(x.reshape(5, *encoder.observation_shape)), encoder(x.reshape(5, encoder.dim_in)))

    def test_a_generator_is_required(self, unchecked_shapes):
        with pytest.raises(TypeError, match="`generator` must be a torch.Generator, got `NoneType`"):
            self.make(None)

    def test_published_number_of_parameters(self):
        if self.published_parameters is not None:
            assert sum(parameter.numel() for parameter in self.seeded().parameters()) == self.published_parameters
