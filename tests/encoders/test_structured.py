import math

import numpy as np
import pytest
import torch

from noumena.encoders import InverseLinear, InversePatches, InverseSpiral
from noumena.mixings import Patches, Spiral
from noumena.spaces import Box, Sphere
from tests.contracts.encoders import EncoderContract
from tests.references.networks import network, on_sphere

ANGLES = [math.pi / 4, math.pi / 3, math.pi / 2, math.pi]


def turn(x: np.ndarray, angle: float) -> np.ndarray:
    """(x_1, x_2) turned counter-clockwise, as a complex number; the height is kept."""
    turned = complex(x[0], x[1]) * np.exp(1j * angle)
    return np.array([turned.real, turned.imag, x[2]])


def turn_back(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    parts = [w * turn(x, -angle)[:2] for w, angle in zip(weights, ANGLES, strict=True)]
    return np.array([*np.sum(parts, axis=0), x[2]])


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum()


class OnTheSphere(EncoderContract):
    def observations(self, n, generator, dtype=torch.float32):
        return Sphere(3).sample_uniform(n, generator, dtype)


class TestInverseLinear(EncoderContract):
    published_parameters = 24

    def make(self, generator):
        return InverseLinear(7, 3, generator=generator)

    def reference(self, state, x):
        return on_sphere(state["linear.weight"] @ x + state["linear.bias"])


class TestInverseLinearWithoutBias(EncoderContract):
    def make(self, generator):
        return InverseLinear(4, 3, bias=False, head=Sphere(3, radius=2.0), generator=generator)

    def reference(self, state, x):
        return on_sphere(state["linear.weight"] @ x, radius=2.0)

    def test_odd(self, generator):
        x = self.observations(50, generator)
        assert torch.equal(self.seeded()(-x), -self.seeded()(x))


class TestInverseSpiral(OnTheSphere):
    published_parameters = 2_369

    def make(self, generator):
        return InverseSpiral(generator=generator)

    def reference(self, state, x):
        (control,) = network(state, "control", x)
        return on_sphere(np.array([*turn(x, -2 * math.pi * control)[:2], control]))


class TestPublishedPatches(OnTheSphere):
    published_parameters = 3_141

    def make(self, generator):
        return InversePatches(variant="published", generator=generator)

    def reference(self, state, x):
        weights = softmax(network(state, "slice", x))
        y = turn_back(x, weights)
        y = turn_back(np.array([-y[2], y[1], y[0]]), weights)
        return on_sphere(np.array([y[0], y[1], np.tanh(network(state, "height", x)[0])]))


class TestSoftPatches(OnTheSphere):
    def make(self, generator):
        return InversePatches(hard=False, temperature=0.25, generator=generator)

    def weights(self, state, name, height):
        return softmax(network(state, name, np.array([abs(height)])) / state["temperature"])

    def reference(self, state, x):
        y = turn_back(x, self.weights(state, "last_slice", x[2]))
        y = np.array([-y[2], y[1], y[0]])
        return on_sphere(turn_back(y, self.weights(state, "first_slice", y[2])))

    def test_odd(self, generator):
        x = self.observations(50, generator)
        assert torch.equal(self.seeded()(-x), -self.seeded()(x))


class TestHardPatches(TestSoftPatches):
    def make(self, generator):
        return InversePatches(generator=generator)

    def weights(self, state, name, height):
        return np.eye(4)[np.argmax(network(state, name, np.array([abs(height)])))]


def set_linear(layer, weight, bias):
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.zero_()
        layer.weight[: len(weight), : len(weight[0])] = torch.tensor(weight)
        layer.bias[: len(bias)] = torch.tensor(bias)


def solved_patches(hard: bool, slices: int = 4) -> InversePatches:
    """Weights of the exact variant that invert the mixing.

    The nearest slice middle m to a height t is where t m - m^2 / 2 is largest: affine in t, and t = |height| passes
    both ReLU layers unchanged in one unit.
    """
    encoder = InversePatches(slices=slices, hard=hard, generator=torch.Generator().manual_seed(0)).double()
    middles = [(i + 0.5) / slices for i in range(slices)]
    for choice in (encoder.last_slice, encoder.first_slice):
        set_linear(choice[0], [[1.0]], [0.0])
        set_linear(choice[2], [[1.0]], [0.0])
        set_linear(choice[4], [[m] for m in middles], [-m * m / 2 for m in middles])
    return encoder


def away_from_borders(n: int, generator: torch.Generator, slices: int = 4, margin: float = 1e-3):
    """Latents whose heights before both turns keep a distance from every slice border, with their observations."""
    z = Sphere(3).sample_uniform(n, generator, torch.float64)
    x = Patches(slices)(z)
    heights = slices * torch.stack([z[:, 2], x[:, 2]]).abs()
    clear = ((heights - heights.round()).abs() > slices * margin).all(dim=0) | (heights.round() == 0).all(dim=0)
    return z[clear], x[clear]


@pytest.mark.parametrize("slices", [1, 4, 5])
def test_exact_patches_hold_the_inverse(generator, slices):
    encoder = solved_patches(hard=True, slices=slices)
    z, x = away_from_borders(20_000, generator, slices)
    assert len(z) > 19_000
    torch.testing.assert_close(encoder(x), z, rtol=0, atol=1e-12)


def test_exact_patches_reach_the_inverse_as_the_mixture_cools(generator):
    encoder = solved_patches(hard=False)
    z, x = away_from_borders(5_000, generator, margin=0.01)
    errors = []
    for temperature in (1.0, 1e-1, 1e-2, 1e-3, 1e-4):
        encoder.anneal_to(temperature)
        errors.append((encoder(x) - z).norm(dim=-1).max().item())
    # A distance of 0.01 to a border is a gap of 0.01 / slices between the logits; exp(-25) is 1.4e-11.
    assert errors == sorted(errors, reverse=True) and errors[0] > 0.5 and errors[-1] < 1e-9


def best_angle_with_shared_weights(z: np.ndarray, x: np.ndarray, steps: int = 24) -> float:
    """How near any mixture that is shared by both turns comes to z, in radians, the height being free in [-1, 1].

    The published encoder can do no better at this point whatever its networks say. Turns of the plane are complex
    numbers and a mixture of them is a point of their hull, which is searched on a grid of weights.
    """
    i, j, k = (a.ravel() for a in np.meshgrid(*[np.arange(steps + 1)] * 3, indexing="ij"))
    inside = i + j + k <= steps
    weights = np.stack([i, j, k, steps - i - j - k])[:, inside] / steps
    mixtures = np.exp(-1j * np.array(ANGLES)) @ weights
    once = mixtures * complex(x[0], x[1])
    twice = mixtures * (-x[2] + 1j * once.imag)
    # Only the height remains: a plane of directions, along which the nearest one to z has a closed form.
    along = (twice.conj() * complex(z[0], z[1])).real
    length = np.abs(twice) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.clip(np.where(along > 0, z[2] * length / along, np.sign(z[2])), -1, 1)
        cosine = (along + height * z[2]) / np.sqrt(length + height**2)
    return float(np.arccos(np.clip(np.nanmax(cosine), -1, 1)))


def test_published_patches_have_no_weights_for_the_inverse(generator):
    z, x = away_from_borders(500, generator)
    angles = np.array([best_angle_with_shared_weights(*pair) for pair in zip(z.numpy(), x.numpy(), strict=True)])
    first, last = ((4 * height.abs()).floor().numpy() for height in (z[:, 2], x[:, 2]))  # a turn keeps the height
    # Where both turns lie in one slice, one sure choice serves both, and the search finds it.
    assert angles[first == last].max() < 1e-6
    assert 0.15 < np.mean(angles > 0.2) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "low", "high"), [("exact", 0.7, 1.0), ("published", 0.0, 0.25)])
def test_which_patches_learn_the_inverse(generator, variant, low, high):
    # Of twenty starts, nineteen of the exact variant got above 0.99 and one stopped at 0.75; all of the published ones
    # stopped below 0.17. The bounds leave room for all of them.
    encoder = InversePatches(variant=variant, generator=torch.Generator().manual_seed(1))
    optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    steps, mixing = 400, Patches()
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        z = Sphere(3).sample_uniform(256, generator)
        optimiser.zero_grad()
        (encoder(mixing(z)) - z).square().sum(-1).mean().backward()
        optimiser.step()
        schedule.step()
    z = Sphere(3).sample_uniform(5_000, generator)
    near = ((encoder(mixing(z)) - z).norm(dim=-1) < 0.1).double().mean().item()
    assert low <= near <= high


@pytest.mark.parametrize("period", [2.0, -0.5])
def test_the_spiral_holds_the_inverse(generator, period):
    encoder = InverseSpiral(period=period, generator=generator).double()
    # c(x) = relu(x_3) - relu(-x_3) = x_3.
    set_linear(encoder.control[0], [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], [0.0])
    set_linear(encoder.control[2], [[1.0, 0.0], [0.0, 1.0]], [0.0])
    set_linear(encoder.control[4], [[1.0, -1.0]], [0.0])
    z = Sphere(3).sample_uniform(1_000, generator, torch.float64)
    torch.testing.assert_close(encoder(Spiral(period)(z)), z, rtol=0, atol=1e-12)


def test_arguments_that_cannot_be_meant(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="`variant` cannot be 'exakt'; did you mean 'exact'"):
        InversePatches(variant="exakt", generator=generator)
    with pytest.raises(ValueError, match="`slices` must be at least 1, got 0"):
        InversePatches(slices=0, generator=generator)
    with pytest.raises(ValueError, match="`temperature` must be positive, got 0.0"):
        InversePatches(temperature=0.0, generator=generator)
    with pytest.raises(ValueError, match="`period` must be finite, got inf"):
        InverseSpiral(period=math.inf, generator=generator)
    with pytest.raises(ValueError, match="`hidden` must be at least 1, got 0"):
        InverseSpiral(hidden=(64, 0), generator=generator)
    with pytest.raises(ValueError, match="must have the 3 coordinates of embeddings; this `BoxHead` has 2"):
        InverseSpiral(head=Box(2), generator=generator)
