import numpy as np
import pytest
import torch

from noumena.encoders import ConvNet
from tests.contracts.encoders import EncoderContract
from tests.references.images import convolution, linear, relu


class TestConvNet(EncoderContract):
    def make(self, generator):
        return ConvNet((2, 9, 12), 3, [3, 4], 5, generator=generator)

    def observations(self, n, generator, dtype=torch.float32):
        return torch.rand(n, 216, generator=generator, dtype=dtype)

    def reference(self, state, x):
        x = x.reshape(2, 9, 12)
        for place, (stride, padding) in {0: (2, 1), 2: (2, 1), 4: (1, 0)}.items():
            weight, bias = state[f"layers.{place}.weight"], state[f"layers.{place}.bias"]
            x = relu(convolution(x, weight, bias, stride, padding))
        assert x.shape == (5, 1, 1)
        return linear(state, "projector.0", x.ravel())


def test_the_published_network(generator):
    encoder = ConvNet((1, 64, 64), 10, generator=generator)
    # 32 (16 + 1), 32 (16 32 + 1), 64 (16 32 + 1), 64 (16 64 + 1), 256 (16 64 + 1), 10 (256 + 1), by hand.
    assert sum(p.numel() for p in encoder.parameters()) == 544 + 16_416 + 32_832 + 65_600 + 262_400 + 2_570
    biases = [p for name, p in encoder.named_parameters() if name.endswith("bias")]
    assert len(biases) == 6 and not any(bias.any() for bias in biases)
    weight = encoder.layers[8].weight.detach()
    assert float(weight.std()) == pytest.approx(np.sqrt(2 / (64 * 16)), rel=0.02)  # of 262 144 draws


def test_too_many_halvings_are_refused(generator):
    with pytest.raises(ValueError, match="`widths` must halve images of 8 x 8 at most until a pixel is left"):
        ConvNet((1, 8, 8), 3, [2] * 4, generator=generator)
