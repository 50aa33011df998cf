import numpy as np
import pytest
import torch

from noumena.data import InMemory
from noumena.data.augmentations import Compose, HorizontalFlip, LossIsNotEnough, RandomResizedCrop, SimCLR, VICReg
from noumena.pairs import Augmented
from tests.contracts.pairs import PairSourceContract


def table(n: int = 30, factors: bool = True) -> InMemory:
    pixels = torch.randint(256, (n, 3, 12, 12), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    pixels[:, 0, 0, 0] = torch.arange(n, dtype=torch.uint8)  # a mark by which an image is known
    z = torch.arange(2.0 * n).reshape(n, 2) if factors else None
    return InMemory(pixels, labels=torch.arange(n) % 4, factors=z)


class TestAugmented(PairSourceContract):
    def make(self):
        return Augmented(table(), SimCLR(12))


class TestAugmentedSecond(PairSourceContract):
    def make(self):
        return Augmented(table(), LossIsNotEnough("all_without_crop", size=12), views="second")


def test_anchors_may_stay_as_they_are(generator):
    source = Augmented(table(), SimCLR(12), views="second")
    batch = source.draw(30, generator)
    rows = (batch.x[:, 0, 0, 0] * 255).round().long()
    assert sorted(rows.tolist()) == list(range(30))
    torch.testing.assert_close(batch.x, source.table.pixels[rows] / 255)
    assert torch.equal(batch.labels, rows % 4) and torch.equal(batch.z[:, 0], 2.0 * rows)
    assert batch.parameters is None and batch.z_pos is None


def test_what_was_done_to_each_view_is_recorded(generator):
    augmentation = SimCLR(12)
    source = Augmented(table(), augmentation)
    batch = source.draw(20, generator, torch.float64)
    rows = (batch.z[:, 0] / 2).long()
    images = source.table.pixels[rows].double() / 255
    assert torch.equal(augmentation.apply(images, batch.parameters), batch.x)
    assert torch.equal(augmentation.apply(images, batch.parameters_pos), batch.x_pos)
    assert not torch.equal(batch.parameters["crop_top"], batch.parameters_pos["crop_top"])


def test_negatives_are_further_augmentations_of_the_same_image(generator):
    source = Augmented(table(), Compose([HorizontalFlip()]), views="second", negatives=5)
    batch = source.draw(8, generator)
    assert batch.x_neg.shape == (8, 5, 3, 12, 12)
    same = (batch.x_neg == batch.x[:, None]).flatten(2).all(dim=2)
    mirrored = (batch.x_neg == batch.x[:, None].flip(4)).flatten(2).all(dim=2)
    assert bool((same | mirrored).all()) and 0 < int(same.sum()) < 40


def test_views_may_be_augmented_unlike(generator):
    first, second = VICReg(1, 12, normalise=False), VICReg(2, 12, normalise=False)
    batch = Augmented(table(), second, anchor_augmentation=first).draw(30, generator)
    assert bool(batch.parameters["blurred"].all()) and not bool(batch.parameters_pos["blurred"].all())


def test_only_the_named_rows_are_drawn(generator):
    source = Augmented(table(), HorizontalFlip(), views="second", among=np.array([4, 9, 2]))
    assert len(source) == 3
    assert sorted((source.draw(3, generator).z[:, 0] / 2).tolist()) == [2, 4, 9]


def test_without_factors_and_labels(generator):
    batch = Augmented(InMemory(np.zeros((4, 1, 8, 8), np.uint8)), HorizontalFlip()).draw(4, generator)
    assert batch.z is None and batch.labels is None


def test_wrong_calls_of_augmented(generator, unchecked_shapes):
    with pytest.raises(ValueError, match="at most the 30 images"):
        Augmented(table(), HorizontalFlip()).draw(31, generator)
    with pytest.raises(ValueError, match=r"must give positives the shape of anchors, \(3, 12, 12\); it gives \(3, 8"):
        Augmented(table(), RandomResizedCrop(8), views="second")
    with pytest.raises(ValueError, match="`views` cannot be 'first'"):
        Augmented(table(), HorizontalFlip(), views="first")
    with pytest.raises(TypeError, match="`table` must be a `AbstractImageTable`"):
        Augmented(torch.zeros(3), HorizontalFlip())
    with pytest.raises(ValueError, match='needs `views="both"`'):
        Augmented(table(), HorizontalFlip(), views="second", anchor_augmentation=HorizontalFlip())
