"""Beside kornia: the same laws of crops and factors, and the same pixels at the same parameters."""

import math

import pytest
import torch
from scipy import stats

from noumena.data.augmentations import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    HorizontalFlip,
    RandomErasing,
    RandomResizedCrop,
    Solarize,
)
from tests.statistics import ALARM

kornia = pytest.importorskip("kornia")
MANY = 8000


@pytest.fixture
def images(generator):
    return torch.rand(24, 3, 20, 16, generator=generator, dtype=torch.float64)


def drawn_by_kornia(augmentation, n: int, shape) -> dict[str, torch.Tensor]:
    """kornia draws from torch's global generator, which is given back as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        return augmentation.forward_parameters((n, *shape))


@pytest.mark.parametrize(("scale", "ratio"), [((0.08, 1.0), (3 / 4, 4 / 3)), ((0.2, 0.6), (0.4, 1.5))])
def test_crops_have_kornias_areas_ratios_and_places(scale, ratio):
    shape = (3, 32, 32)
    theirs = drawn_by_kornia(kornia.augmentation.RandomResizedCrop((32, 32), scale=scale, ratio=ratio), MANY, shape)
    corners = theirs["src"]
    left, top = corners[:, 0, 0], corners[:, 0, 1]
    width, height = corners[:, 2, 0] - left + 1, corners[:, 2, 1] - top + 1
    ours = RandomResizedCrop(32, scale, ratio).draw(MANY, shape, torch.Generator().manual_seed(1))
    our_width, our_height = ours["crop_width"], ours["crop_height"]
    for one, other in (
        (our_width * our_height, width * height),
        (our_width / our_height, width / height),
        (ours["crop_left"], left),
        (ours["crop_top"], top),
    ):
        assert stats.ks_2samp(one.double().numpy(), other.double().numpy()).pvalue > ALARM
    # A window off by one has to fail.
    off = stats.ks_2samp(((our_width - 1) * our_height).numpy(), (width * height).numpy())
    assert off.pvalue < 1e-3


def test_factors_have_kornias_laws():
    shape = (3, 32, 32)
    theirs = drawn_by_kornia(kornia.augmentation.ColorJitter(0.8, 0.4, 0.6, 0.2, p=1.0), MANY, shape)
    ours = ColorJitter(0.8, 0.4, 0.6, 0.2).draw(MANY, shape, torch.Generator().manual_seed(1))
    for name in ("brightness", "contrast", "saturation", "hue"):
        assert stats.ks_2samp(ours[name].numpy(), theirs[f"{name}_factor"].numpy()).pvalue > ALARM
    assert stats.ks_2samp(ours["brightness"].numpy(), theirs["contrast_factor"].numpy()).pvalue < ALARM


def test_pixels_of_a_crop(images, generator):
    crop = RandomResizedCrop((9, 11), scale=(0.1, 1.0), antialias=False)
    out, drawn = crop(images, generator)
    for i in range(len(images)):
        top, left, height, width = (int(drawn[name][i]) for name in crop.names)
        part = images[i : i + 1, :, top : top + height, left : left + width]
        expected = kornia.geometry.resize(part, (9, 11), interpolation="bilinear", align_corners=False)
        torch.testing.assert_close(out[i : i + 1], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("brightness", lambda k, x, f: k.enhance.adjust_brightness_accumulative(x, f)),
        ("contrast", lambda k, x, f: k.enhance.adjust_contrast_with_mean_subtraction(x, f)),
        ("saturation", lambda k, x, f: k.enhance.adjust_saturation_with_gray_subtraction(x, f)),
        ("hue", lambda k, x, f: k.enhance.adjust_hue(x, f * 2 * math.pi)),
    ],
)
def test_pixels_of_the_jitter(images, generator, name, theirs):
    out, drawn = ColorJitter(**{name: 0.5})(images, generator)
    factor = drawn[name].double()
    # kornia's hue adds 1e-8 to the saturation's denominator.
    torch.testing.assert_close(out, theirs(kornia, images, factor), rtol=0, atol=1e-7)


def test_kornias_bare_contrast_and_saturation_are_something_else(images, generator):
    """The reason to compare with the forms that subtract: these would disagree."""
    for name in ("contrast", "saturation"):
        out, drawn = ColorJitter(**{name: 0.5})(images, generator)
        bare = getattr(kornia.enhance, f"adjust_{name}")(images, drawn[name].double())
        assert float((out - bare).abs().max()) > 0.01


def test_pixels_of_the_others(images, generator):
    everywhere = generator
    blurred, drawn = GaussianBlur(5, probability=1.0)(images, everywhere)
    sigma = drawn["blur_sigma"].double()[:, None].expand(-1, 2)
    torch.testing.assert_close(blurred, kornia.filters.gaussian_blur2d(images, (5, 5), sigma), rtol=0, atol=1e-10)
    gray = Grayscale(1.0)(images, everywhere).images
    torch.testing.assert_close(gray[:, :1], kornia.color.rgb_to_grayscale(images), rtol=0, atol=1e-10)
    flipped = HorizontalFlip(1.0)(images, everywhere).images
    assert torch.equal(flipped, kornia.geometry.hflip(images))
    solarised = Solarize(threshold=0.5, probability=1.0)(images, everywhere).images
    torch.testing.assert_close(solarised, kornia.enhance.solarize(images, 0.5), rtol=0, atol=1e-10)


def test_pixels_of_an_erased_box(images, generator):
    erasing = RandomErasing(probability=1.0)
    out, drawn = erasing(images, generator)
    theirs = kornia.augmentation.RandomErasing(p=1.0)
    given = {
        "ys": drawn["erase_top"],
        "xs": drawn["erase_left"],
        "heights": drawn["erase_height"],
        "widths": drawn["erase_width"],
        "values": torch.zeros(len(images)),
    }
    expected = theirs.apply_transform(images, {name: one.double() for name, one in given.items()}, {})
    torch.testing.assert_close(out, expected, rtol=0, atol=0)
