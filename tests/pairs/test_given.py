import numpy as np
import pytest
import torch

from noumena.pairs import Given
from tests.contracts.pairs import PairSourceContract


class TestGivenArrays(PairSourceContract):
    def make(self):
        rows = np.arange(60.0).reshape(20, 3)
        return Given(rows, rows + 100)


class TestGivenTensors(PairSourceContract):
    def make(self):
        rows = torch.arange(40.0).reshape(20, 2)
        return Given(rows, rows + 100, z=rows, z_pos=rows + 1)


def test_rows_stay_paired_and_distinct(generator):
    x = np.arange(30.0).reshape(30, 1)
    batch = Given(x, x + 1000, z=-x).draw(30, generator)
    assert torch.equal(batch.x_pos, batch.x + 1000) and torch.equal(batch.z, -batch.x)
    assert sorted(batch.x[:, 0].tolist()) == list(range(30))


def test_only_the_named_rows_are_drawn(generator):
    x = np.arange(30.0).reshape(30, 1)
    source = Given(x, x + 1000, among=np.array([4, 9, 2]))
    batch = source.draw(3, generator)
    assert len(source) == 3 and sorted(batch.x[:, 0].tolist()) == [2, 4, 9]
    assert torch.equal(batch.x_pos, batch.x + 1000)


def test_memory_mapped_files_are_read_by_rows(tmp_path, generator):
    np.save(tmp_path / "x.npy", np.arange(8, dtype=np.uint8).reshape(4, 2))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert Given(mapped, mapped).draw(2, generator).x.shape == (2, 2)


def test_wrong_arrays_are_refused(generator, unchecked_shapes):
    x = np.zeros((5, 2))
    with pytest.raises(ValueError, match="`x_pos` must have 5 rows"):
        Given(x, np.zeros((4, 2)))
    with pytest.raises(ValueError, match="shape of `x`"):
        Given(x, np.zeros((5, 3)))
    with pytest.raises(TypeError, match="numpy.asarray"):
        Given([[1.0]], [[2.0]])
    with pytest.raises(ValueError, match="at most the 5 pairs"):
        Given(x, x).draw(6, generator)
    with pytest.raises(ValueError, match="at most the 2 pairs"):
        Given(x, x, among=np.array([0, 1])).draw(3, generator)
    with pytest.raises(ValueError, match="`among` must name each row at most once, from 0 to 4; got 2 entries, 1 of"):
        Given(x, x, among=np.array([1, 1]))
    with pytest.raises(ValueError, match="from 0 to 5"):
        Given(x, x, among=np.array([0, 5]))
    with pytest.raises(ValueError, match="`among` must be a non-empty vector of row numbers"):
        Given(x, x, among=np.array([True, False, True, True, True]))
    with pytest.raises(ValueError, match="`x` must be finite"):
        Given(x * np.nan, x).draw(2, generator)
