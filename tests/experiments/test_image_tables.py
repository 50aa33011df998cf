"""A table file can say how images are augmented and how their encoder is read."""

import torch

from noumena.data import InMemory
from noumena.data.augmentations import Compose, SimCLR
from noumena.diagnostics import AugmentationReadout
from noumena.experiments.resolve import resolve
from noumena.pairs import Augmented


class Noise(InMemory):
    """A table that a file can name."""

    def __init__(self, n: int) -> None:
        pixels = torch.randint(256, (n, 3, 8, 8), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
        super().__init__(pixels, labels=torch.arange(n) % 2)


NOISE = {"kind": "tests.experiments.test_image_tables.Noise", "n": 20}


def test_pairs():
    augmentation = {"kind": "recipes.SimCLR", "size": 8, "scale": [0.2, 1.0]}
    given = {"kind": "augmented.Augmented", "table": NOISE, "augmentation": augmentation, "views": "second"}
    source = resolve(given, "pairs", "here").build()
    assert isinstance(source, Augmented) and isinstance(source.augmentation, SimCLR)
    assert source.augmentation.operations[0].scale == (0.2, 1.0)


def test_readers():
    steps = [{"kind": "flip.HorizontalFlip"}, {"kind": "jitter.ColorJitter", "hue": 0.2}]
    augmentation = {"kind": "compose.Compose", "operations": steps}
    given = {"kind": "readouts.AugmentationReadout", "table": NOISE, "augmentation": augmentation, "effects": ["hue"]}
    reader = resolve(given, "diagnostics", "here").build()
    assert isinstance(reader, AugmentationReadout) and isinstance(reader.augmentation, Compose)
    assert reader.names == ("readout_hue", "readout_mean")
    probe = resolve({"kind": "classes.LinearProbe", "train": NOISE, "test": NOISE}, "diagnostics", "here").build()
    assert probe.names == ("linear_probe", "linear_probe_low", "linear_probe_high")
