import os
import shutil

import numpy as np
import pytest
import torch

from noumena.data import Mapped, ThreeDIdent, mapped
from noumena.data.cache import CannotWrite, Damaged
from noumena.data.mapped import check_copy, copies
from tests.contracts.data import ImageTableContract
from tests.data import layouts
from tests.data.test_cache import full_disk  # noqa: F401

FOLDER = layouts.scratch()
DRAWN = layouts.threedident(FOLDER / "set", n=12)


class TestMapped(ImageTableContract):
    def make(self):
        return Mapped(ThreeDIdent(FOLDER / "set"), cache=FOLDER)

    def reference(self):
        return torch.from_numpy(DRAWN.transpose(0, 3, 1, 2).copy())


@pytest.fixture
def table(tmp_path):
    layouts.threedident(tmp_path / "set", n=12)
    return ThreeDIdent(tmp_path / "set")


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(mapped, "BLOCK", 3)


def reads(table, monkeypatch) -> list[int]:
    """The rows that are decoded from now on."""
    seen, read = [], ThreeDIdent._read
    monkeypatch.setattr(ThreeDIdent, "_read", lambda self, row: seen.append(row) or read(self, row))
    return seen


def test_it_is_decoded_once_and_says_so(table, tmp_path, monkeypatch, small_blocks):
    told = []
    first = Mapped(table, cache=tmp_path, progress=lambda *what: told.append(what))
    assert told[3] == (f"decoding {table.name}", 12 * 192, 12 * 192)
    seen = reads(table, monkeypatch)
    second = Mapped(table, cache=tmp_path)
    second.images(torch.arange(12))
    assert seen == [] and second.path == first.path and copies(tmp_path) == [first.path]
    assert torch.equal(second.factors, table.factors) and second.factor_names == table.factor_names


def test_an_interrupted_copy_is_never_used_and_is_taken_up(table, tmp_path, monkeypatch, small_blocks):
    def stop(what, done, total):
        if done >= 6 * 192:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Mapped(table, cache=tmp_path, progress=stop)
    assert copies(tmp_path) == []
    seen = reads(table, monkeypatch)
    again = Mapped(table, cache=tmp_path)
    # The last block may not have reached the disk, and is decoded again.
    assert sorted(seen) == list(range(3, 12))
    assert torch.equal(again.images(torch.arange(12)), table.images(torch.arange(12)))


def test_a_full_disk_is_one_line_and_no_copy(table, tmp_path, small_blocks, full_disk):  # noqa: F811
    with pytest.raises(CannotWrite, match="the disk is full"):
        Mapped(table, cache=tmp_path)
    assert copies(tmp_path) == []


def test_a_missing_image_leaves_no_copy(table, tmp_path):
    table.path(11).unlink()
    with pytest.raises(FileNotFoundError, match="row 11"):
        Mapped(table, cache=tmp_path)
    assert copies(tmp_path) == []


def test_other_pictures_get_a_copy_of_their_own(table, tmp_path):
    first = Mapped(table, cache=tmp_path)
    layouts.save(table.path(11), layouts.pictures(1, 8, 99)[0])
    second = Mapped(ThreeDIdent(tmp_path / "set"), cache=tmp_path)
    assert second.path != first.path
    assert np.array_equal(second.images(torch.tensor([11]))[0].permute(1, 2, 0), layouts.pictures(1, 8, 99)[0])


def test_a_damaged_copy_is_found_and_built_anew(table, tmp_path):
    path = Mapped(table, cache=tmp_path).path
    check_copy(path)
    seen = path.stat()
    path.write_bytes(bytes(seen.st_size))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    with pytest.raises(Damaged, match="is not what was written; it is built anew"):
        check_copy(path)
    assert torch.equal(Mapped(table, cache=tmp_path).images(torch.arange(12)), table.images(torch.arange(12)))


def test_a_copy_that_was_truncated_is_not_used(table, tmp_path):
    path = Mapped(table, cache=tmp_path).path
    path.write_bytes(path.read_bytes()[:-1])
    assert torch.equal(Mapped(table, cache=tmp_path).images(torch.arange(12)), table.images(torch.arange(12)))


def test_a_copy_that_was_moved_is_read_and_kept(table, tmp_path, monkeypatch):
    Mapped(table, cache=tmp_path)
    shutil.copytree(tmp_path / "copies", tmp_path / "elsewhere" / "copies", copy_function=shutil.copyfile)
    seen = reads(table, monkeypatch)
    Mapped(table, cache=tmp_path / "elsewhere")
    assert seen == []


def test_tables_in_memory_need_none(unchecked_shapes):
    with pytest.raises(TypeError, match="Tables in memory need no copy"):
        Mapped(torch.zeros(1))
