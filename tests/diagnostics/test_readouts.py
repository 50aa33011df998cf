"""Probes find the effects that an encoder keeps, and no others."""

import pytest
import torch

from noumena.data.augmentations import (
    ColorJitter,
    Compose,
    Grayscale,
    HorizontalFlip,
    Normalize,
    RandomResizedCrop,
    SimCLR,
)
from noumena.diagnostics import AugmentationReadout, AugmentedDomain
from noumena.pairs import Given
from tests.diagnostics.images import Statistics, patterns
from tests.diagnostics.subjects import subject

TABLE = patterns(1200)
SOURCE = Given(torch.zeros(4, 2), torch.zeros(4, 2))
AUGMENTATION = Compose([HorizontalFlip(), ColorJitter(brightness=0.8, probability=0.8), Grayscale(0.2)])


def read(diagnostic, encoder=None, seed: int = 2) -> dict[str, float]:
    encoder = Statistics() if encoder is None else encoder
    found = diagnostic(subject(SOURCE, encoder=encoder), torch.Generator().manual_seed(seed))
    assert set(found.values) == set(diagnostic.names)
    return found.values


@pytest.mark.parametrize("context", ["alone", "pipeline"])
def test_what_statistics_of_channels_tell(context):
    found = read(AugmentationReadout(TABLE, AUGMENTATION, n=1200, of="embedding", context=context))
    # Means and deviations are those of the mirror image; grey makes the channels equal; light moves both.
    assert abs(found["readout_flip_embedding"] - 0.5) < 0.11  # 600 scored: a standard error of .02
    assert found["readout_grayscale_embedding"] > 0.7 and found["readout_brightness_embedding"] > 0.6
    parts = [value for name, value in found.items() if "_mean" not in name]
    assert len(parts) == 3 and found["readout_mean_embedding"] == pytest.approx(sum(parts) / 3)


def test_effects_are_applied_alone():
    readout = AugmentationReadout(TABLE, SimCLR(10), of="embedding", n=100)
    images = TABLE.pixels[:50] / 255
    for effect in readout.asked:
        on, off = (one(images, torch.Generator().manual_seed(0)).images for one in readout._on_and_off(effect))
        assert torch.equal(off, images)
        assert float((on != images).flatten(1).any(dim=1).double().mean()) > 0.8, effect


def test_only_the_named_effects_are_read():
    readout = AugmentationReadout(TABLE, SimCLR(10), effects=("hue", "blur"), n=100, of="embedding")
    assert list(read(readout)) == ["readout_hue_embedding", "readout_blur_embedding", "readout_mean_embedding"]


def test_augmented_images_are_told_from_raw_ones():
    crops = read(AugmentedDomain(TABLE, RandomResizedCrop(10, scale=(0.1, 0.3)), n=1200))
    assert crops["augmented_domain_accuracy"] > 0.9  # what was enlarged is smooth
    nothing = read(AugmentedDomain(TABLE, HorizontalFlip(0.0), n=1200))
    assert abs(nothing["augmented_domain_accuracy"] - 0.5) < 0.11
    assert nothing["augmented_domain_low"] < 0.5 < nothing["augmented_domain_high"]


def test_the_generator_decides():
    diagnostic = AugmentedDomain(TABLE, Grayscale(0.2), n=200)
    assert read(diagnostic) == read(diagnostic) != read(diagnostic, seed=3)


def test_wrong_calls_of_readouts_of_augmentations(unchecked_shapes):
    with pytest.raises(ValueError, match=r"`effects\[0\]` cannot be 'grey'"):
        AugmentationReadout(TABLE, SimCLR(10), effects=("grey",))
    with pytest.raises(ValueError, match="`n` must be at most the 1200 images of `patterns`"):
        read(AugmentationReadout(TABLE, SimCLR(10), n=2000, of="embedding"))
    with pytest.raises(ValueError, match="must have an effect to read"):
        AugmentationReadout(TABLE, Normalize((0.5,), (1.0,)))
    with pytest.raises(ValueError, match="must keep the shape of images"):
        AugmentedDomain(TABLE, SimCLR(8))
