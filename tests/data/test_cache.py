import errno
import hashlib
import os
import sys
from pathlib import Path

import pytest

from noumena.data import cache
from noumena.data.cache import CannotWrite, Damaged, Facts

CONTENT = bytes(range(256)) * 40
FACTS = Facts("file", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Full:
    """A file on a disk that has room for a few bytes more."""

    def __init__(self, file, room: int) -> None:
        self.file, self.room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, content) -> int:
        self.file.write(content[: self.room])
        if len(content) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(content)
        return len(content)


@pytest.fixture
def full_disk(monkeypatch):
    """Whatever the package opens for writing is full after some bytes."""
    import builtins

    def opened(path, mode="r", *rest, **more):
        file = builtins.open(path, mode, *rest, **more)
        return Full(file, 1000) if set(mode) & set("wax+") else file

    for module in ("cache", "download", "mapped"):
        monkeypatch.setattr(f"noumena.data.{module}.open", opened, raising=False)


def test_the_folder_is_the_argument_then_the_environment_then_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("NOUMENA_DATA", str(tmp_path / "told"))
    assert cache.folder(tmp_path / "given") == tmp_path / "given"
    assert cache.folder() == tmp_path / "told"
    monkeypatch.delenv("NOUMENA_DATA")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "noumena"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path.home() / ".cache" / "noumena"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.folder() == Path.home() / "Library" / "Caches" / "noumena"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache.folder() == tmp_path / "local" / "noumena" / "Cache"


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), cache.writing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    with cache.writing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, full_disk):
    with pytest.raises(CannotWrite, match="the disk is full; free some space, or name another folder") as caught:
        cache.store(tmp_path / "file", CONTENT, FACTS)
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotWrite, match="name another folder with --cache"):
        cache.make(tmp_path / "file" / "below")


def test_what_is_stored_is_trusted_until_it_changes(tmp_path):
    path = tmp_path / "file"
    cache.store(path, CONTENT, FACTS)
    assert cache.marked(path) == FACTS.sha256 and cache.require(path, FACTS, "do") == path
    path.write_bytes(CONTENT[:-1] + b"x")
    os.utime(path, ns=(1, 1))
    assert cache.marked(path) is None
    with pytest.raises(Damaged, match=f"must have the sha256 {FACTS.sha256[:8]}.*; do."):
        cache.require(path, FACTS, "do")


def test_what_is_not_marked_is_read_before_it_is_trusted(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    assert cache.marked(path) is None
    assert cache.require(path, FACTS, "do") == path and cache.marked(path) == FACTS.sha256
    for damage in (b"", b"{", b"[]", b"{}"):
        cache._marker(path).write_bytes(damage)
        assert cache.marked(path) is None


def test_a_check_reads_what_the_marker_vouches_for(tmp_path):
    """Bytes that changed on the disk by themselves leave size and time as they were."""
    path = tmp_path / "file"
    cache.store(path, CONTENT, FACTS)
    seen = path.stat()
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert cache.marked(path) == FACTS.sha256
    with pytest.raises(Damaged, match="sha256"):
        cache.verify(path, FACTS, "do")
    assert cache.marked(path) is None, "what was found damaged is not vouched for any more"


def test_the_wrong_content_is_not_stored(tmp_path):
    with pytest.raises(Damaged, match=f"must have {len(CONTENT)} bytes, got 3"):
        cache.store(tmp_path / "file", b"abc", FACTS)
    with pytest.raises(Damaged, match="must have the sha256"):
        cache.store(tmp_path / "file", CONTENT[::-1], FACTS)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError, match="no file .*; do."):
        cache.require(tmp_path / "file", FACTS, "do")
