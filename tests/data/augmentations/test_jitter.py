"""Factors follow their laws, and colours are those that the definitions give, pixel by pixel."""

import colorsys
import itertools
import math

import pytest
import torch

from noumena.data.augmentations import ColorJitter, Grayscale
from tests.contracts.augmentations import AugmentationContract
from tests.statistics import ALARM, fits_counts, uniform_p_value

MANY = 20_000
NAMES = ("brightness", "contrast", "saturation", "hue")


class TestColorJitter(AugmentationContract):
    def make(self):
        return ColorJitter(0.8, 0.8, 0.8, 0.2, probability=0.8)


class TestFixedOrder(AugmentationContract):
    def make(self):
        return ColorJitter(1.5, 0.4, 0.3, 0.5, order="fixed")


class TestGrayscale(AugmentationContract):
    def make(self):
        return Grayscale(0.4)


def reference(image, name, factor):
    """One step, from its definition, in plain loops over (3, h, w)."""
    _, height, width = image.shape
    gray = lambda p: 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]  # noqa: E731
    clamp = lambda v: min(max(v, 0.0), 1.0)  # noqa: E731
    pixels = {(i, j): image[:, i, j].tolist() for i in range(height) for j in range(width)}
    mean = sum(map(gray, pixels.values())) / len(pixels)
    out = torch.empty_like(image)
    for (i, j), p in pixels.items():
        if name == "brightness":
            made = [clamp(v * factor) for v in p]
        elif name == "contrast":
            made = [clamp(mean + factor * (v - mean)) for v in p]
        elif name == "saturation":
            made = [clamp(gray(p) + factor * (v - gray(p))) for v in p]
        else:
            h, s, v = colorsys.rgb_to_hsv(*p)
            made = colorsys.hsv_to_rgb((h + factor) % 1.0, s, v)
        out[:, i, j] = torch.tensor(made, dtype=image.dtype)
    return out


def test_pixels_are_those_of_the_definitions(generator):
    images = torch.rand(30, 3, 4, 5, generator=generator, dtype=torch.float64)
    # Corners of the cube and grey, where two channels or all three are equal.
    images[0, :, 0, :] = torch.tensor([[0, 1, 1, 0, 1.0], [0, 1, 0, 1, 1], [0, 0, 1, 1, 1]], dtype=torch.float64)
    jitter = ColorJitter(0.8, 0.8, 0.8, 0.5, probability=0.9)
    out, drawn = jitter(images, generator)
    for i, image in enumerate(images):
        for step in drawn["jitter_order"][i].tolist():
            image = reference(image, NAMES[step], float(drawn[NAMES[step]][i]))
        torch.testing.assert_close(out[i], image, rtol=0, atol=1e-10)


@pytest.mark.parametrize("strength", [0.4, 1.5])
def test_factors_are_uniform(strength):
    jitter = ColorJitter(strength, strength, strength, min(strength, 0.5))
    drawn = jitter.draw(MANY, (3, 8, 8), torch.Generator().manual_seed(1))
    low = max(0.0, 1 - strength)
    for name in NAMES[:3]:
        assert uniform_p_value((drawn[name] - low) / (1 + strength - low)) > ALARM
    assert uniform_p_value((drawn["hue"] / min(strength, 0.5) + 1) / 2) > ALARM
    assert uniform_p_value((drawn["hue"].abs() / min(strength, 0.5) + 1) / 2) < ALARM  # one direction alone


def test_every_order_is_as_likely():
    drawn = ColorJitter(0.1, 0.1, 0.1, 0.1).draw(MANY, (3, 8, 8), torch.Generator().manual_seed(1))
    code = (drawn["jitter_order"] * torch.tensor([64, 16, 4, 1])).sum(dim=1)
    codes = [a * 64 + b * 16 + c * 4 + d for a, b, c, d in itertools.permutations(range(4))]
    assert fits_counts([int((code == one).sum()) for one in codes], [1 / 24] * 24) > ALARM


def test_left_alone_is_left_alone(generator):
    images = torch.rand(MANY // 10, 3, 3, 3, generator=generator)
    out, drawn = ColorJitter(0.8, 0.8, 0.8, 0.2, probability=0.7)(images, generator)
    left = ~drawn["jittered"]
    assert fits_counts([int(left.sum()), int((~left).sum())], [0.3, 0.7]) > ALARM
    assert torch.equal(out[left], images[left])
    for name, neutral in zip(NAMES, (1, 1, 1, 0), strict=True):
        assert bool((drawn[name][left] == neutral).all()) and bool((drawn[name][~left] != neutral).any())
    assert torch.equal(ColorJitter()(images, generator).images, images)


def test_only_what_has_strength_is_an_effect():
    jitter = ColorJitter(brightness=0.4, hue=0.1)
    assert jitter.effects == ("brightness", "hue") and jitter.without("hue").effects == ("brightness",)


def test_a_full_turn_is_none(generator):
    images = torch.rand(6, 3, 5, 5, generator=generator, dtype=torch.float64)
    jitter = ColorJitter(hue=0.5)
    parameters = jitter.draw(6, (3, 5, 5), generator)
    half = {**parameters, "hue": torch.full((6,), 0.5)}
    twice = jitter.apply(jitter.apply(images, half), half)
    torch.testing.assert_close(twice, images, rtol=0, atol=1e-12)


def test_grey_is_grey(generator):
    images = torch.rand(2000, 3, 3, 3, generator=generator)
    out, drawn = Grayscale(0.2)(images, generator)
    gray = drawn["gray"]
    assert fits_counts([int(gray.sum()), int((~gray).sum())], [0.2, 0.8]) > ALARM
    assert torch.equal(out[~gray], images[~gray])
    assert float((out[gray].amax(dim=1) - out[gray].amin(dim=1)).max()) == 0
    weights = torch.tensor([0.299, 0.587, 0.114])[:, None, None]
    torch.testing.assert_close(out[gray][:, 0], (images[gray] * weights).sum(dim=1))
    # Grey has no saturation and no hue to lose.
    for jitter in (ColorJitter(saturation=0.9), ColorJitter(hue=0.5)):
        torch.testing.assert_close(jitter(out[gray], generator).images, out[gray])


def test_wrong_calls_of_jitter(unchecked_shapes):
    with pytest.raises(ValueError, match="`hue` must lie between 0 and 0.5, got 0.6"):
        ColorJitter(hue=0.6)
    with pytest.raises(ValueError, match="`contrast` must be at least 0"):
        ColorJitter(contrast=-0.1)
    with pytest.raises(ValueError, match="`brightness` must be finite"):
        ColorJitter(math.inf)
