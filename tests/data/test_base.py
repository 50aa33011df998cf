import numpy as np
import pytest
import torch

from noumena.data import InMemory
from tests.contracts.data import ImageTableContract


def table(n: int = 5) -> InMemory:
    pixels = torch.arange(n * 3 * 2 * 2, dtype=torch.uint8).reshape(n, 3, 2, 2)
    return InMemory(pixels, labels=np.arange(n), class_names=tuple("abcde"), name="few")


class TestInMemory(ImageTableContract):
    def make(self):
        return table()

    def reference(self):
        return torch.arange(5 * 3 * 2 * 2, dtype=torch.uint8).reshape(5, 3, 2, 2)


@pytest.mark.parametrize("rows", [torch.tensor([5]), torch.tensor([-1]), torch.tensor([0.0]), torch.tensor([[0]])])
def test_other_rows_are_refused(rows):
    # jaxtyping refuses what is no vector of int64 before the table does.
    with pytest.raises(Exception, match="rows"):
        table().images(rows)


def test_what_is_known_must_be_known_of_every_row():
    with pytest.raises(ValueError, match="`labels` must have 5 rows"):
        InMemory(torch.zeros(5, 1, 2, 2, dtype=torch.uint8), labels=np.zeros(4))


@pytest.mark.parametrize("images", [torch.zeros(5, 2, 2, dtype=torch.uint8), torch.zeros(5, 1, 2, 2)])
def test_images_are_bytes_of_four_axes(images):
    with pytest.raises(ValueError, match="`images` must be bytes"):
        InMemory(images)
