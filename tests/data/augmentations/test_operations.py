"""Flip, blur, erase, solarise, normalise: probabilities, and pixels by their definitions."""

import math

import numpy as np
import pytest
import torch

from noumena.data.augmentations import GaussianBlur, HorizontalFlip, Normalize, RandomErasing, Solarize
from tests.contracts.augmentations import AugmentationContract
from tests.statistics import ALARM, fits_counts, uniform_p_value

MANY = 20_000


class TestHorizontalFlip(AugmentationContract):
    def make(self):
        return HorizontalFlip()


class TestGaussianBlur(AugmentationContract):
    def make(self):
        return GaussianBlur(5)


class TestRandomErasing(AugmentationContract):
    def make(self):
        return RandomErasing(probability=0.7)


class TestSolarize(AugmentationContract):
    def make(self):
        return Solarize()


class TestNormalize(AugmentationContract):
    stays_in_unit_range = False

    def make(self):
        return Normalize(mean=(0.4,), std=(0.2,))


@pytest.mark.parametrize(
    ("operation", "flag", "probability"),
    [
        (HorizontalFlip(0.3), "flipped", 0.3),
        (GaussianBlur(3, sigma=(0.5, 2.0), probability=0.6), "blurred", 0.6),
        (RandomErasing(probability=0.4), "erased", 0.4),
        (Solarize(probability=0.9), "solarised", 0.9),
    ],
)
def test_an_image_is_changed_with_its_probability_or_left_alone(operation, flag, probability, generator):
    images = torch.rand(MANY // 10, 3, 12, 12, generator=generator)
    out, drawn = operation(images, generator)
    did = drawn[flag]
    assert fits_counts([int(did.sum()), int((~did).sum())], [probability, 1 - probability]) > ALARM
    assert torch.equal(out[~did], images[~did])
    assert bool((out[did] != images[did]).flatten(1).any(dim=1).all())


def test_a_flip_is_a_mirror(generator):
    images = torch.rand(3, 1, 4, 5, generator=generator)
    out = HorizontalFlip(1.0)(images, generator).images
    assert torch.equal(out, images[..., [4, 3, 2, 1, 0]])


def test_blur_is_a_convolution_with_the_sampled_density(generator):
    images = torch.rand(4, 1, 7, 6, generator=generator, dtype=torch.float64)
    out, drawn = GaussianBlur(5, probability=1.0)(images, generator)
    reflect = lambda i, n: -i if i < 0 else 2 * (n - 1) - i if i >= n else i  # noqa: E731
    for image, sigma, found in zip(images[:, 0], drawn["blur_sigma"].tolist(), out[:, 0], strict=True):
        weight = [math.exp(-(k**2) / (2 * sigma**2)) for k in range(-2, 3)]
        for i in range(7):
            for j in range(6):
                expected = (
                    sum(
                        weight[a + 2] * weight[b + 2] * float(image[reflect(i + a, 7), reflect(j + b, 6)])
                        for a in range(-2, 3)
                        for b in range(-2, 3)
                    )
                    / sum(weight) ** 2
                )
                assert float(found[i, j]) == pytest.approx(expected, abs=1e-12)


def test_sigma_is_uniform():
    drawn = GaussianBlur(3, sigma=(0.1, 2.0), probability=1.0).draw(MANY, (3, 8, 8), torch.Generator().manual_seed(2))
    assert uniform_p_value((drawn["blur_sigma"] - 0.1) / 1.9) > ALARM
    assert uniform_p_value((drawn["blur_sigma"] ** 2 - 0.01) / 3.99) < ALARM  # a uniform variance is another law


def test_erased_boxes_lie_in_the_image_and_are_painted(generator):
    images = torch.rand(300, 3, 10, 14, generator=generator) + 0.01
    out, drawn = RandomErasing(probability=0.8)(images, generator)
    for i in range(len(images)):
        top, left, height, width = (int(drawn[f"erase_{side}"][i]) for side in ("top", "left", "height", "width"))
        assert 0 <= top and top + height <= 10 and 0 <= left and left + width <= 14
        expected = images[i].clone()
        expected[:, top : top + height, left : left + width] = 0
        assert torch.equal(out[i], expected) and bool(drawn["erased"][i]) == (height * width > 0)


def test_erased_areas_follow_their_law():
    erasing = RandomErasing(probability=1.0, scale=(0.02, 0.1))
    drawn = erasing.draw(MANY, (3, 3000, 3000), torch.Generator().manual_seed(1))
    height, width = drawn["erase_height"].numpy(), drawn["erase_width"].numpy()
    assert uniform_p_value((height * width / 3000**2 - 0.02) / 0.08) > ALARM
    assert uniform_p_value((np.log(height / width) - np.log(0.3)) / np.log(3.3 / 0.3)) > ALARM
    assert uniform_p_value((height / width - 0.3) / 3.0) < ALARM  # a uniform ratio is another law


def test_a_box_as_large_as_the_image_is_never_erased(generator):
    drawn = RandomErasing(scale=(1.0, 1.0), ratio=(1.0, 1.0), probability=1.0).draw(9, (3, 8, 8), generator)
    assert not bool(drawn["erased"].any()) and int(drawn["erase_height"].max()) == 0


def test_bright_values_are_inverted(generator):
    images = torch.tensor([0.0, 0.4, 0.5, 0.9]).view(1, 1, 2, 2)
    out = Solarize(threshold=0.5, probability=1.0)(images, generator).images
    torch.testing.assert_close(out.flatten(), torch.tensor([0.0, 0.4, 0.5, 0.1]))


def test_channels_are_normalised_each_by_its_own(generator):
    images = torch.rand(2, 3, 4, 4, generator=generator, dtype=torch.float64)
    out = Normalize((0.1, 0.2, 0.3), (1.0, 2.0, 3.0))(images, generator).images
    torch.testing.assert_close(out[:, 2], (images[:, 2] - 0.3) / 3)


def test_wrong_calls_of_operations(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="`kernel_size` must be odd"):
        GaussianBlur(4)
    with pytest.raises(ValueError, match="`kernel_size` must be less than 16 for images of 8 x 9"):
        GaussianBlur(17).draw(2, (3, 8, 9), generator)
    with pytest.raises(ValueError, match="`std` must be positive"):
        Normalize((0.1,), (0.0,))
    with pytest.raises(ValueError, match="one value for each of the 3 channels"):
        Normalize((0.1, 0.2), (1.0, 1.0))(torch.zeros(1, 3, 2, 2), generator)
    with pytest.raises(ValueError, match="`probability` must lie between 0 and 1"):
        HorizontalFlip(1.5)
