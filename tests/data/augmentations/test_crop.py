"""Boxes lie in the image, follow the published law exactly, and are resized as cutting them out first would."""

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from noumena.data.augmentations import RandomResizedCrop
from tests.contracts.augmentations import AugmentationContract
from tests.statistics import ALARM, fits_counts, uniform_p_value

MANY = 20_000
METHODS = [("bilinear", True), ("bilinear", False), ("bicubic", True), ("bicubic", False)]


class TestRandomResizedCrop(AugmentationContract):
    def make(self):
        return RandomResizedCrop((9, 11))


class TestBicubicCrop(AugmentationContract):
    def make(self):
        return RandomResizedCrop(20, interpolation="bicubic", antialias=False, probability=0.6)


def boxes(crop: RandomResizedCrop, shape, n: int = MANY, seed: int = 3) -> list[np.ndarray]:
    drawn = crop.draw(n, shape, torch.Generator().manual_seed(seed))
    return [drawn[f"crop_{side}"].numpy() for side in ("top", "left", "height", "width")]


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 8, 31), (3, 40, 6)])
def test_boxes_lie_in_the_image(shape):
    top, left, height, width = boxes(RandomResizedCrop(32, scale=(0.01, 1.0), ratio=(0.2, 5.0)), shape)
    assert min(top.min(), left.min()) == 0 and min(height.min(), width.min()) >= 1
    assert (top + height).max() == shape[1] and (left + width).max() == shape[2]


def test_the_area_is_uniform_and_so_is_the_logarithm_of_the_ratio_where_every_box_fits():
    _, _, height, width = boxes(RandomResizedCrop(32, scale=(0.1, 0.5)), (3, 4000, 4000))
    area = (height * width / 4000**2 - 0.1) / 0.4
    ratio = (np.log(width / height) / np.log(4 / 3) + 1) / 2
    assert uniform_p_value(area) > ALARM and uniform_p_value(ratio) > ALARM
    # A side that is drawn uniformly, rather than an area, has to fail.
    side = (np.sqrt(height * width) / 4000 - 0.1**0.5) / (0.5**0.5 - 0.1**0.5)
    assert uniform_p_value(side) < ALARM


def test_sides_have_the_probabilities_of_the_law():
    """By integration over a fine grid: rounding, ten tries and the middle are part of it."""
    n, scale, ratio, side = 2000, (0.08, 1.0), (3 / 4, 4 / 3), 12
    grid = (np.arange(n) + 0.5) / n
    area = (scale[0] + (scale[1] - scale[0]) * grid)[:, None] * side**2
    log = np.log(ratio[0]) + (np.log(ratio[1]) - np.log(ratio[0])) * grid[None, :]
    wide, tall = np.round(np.sqrt(area * np.exp(log))), np.round(np.sqrt(area / np.exp(log)))
    fits = (wide <= side) & (tall <= side)
    cells = np.bincount((tall[fits] * (side + 1) + wide[fits]).astype(int), minlength=(side + 1) ** 2) / n**2
    none = (1 - fits.mean()) ** 10
    cells *= (1 - none) / fits.mean()
    cells[-1] += none
    _, _, height, width = boxes(RandomResizedCrop(8, scale, ratio), (3, side, side))
    found = np.bincount(height * (side + 1) + width, minlength=len(cells))
    assert found[cells == 0].sum() == 0
    assert fits_counts(found[cells > 0], cells[cells > 0]) > ALARM
    mutant = np.bincount(height * (side + 1) + np.maximum(width - 1, 1), minlength=len(cells))
    assert fits_counts(mutant[cells > 0], cells[cells > 0]) < ALARM


def test_boxes_are_placed_uniformly(generator):
    top, left, height, width = boxes(RandomResizedCrop(8), (3, 12, 12))
    noise = torch.rand(2, MANY, generator=generator).numpy()
    assert uniform_p_value((top + noise[0]) / (13 - height)) > ALARM
    assert uniform_p_value((left + noise[1]) / (13 - width)) > ALARM
    # A window that never reaches the border, by one, has to fail.
    assert uniform_p_value((np.minimum(top, np.maximum(11 - height, 0)) + noise[0]) / (13 - height)) < ALARM


def test_if_no_box_fits_the_middle_is_taken():
    top, left, height, width = boxes(RandomResizedCrop(8, scale=(1.0, 1.0), ratio=(0.5, 0.5)), (3, 10, 30), n=5)
    assert (height == 10).all() and (width == 5).all() and (top == 0).all() and (left == 12).all()
    top, left, height, width = boxes(RandomResizedCrop(8, scale=(1.0, 1.0), ratio=(2.0, 2.0)), (3, 30, 10), n=5)
    assert (height == 5).all() and (width == 10).all() and (top == 12).all() and (left == 0).all()


@pytest.mark.parametrize(("method", "antialias"), METHODS)
def test_pixels_are_those_of_the_box_cut_out_and_resized(generator, method, antialias):
    images = torch.rand(60, 3, 25, 19, generator=generator, dtype=torch.float64)
    crop = RandomResizedCrop((8, 13), scale=(0.02, 1.0), interpolation=method, antialias=antialias)
    out, drawn = crop(images, generator)
    for i in range(len(images)):
        top, left, height, width = (int(drawn[name][i]) for name in crop.names)
        part = images[i : i + 1, :, top : top + height, left : left + width]
        expected = interpolate(part, (8, 13), mode=method, antialias=antialias, align_corners=False)
        torch.testing.assert_close(out[i : i + 1], expected.clamp(0, 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("method", "antialias"), METHODS)
def test_the_whole_image_at_its_own_size_is_the_image(generator, method, antialias):
    images = torch.rand(4, 3, 12, 9, generator=generator)
    crop = RandomResizedCrop((12, 9), probability=0.0, interpolation=method, antialias=antialias)
    assert torch.equal(crop(images, generator).images, images)


def test_probability_of_being_cropped():
    _, _, height, _ = boxes(RandomResizedCrop(8, scale=(0.1, 0.4), probability=0.3), (3, 50, 50))
    assert fits_counts([(height < 50).sum(), (height == 50).sum()], [0.3, 0.7]) > ALARM


def test_wrong_calls_of_crop(unchecked_shapes):
    with pytest.raises(ValueError, match="`scale` must be two numbers in ascending order, between 0 and 1"):
        RandomResizedCrop(8, scale=(0.5, 1.5))
    with pytest.raises(ValueError, match="`size` must be one number, or height and width"):
        RandomResizedCrop((8, 8, 8))
    with pytest.raises(ValueError, match="`interpolation` cannot be 'bicubics'; did you mean 'bicubic'"):
        RandomResizedCrop(8, interpolation="bicubics")
    with pytest.raises(ValueError, match="must be positive"):
        RandomResizedCrop(8, ratio=(0.0, 1.0))
