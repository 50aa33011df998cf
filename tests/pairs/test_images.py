import numpy as np
import pytest
import torch

from noumena.data import InMemory
from noumena.pairs import Images
from tests.contracts.pairs import PairSourceContract


def table(factors: bool = True) -> InMemory:
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (40, 3, 4, 5), dtype=np.uint8)
    known = {"factors": torch.arange(40.0)[:, None], "factor_names": ("row",)} if factors else {}
    return InMemory(pixels, labels=np.arange(40) % 4, name="noise", **known)


class TestImages(PairSourceContract):
    def make(self):
        return Images(table())


def test_an_image_is_its_own_positive_with_what_is_known_of_it(generator):
    batch = Images(table()).draw(40, generator)
    assert batch.z is not None and batch.labels is not None
    rows = batch.z[:, 0].long()
    assert rows.sort().values.tolist() == list(range(40)) and batch.labels.tolist() == (rows % 4).tolist()
    assert torch.equal(batch.x * 255, table().images(rows).float()) and torch.equal(batch.x, batch.x_pos)
    assert Images(table(factors=False)).draw(3, generator).z is None


def test_no_image_is_in_two_parts_of_one_call(generator):
    parts = list(Images(table()).draw_parts(30, 8, generator))
    assert [len(part.x) for part in parts] == [8, 8, 8, 6]
    assert len(torch.cat([part.z for part in parts if part.z is not None]).unique()) == 30


def test_parts_are_the_whole(generator):
    seeds = [torch.Generator().manual_seed(3) for _ in range(2)]
    whole = Images(table()).draw(20, seeds[0])
    parts = Images(table()).draw_parts(20, 7, seeds[1])
    assert torch.equal(whole.x, torch.cat([part.x for part in parts]))


def test_more_than_there_are(generator):
    with pytest.raises(ValueError, match="`n` must be at most the 40 images of `noise`, got 41"):
        Images(table()).draw(41, generator)
