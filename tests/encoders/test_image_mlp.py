import pytest

from noumena.encoders import ImageMLP
from tests.contracts.encoders import EncoderContract
from tests.references.images import batch_norm, gelu, linear
from tests.references.networks import on_sphere


class TestImageMLP(EncoderContract):
    def make(self, generator):
        return ImageMLP((2, 3, 3), 3, [8, 6], generator=generator)

    def reference(self, state, x):
        for place in (1, 5):
            x = gelu(batch_norm(state, f"layers.{place + 1}", linear(state, f"layers.{place}", x)))
        return on_sphere(linear(state, "projector.0", x))

    def test_gradients_reach_every_parameter(self, generator):
        """Batch statistics cancel the biases before them: those have no slope in training."""
        encoder = self.seeded()
        encoder(self.observations(256, generator)).sum().backward()
        for name, parameter in encoder.named_parameters():
            assert parameter.grad.abs().max() > 1e-6 or name in ("layers.1.bias", "layers.5.bias"), name


def test_published_number_of_parameters(generator):
    assert sum(p.numel() for p in ImageMLP((3, 32, 32), 512, generator=generator).parameters()) == 15_747_584


def test_without_hidden_layers_there_are_no_features(generator):
    with pytest.raises(ValueError, match="`widths` must name at least one hidden layer"):
        ImageMLP((1, 3, 3), 3, [], generator=generator)
