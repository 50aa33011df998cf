"""Compositions do one thing after another, and the recipes are the published ones."""

import pytest
import torch

from noumena.data.augmentations import (
    ColorJitter,
    Compose,
    CropAndFlip,
    GaussianBlur,
    Grayscale,
    HorizontalFlip,
    LossIsNotEnough,
    RandomErasing,
    RandomResizedCrop,
    Shuffled,
    SimCLR,
    VICReg,
)
from tests.contracts.augmentations import AugmentationContract
from tests.statistics import ALARM, fits_counts


class TestCompose(AugmentationContract):
    def make(self):
        return Compose([RandomResizedCrop(12), HorizontalFlip(), GaussianBlur(3)])


class TestShuffled(AugmentationContract):
    def make(self):
        operations = [Grayscale(), RandomErasing(), RandomResizedCrop(8)]
        return Shuffled(operations, generator=torch.Generator().manual_seed(2))


class TestSimCLR(AugmentationContract):
    def make(self):
        return SimCLR(32)


class TestVICReg(AugmentationContract):
    stays_in_unit_range = False

    def make(self):
        return VICReg(2, 30)

    def test_grey_images_of_one_channel(self):
        with pytest.raises(ValueError, match="`mean` must have one value for each of the 1 channels"):
            super().test_grey_images_of_one_channel()


class TestCropAndFlip(AugmentationContract):
    def make(self):
        return CropAndFlip(14)


class TestLossIsNotEnough(AugmentationContract):
    def make(self):
        return LossIsNotEnough("all", generator=torch.Generator().manual_seed(0))


def kinds(augmentation) -> list[str]:
    return [type(one).__name__ for one in augmentation.operations]


def test_a_composition_is_its_operations_in_turn(generator):
    images = torch.rand(20, 3, 16, 16, generator=generator)
    composed = Compose([RandomResizedCrop(12), Grayscale(0.5), RandomErasing()])
    out, drawn = composed(images, generator)
    for operation in composed.operations:
        images = operation.apply(images, drawn)
    assert torch.equal(out, images)


def test_a_composition_records_each_parameter_once(unchecked_shapes):
    with pytest.raises(ValueError, match="flipped would be recorded twice"):
        Compose([HorizontalFlip(), HorizontalFlip()])
    with pytest.raises(TypeError, match=r"`operations\[1\]` must be a `AbstractAugmentation`"):
        Compose([HorizontalFlip(), "flip"])


def test_everything_off_leaves_an_image_alone(generator):
    augmentation = SimCLR(16)
    for effect in augmentation.effects:
        augmentation = augmentation.without(effect)
    images = torch.rand(20, 3, 16, 16, generator=generator)
    assert torch.equal(augmentation(images, generator).images, images)


def test_turning_one_effect_off_leaves_the_draws_of_others():
    augmentation = SimCLR(16)
    one, other = (a.draw(50, (3, 16, 16), torch.Generator().manual_seed(3)) for a in (augmentation, _no_blur()))
    assert not bool(other["blurred"].any()) and bool(one["blurred"].any())
    assert all(torch.equal(one[name], other[name]) for name in one if not name.startswith("blur"))


def _no_blur():
    return SimCLR(16).without("blur")


def test_the_order_of_a_run_is_drawn_once():
    names = "ColorJitter GaussianBlur Grayscale HorizontalFlip RandomErasing RandomResizedCrop".split()
    made = [LossIsNotEnough("all", generator=torch.Generator().manual_seed(seed)) for seed in range(600)]
    assert all(sorted(kinds(one)) == names for one in made[:20])
    assert kinds(made[0]) == kinds(LossIsNotEnough("all", generator=torch.Generator().manual_seed(0)))
    first = [kinds(one)[0] for one in made]
    assert fits_counts([first.count(name) for name in names], [1 / 6] * 6) > ALARM


def test_both_definitions_of_the_regimes():
    rest = ["ColorJitter", "HorizontalFlip", "Grayscale", "GaussianBlur"]
    assert kinds(LossIsNotEnough("crop")) == ["RandomResizedCrop"]
    assert kinds(LossIsNotEnough("crop", "january")) == ["RandomResizedCrop", "RandomErasing"]
    assert kinds(LossIsNotEnough("all_without_crop")) == [*rest, "RandomErasing"]
    assert kinds(LossIsNotEnough("all_without_crop", "january")) == rest
    assert kinds(LossIsNotEnough("all", order="adapted")) == [
        "HorizontalFlip",
        "RandomResizedCrop",
        "ColorJitter",
        "Grayscale",
        "GaussianBlur",
        "RandomErasing",
    ]


def test_strengths_of_the_recipes():
    crop, flip, jitter, gray, blur = SimCLR(224).operations
    assert (crop.scale, flip.probability, gray.probability) == ((0.08, 1.0), 0.5, 0.2)
    assert jitter == ColorJitter(0.8, 0.8, 0.8, 0.2, probability=0.8)
    assert blur == GaussianBlur(23, (0.1, 2.0), 0.5)
    assert [SimCLR(size).operations[-1].kernel_size for size in (28, 32, 64)] == [3, 3, 7]
    assert kinds(SimCLR(28, colour=False)) == ["RandomResizedCrop", "HorizontalFlip", "GaussianBlur"]
    first, second = VICReg(1), VICReg(2)
    assert [one.operations[4].probability for one in (first, second)] == [1.0, 0.1]
    assert [one.operations[5].probability for one in (first, second)] == [0.0, 0.2]
    for regime in ("all", "all_without_crop"):
        blurs = [one for one in LossIsNotEnough(regime, order="adapted").operations if isinstance(one, GaussianBlur)]
        assert blurs == [GaussianBlur(3, (0.1, 2.0), 1.0)]


def test_wrong_calls_of_recipes(unchecked_shapes):
    with pytest.raises(ValueError, match="`regime` cannot be 'al'; did you mean 'all'"):
        LossIsNotEnough("al")
    with pytest.raises(TypeError, match="`generator` must be a torch.Generator"):
        LossIsNotEnough("all")
    with pytest.raises(ValueError, match="`view` must be 1 or 2"):
        VICReg(3)
