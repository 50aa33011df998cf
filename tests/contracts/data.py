"""Laws of every table of images."""

import pytest
import torch

from noumena.data import AbstractImageTable


class ImageTableContract:
    def make(self) -> AbstractImageTable:
        raise NotImplementedError

    def reference(self) -> torch.Tensor:
        """All images, read without the package."""
        raise NotImplementedError

    def test_images_are_the_stored_bytes(self):
        table = self.make()
        images = table.images(torch.arange(len(table)))
        assert images.dtype == torch.uint8 and images.shape == (len(table), *table.shape)
        assert torch.equal(images, self.reference())

    def test_rows_come_in_the_order_asked_for(self):
        table = self.make()
        rows = torch.tensor([len(table) - 1, 0, 1, 0])
        assert torch.equal(table.images(rows), self.reference()[rows])

    def test_no_rows_are_no_images(self):
        table = self.make()
        assert table.images(torch.empty(0, dtype=torch.int64)).shape == (0, *table.shape)

    def test_what_is_known_is_known_of_every_row(self):
        table = self.make()
        if table.labels is not None:
            assert table.labels.shape == (len(table),) and table.labels.dtype == torch.int64
            assert 0 <= int(table.labels.min()) and int(table.labels.max()) < len(table.class_names)
        if table.factors is not None:
            assert table.factors.shape == (len(table), len(table.factor_names)) and table.factors.is_floating_point()
        if table.episodes is not None:
            assert table.episodes.shape == (len(table),)

    def test_images_are_the_callers_own(self):
        table, rows = self.make(), torch.tensor([0, 1])
        table.images(rows).zero_()
        assert torch.equal(table.images(rows), self.reference()[rows])

    def test_rows_beyond_the_table_are_refused(self):
        table = self.make()
        with pytest.raises(ValueError, match=f"between 0 and {len(table) - 1}"):
            table.images(torch.tensor([len(table)]))
