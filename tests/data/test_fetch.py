import gzip
import hashlib
import io
import subprocess
import tarfile

import pytest

from noumena.data import cache, npm
from noumena.data.cache import CannotWrite, Facts
from noumena.data.download import Unavailable
from noumena.data.fetch import Archive, StoredSet, fetch, gunzipped, members, state
from noumena.data.sets import FETCHED, named
from tests.data.server import serve
from tests.data.test_cache import full_disk  # noqa: F401

ONE, TWO = b"one" * 700, b"two" * 900
NAMES = ("one", "two")


def tarball(**files: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        for name, content in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return made.getvalue()


def stored(*archives: Archive) -> StoredSet:
    facts = (Facts(n, len(c), hashlib.sha256(c).hexdigest()) for n, c in zip(NAMES, (ONE, TWO), strict=True))
    return StoredSet("few", "a few bytes", tuple(facts), archives, remedy="Try later.")


def packed(where: str) -> Archive:
    return Archive(where, NAMES, members("package/", NAMES))


def single(where: str, name: str) -> Archive:
    return Archive(where, (name,), gunzipped(name))


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


def test_files_come_from_a_tarball_and_leave_no_archive_behind(tmp_path):
    with serve({"all.tgz": tarball(two=TWO, one=ONE)}) as host:
        wanted = stored(packed(f"{host.address}/all.tgz"))
        assert state(wanted, tmp_path) == "absent"
        fetch(wanted, tmp_path)
        assert state(wanted, tmp_path) == "verified"
        assert contents(tmp_path / "few") == {"one": ONE, "two": TWO}
        assert not [path.name for path in (tmp_path / "few").iterdir() if path.suffix in (".part", ".tmp")]
        fetch(wanted, tmp_path)
        assert len(host.asked) == 1, "what is there is not fetched again"
    assert wanted.path("one", tmp_path).read_bytes() == ONE
    wanted.check(tmp_path)


def test_the_next_source_is_asked_for_what_one_lacks_or_has_wrong(tmp_path):
    files = {"one.gz": gzip.compress(ONE), "two.gz": gzip.compress(TWO[::-1])}
    with serve(files) as first, serve({"all.tgz": tarball(one=b"", two=TWO)}) as second:
        fetch(
            stored(
                single(f"{first.address}/one.gz", "one"),
                single(f"{first.address}/two.gz", "two"),
                packed(f"{second.address}/all.tgz"),
            ),
            tmp_path,
        )
    assert contents(tmp_path / "few") == {"one": ONE, "two": TWO}


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (gzip.compress(ONE[::-1]), "must have the sha256 .*, got .*; what was received was thrown away"),
        (gzip.compress(ONE + b"x"), "must have 2100 bytes, got 2101"),
        (gzip.compress(ONE)[:-20], "cannot be read"),
        (b"<html>no such thing</html>", "cannot be read"),
    ],
    ids=[
        "other",
        "longer",
        "cut",
        "a page",
    ],  # compressed bytes hold the time, and would name the test anew each second
)
def test_what_is_wrong_or_truncated_is_one_line_and_never_stored(tmp_path, content, pattern):
    with serve({"one.gz": content}) as host:
        wanted = stored(single(f"{host.address}/one.gz", "one"))
        with pytest.raises(Unavailable, match=f"`few` lacks `one`: 127.0.0.1:.*{pattern}.*Try later.") as caught:
            fetch(wanted, tmp_path)
    assert "\n" not in str(caught.value)
    assert contents(tmp_path / "few") == {} and state(wanted, tmp_path) == "absent"
    assert not list((tmp_path / "few").glob(".*.part")), "the next call would go on from wrong bytes"


def test_a_wrong_beginning_of_another_day_is_fetched_anew(tmp_path):
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / ".one.gz.part").write_bytes(b"of another file")
    with serve({"one.gz": gzip.compress(ONE), "two.gz": gzip.compress(TWO)}) as host:
        fetch(stored(*(single(f"{host.address}/{name}.gz", name) for name in NAMES)), tmp_path)
    assert contents(tmp_path / "few") == {"one": ONE, "two": TWO}


def test_a_host_that_fails_is_not_asked_for_the_other_files(tmp_path):
    with serve({}) as host:
        with pytest.raises(Unavailable, match="answered 404"):
            fetch(stored(*(single(f"{host.address}/{name}.gz", name) for name in NAMES)), tmp_path)
        assert len(host.asked) == 1


def test_an_interrupted_fetch_keeps_what_was_whole(tmp_path):
    def stop(file):
        yield "one", ONE
        raise KeyboardInterrupt

    (tmp_path / "local").write_bytes(b"")
    wanted = stored(Archive(str(tmp_path / "local"), NAMES, stop))
    with pytest.raises(KeyboardInterrupt):
        fetch(wanted, tmp_path)
    assert state(wanted, tmp_path) == "partial" and contents(tmp_path / "few") == {"one": ONE}


def test_a_full_disk_ends_it_in_one_line(tmp_path, full_disk):  # noqa: F811
    (tmp_path / "one.gz").write_bytes(gzip.compress(ONE))
    wanted = stored(single(str(tmp_path / "one.gz"), "one"))
    with pytest.raises(CannotWrite, match="the disk is full"):
        fetch(wanted, tmp_path)
    assert contents(tmp_path / "few") == {}


def test_a_damaged_file_is_replaced_and_a_whole_one_kept(tmp_path):
    (tmp_path / "all.tgz").write_bytes(tarball(one=ONE, two=TWO))
    wanted = stored(packed(str(tmp_path / "all.tgz")))
    folder = tmp_path / "few"
    folder.mkdir()
    (folder / "one").write_bytes(ONE)
    (folder / "two").write_bytes(TWO[::-1])
    assert state(wanted, tmp_path) == "unverified"
    before = (folder / "one").stat().st_mtime_ns
    fetch(wanted, tmp_path)
    assert contents(folder) == {"one": ONE, "two": TWO} and (folder / "one").stat().st_mtime_ns == before


def test_npm_packs_what_it_is_asked_for(tmp_path, monkeypatch):
    asked = []

    def run(command, cwd, **_):
        asked.append(command[1:3])
        (cwd / "few-1.0.0.tgz").write_bytes(tarball(one=ONE, two=TWO))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(npm.shutil, "which", lambda name: f"/somewhere/{name}")
    monkeypatch.setattr(npm.subprocess, "run", run)
    wanted = stored(packed("npm:few@1.0.0"))
    fetch(wanted, tmp_path)
    assert asked == [["pack", "few@1.0.0"]] and state(wanted, tmp_path) == "verified"
    assert sorted(path.name for path in (tmp_path / "few").glob(".npm*")) == []


def test_npm_that_fails_is_one_line(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "npm notice\nnpm error code E404\nnpm error more")
    monkeypatch.setattr(npm.shutil, "which", lambda name: name)
    monkeypatch.setattr(npm.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(Unavailable, match=r"npm:few@1.0.0: npm failed \(npm error code E404\). Try later."):
        fetch(stored(packed("npm:few@1.0.0")), tmp_path)


def test_without_npm_the_registry_of_the_environment_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(npm.shutil, "which", lambda name: None)
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    wanted = stored(packed("npm:few@1.0.0"))
    with pytest.raises(Unavailable, match="npm is not installed, and NPM_CONFIG_REGISTRY names no registry"):
        fetch(wanted, tmp_path)
    with serve({"few/-/few-1.0.0.tgz": tarball(one=ONE, two=TWO)}) as host:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", host.address + "/")
        fetch(wanted, tmp_path)
    assert state(wanted, tmp_path) == "verified"


def test_every_set_says_where_each_of_its_files_is_had():
    for wanted in FETCHED.values():
        names = {facts.name for facts in wanted.files}
        assert all(set(archive.gives) <= names for archive in wanted.archives)
        assert {name for archive in wanted.archives for name in archive.gives} == names
        assert all(len(facts.sha256) == 64 for facts in wanted.files)


def test_names():
    assert named("mnist") is FETCHED["mnist"]
    with pytest.raises(LookupError, match="did you mean `cifar10`"):
        named("cifar-10")
    with pytest.raises(LookupError, match="`3dident` is not fetched: get it from Zenodo"):
        named("3dident")


def test_missing_files_are_named(tmp_path):
    wanted = stored()
    with pytest.raises(FileNotFoundError, match="no file .*few/one`; run `noumena data fetch few`"):
        wanted.path("one", tmp_path)
    with pytest.raises(FileNotFoundError, match="noumena data fetch few"):
        wanted.check(tmp_path)
    assert cache.folder(tmp_path) == tmp_path
