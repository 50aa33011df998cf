import numpy as np
import pytest
import torch

from noumena.encoders import MLP, BoxHead, ProductHead, SphereHead
from noumena.spaces import Box, Euclidean, Product, Sphere
from tests.contracts.encoders import EncoderContract
from tests.references.networks import in_box, network, on_sphere


class TestSphere(EncoderContract):
    def make(self, generator):
        return MLP(4, 3, [20, 30], generator=generator)

    def reference(self, state, x):
        return on_sphere(network(state, "layers", x, slope=0.01))


class TestPublishedBox(EncoderContract):
    def make(self, generator):
        return MLP(4, 3, [20, 30], head="box", generator=generator)

    def reference(self, state, x):
        return in_box(network(state, "layers", x, slope=0.01), state["head.raw_bound"])


class TestBatchNorm(EncoderContract):
    def make(self, generator):
        return MLP(3, 3, [32, 16], activation="relu", norm="batch", generator=generator)

    def reference(self, state, x):
        return on_sphere(network(state, "layers", x))


class TestSmallFree(EncoderContract):
    def make(self, generator):
        return MLP.small(5, 2, width=16, head="free", generator=generator)

    def reference(self, state, x):
        return network(state, "layers", x, slope=0.2)


class TestWithoutBias(EncoderContract):
    def make(self, generator):
        return MLP(5, 2, [16], bias=False, head=Sphere(2, radius=3.0), generator=generator)

    def reference(self, state, x):
        return on_sphere(network(state, "layers", x, slope=0.01), radius=3.0)


class TestFourierProduct(EncoderContract):
    def make(self, generator):
        head = ProductHead([SphereHead(2.0, learnable=True, dim=2), BoxHead(2, bound=(1.0, 4.0), low=-0.5)])
        return MLP(3, 4, [16, 16], head=head, fourier_octaves=2, generator=generator)

    def reference(self, state, x):
        seen = np.concatenate([x, np.sin(np.pi * x), np.cos(np.pi * x), np.sin(2 * np.pi * x), np.cos(2 * np.pi * x)])
        y = network(state, "layers", seen, slope=0.01)
        box = in_box(y[2:], state["head.heads.1.raw_bound"], low=-0.5)
        return np.concatenate([on_sphere(y[:2], state["head.heads.0.raw_radius"]), box])


class TestOdd(EncoderContract):
    def make(self, generator):
        return MLP.small(3, 3, width=16, fourier_octaves=1, odd=True, generator=generator)

    def reference(self, state, x):
        def whole(x):
            return network(state, "layers", np.concatenate([x, np.sin(np.pi * x), np.cos(np.pi * x)]), slope=0.2)

        return on_sphere((whole(x) - whole(-x)) / 2)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_odd_to_the_last_bit(self, generator, dtype):
        encoder = self.seeded().to(dtype)
        x = self.observations(333, generator, dtype)
        assert torch.equal(encoder(-x), -encoder(x))


class TestWhitened(EncoderContract):
    def make(self, generator):
        return MLP(4, 3, [20, 30], whiten=True, generator=generator)

    def observations(self, n, generator, dtype=torch.float32):
        x = torch.randn(n, 4, generator=generator, dtype=dtype)
        return x @ torch.tensor([[5.0, 4, 0, 0], [0, 1, 0, 0], [0, 0, 0.2, 0], [0, 0, 3, 1]], dtype=dtype) + 2

    def reference(self, state, x):
        seen = state["whitening.matrix"] @ (x - state["whitening.mean"])
        return on_sphere(network(state, "layers", seen, slope=0.01))


class TestAffine(EncoderContract):
    def make(self, generator):
        return MLP(4, 2, [], head=Product([Sphere(1), Euclidean(1)]), generator=generator)

    def observations(self, n, generator, dtype=torch.float32):
        return torch.randn(n, 4, generator=generator, dtype=dtype)

    def reference(self, state, x):
        y = network(state, "layers", x)
        return np.array([np.sign(y[0]), y[1]])

    def test_gradients_reach_every_parameter(self, generator):
        """The two points of a sphere in one dimension have no slope: that row of the weights rests."""
        encoder = self.seeded()
        encoder(self.observations(50, generator))[:, 1].sum().backward()
        assert all(parameter.grad[1].abs().max() > 1e-6 for parameter in encoder.parameters())


def parameters(encoder):
    return sum(parameter.numel() for parameter in encoder.parameters())


def test_published_numbers_of_parameters(generator):
    assert parameters(MLP.zimmermann(10, generator=generator)) == 854_210
    assert parameters(MLP(10, 10, generator=generator)) == 854_210
    assert parameters(MLP.zimmermann(10, head="box", generator=generator)) == 854_210 + 10
    assert parameters(MLP.loss_is_not_enough(generator=generator)) == 200_451
    assert parameters(MLP.loss_is_not_enough(7, generator=generator)) == 200_963
    assert parameters(MLP.loss_is_not_enough_progressive(generator=generator)) == 2_318_058


def test_normalisation_comes_after_the_activation(generator):
    kinds = [type(layer).__name__ for layer in MLP.loss_is_not_enough(generator=generator).layers]
    assert kinds == ["Linear", "ReLU", "BatchNorm1d"] * 5 + ["Linear"]


def test_the_callers_widths_are_left_alone(generator):
    widths = [8, 8]
    MLP(3, 2, widths, generator=generator)
    assert widths == [8, 8]


def test_an_odd_network_has_no_direction_at_the_origin(generator):
    encoder = MLP.small(3, 3, odd=True, generator=generator)
    with pytest.raises(ValueError, match="1 of 2 rows are, the first is row 1"):
        encoder(torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))


def test_autocast_decides_the_dtypes(generator):
    encoder = MLP.small(3, 3, generator=generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        h = encoder(torch.randn(4, 3, generator=generator, dtype=torch.bfloat16))
    assert h.isfinite().all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dim_in": 0}, ValueError, "`dim_in` must be at least 1, got 0"),
        ({"widths": [8, 0]}, ValueError, "`widths` must be at least 1, got 0"),
        ({"activation": "leaky_rely"}, ValueError, "`activation` cannot be 'leaky_rely'; did you mean 'leaky_relu'"),
        ({"slope": -0.1}, ValueError, "`slope` must be at least 0, got -0.1"),
        ({"init": "hee"}, ValueError, "`init` cannot be 'hee'; did you mean 'he'"),
        ({"norm": "layer"}, ValueError, "`norm` cannot be 'layer'; choose one of 'batch'"),
        ({"fourier_octaves": -1}, ValueError, "`fourier_octaves` must be at least 0"),
        ({"head": "spheer"}, ValueError, "`head` cannot be 'spheer'; did you mean 'sphere'"),
        ({"head": Box(3)}, ValueError, "`head` must have the 2 coordinates of embeddings; this `BoxHead` has 3"),
        ({"head": 1.0}, TypeError, "`head` must be a `AbstractHead`, got `float`. Pass a head, a space"),
        ({"odd": True, "head": "box"}, ValueError, "`odd` needs a head with head.-y. = -head.y., got `BoxHead`"),
        ({"odd": True, "norm": "batch"}, ValueError, "`norm` must be None in an odd network, got 'batch'"),
    ],
)
def test_arguments_that_cannot_be_meant(generator, unchecked_shapes, arguments, error, message):
    with pytest.raises(error, match=message):
        MLP(**({"dim_in": 3, "dim_out": 2, "widths": [8]} | arguments), generator=generator)
