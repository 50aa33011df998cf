"""The folder of stored data, and what makes a file in it trusted."""

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .. import _cache, _checks, _files
from .._cache import VARIABLE as VARIABLE

BLOCK = 1 << 20

# Is told what is under way, how much of it is done, and of how much (None where nobody knows).
Progress = Callable[[str, int, int | None], None]


class Damaged(ValueError):
    """A stored file is not what it should be. The message names the file, what is wrong, and what to do."""


class CannotWrite(OSError):
    """Nothing more can be written. The message says where, why, and what to do."""


class Facts(NamedTuple):
    """What is known of a file before it is here: the digest decides, wherever the bytes come from."""

    name: str
    size: int
    sha256: str


def folder(given: str | Path | None = None) -> Path:
    """Where data are kept: `given`, else the environment's NOUMENA_DATA, else the user's cache on this system."""
    if given is not None:
        return Path(_checks.kind("cache", given, (str, Path), "Pass the path of a folder.")).expanduser().absolute()
    return _cache.folder()


def make(path: Path) -> Path:
    """The folder `path`, made if need be."""
    with writable(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Says in one line why `path` cannot be written, if it cannot."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            why = f"the disk is full; free some space, or name another folder with --cache or {VARIABLE}"
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            why = f"{error.strerror}; name another folder with --cache or {VARIABLE}"
        else:
            raise
        raise CannotWrite(f"cannot write `{path}`: {why}, and run it again.") from error


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` once it is whole and on the disk, and is gone if it never gets there."""
    with writable(path):
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        _files.sync_folder(path.parent)


def store(path: Path, content: bytes, expected: Facts) -> None:
    """Write a file and its marker; refused if the content is not the expected one."""
    _agree(path, len(content), hashlib.sha256(content).hexdigest(), expected, "what was received was thrown away")
    with writing(path) as file:
        file.write(content)
    mark(path, expected.sha256)


def digest(path: Path, progress: Progress | None = None) -> str:
    """The sha256 of a file, read in blocks."""
    found, done, size = hashlib.sha256(), 0, path.stat().st_size
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
            done += len(block)
            if progress is not None:
                progress(f"reading {path.name}", done, size)
    return found.hexdigest()


def mark(path: Path, sha256: str) -> None:
    """Note beside a file that all of it was read and had this digest."""
    seen = path.stat()
    noted = {"sha256": sha256, "size": seen.st_size, "modified": seen.st_mtime_ns}
    with writing(_marker(path)) as file:
        file.write(json.dumps(noted).encode())


def marked(path: Path) -> str | None:
    """The digest that was noted, if the file has had its size and time of modification ever since."""
    noted = _noted(path)
    if noted is None or not path.is_file():
        return None
    seen = path.stat()
    return noted["sha256"] if (noted["size"], noted["modified"]) == (seen.st_size, seen.st_mtime_ns) else None


def intact(path: Path, progress: Progress | None = None) -> bool:
    """Whether all of a file, read just now, has the digest that was noted when it was written."""
    noted = _noted(path)
    unmark(path)
    if noted is None or digest(path, progress) != noted["sha256"]:
        return False
    mark(path, noted["sha256"])
    return True


def unmark(path: Path) -> None:
    _marker(path).unlink(missing_ok=True)


def verify(path: Path, expected: Facts, remedy: str, progress: Progress | None = None) -> None:
    """Read all of a file and mark it; raises `Damaged`, and leaves it unmarked, if it is not the expected one."""
    unmark(path)
    size = path.stat().st_size
    sha256 = digest(path, progress) if size == expected.size else ""
    _agree(path, size, sha256, expected, remedy)
    mark(path, sha256)


def require(path: Path, expected: Facts, remedy: str) -> Path:
    """The path of a file that is whole: by its marker, or else because all of it was read just now."""
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`; {remedy}.")
    if marked(path) != expected.sha256:
        verify(path, expected, remedy)
    return path


def _agree(path: Path, size: int, sha256: str, expected: Facts, remedy: str) -> None:
    if size != expected.size:
        raise Damaged(f"`{path}` must have {expected.size} bytes, got {size}; {remedy}.")
    if sha256 != expected.sha256:
        raise Damaged(f"`{path}` must have the sha256 {_short(expected.sha256)}, got {_short(sha256)}; {remedy}.")


def _short(sha256: str) -> str:
    return f"{sha256[:8]}..{sha256[-4:]}"


def _marker(path: Path) -> Path:
    return path.with_name(f".{path.name}.verified")


def _noted(path: Path) -> dict[str, Any] | None:
    try:
        noted = json.loads(_marker(path).read_bytes())
    except (OSError, ValueError):
        return None
    return noted if isinstance(noted, dict) and noted.keys() >= {"sha256", "size", "modified"} else None
