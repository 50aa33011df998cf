import gzip
import hashlib
import json
import sys

import pytest

from noumena.cli.main import main
from noumena.data import Mapped, ThreeDIdent, sets
from noumena.data.cache import Facts
from noumena.data.fetch import Archive, StoredSet, gunzipped
from tests.cli.test_main import call
from tests.data import layouts

CONTENT = b"content" * 1000


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A set of one file, from a file of this machine."""
    (tmp_path / "source.gz").write_bytes(gzip.compress(CONTENT))
    facts = Facts("one", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    wanted = StoredSet(
        "few", "A few bytes", (facts,), (Archive(str(tmp_path / "source.gz"), ("one",), gunzipped("one")),)
    )
    monkeypatch.setattr(sets, "FETCHED", {"few": wanted})
    monkeypatch.setenv("NOUMENA_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache" / "few" / "one"


@pytest.fixture
def run(monkeypatch, capsys, unchecked_shapes):
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["noumena", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, *capsys.readouterr()

    return run


def test_fetch_then_list_then_check(few, run):
    code, out, _ = run("data", "list", "--json")
    assert code == 0 and [one["state"] for one in json.loads(out)["sets"]] == ["absent"]
    code, out, err = run("data", "fetch", "few", "--json")
    assert (code, err) == (0, "") and few.read_bytes() == CONTENT
    (one,) = json.loads(out)["sets"]
    assert (one["name"], one["state"], one["bytes"], one["folder"]) == ("few", "verified", 7000, str(few.parent))
    for arguments in (("data",), ("data", "list"), ("data", "check"), ("data", "check", "few")):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "") and "verified" in out
    assert "kitti-masks" in run("data")[1]


def test_a_damaged_file_is_found_and_fetched_anew(few, run):
    run("data", "fetch", "few")
    few.write_bytes(CONTENT[::-1])
    code, out, err = run("data", "check")
    assert code == 2 and not out and err.count("\n") == 1
    assert "must have the sha256" in err and "run `noumena data fetch few`" in err
    assert run("data", "fetch", "few")[0] == 0 and few.read_bytes() == CONTENT


def test_another_folder_can_be_named(few, run, tmp_path):
    assert run("data", "fetch", "few", "--cache", str(tmp_path / "other"))[0] == 0
    assert (tmp_path / "other" / "few" / "one").is_file() and not few.exists()


def test_copies_are_listed_and_checked(few, run, tmp_path):
    layouts.threedident(tmp_path / "set")
    path = Mapped(ThreeDIdent(tmp_path / "set")).path
    sets = json.loads(run("data", "list", "--json")[1])["sets"]
    assert [(one["name"], one["state"]) for one in sets[1:]] == [(path.name, "verified")]
    assert run("data", "check")[0] == 0
    path.write_bytes(b"")
    code, _, err = run("data", "check")
    assert code == 2 and "built anew" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (("fetch", "fwe"), "did you mean `few`?"),
        (("fetch", "3dident"), "is not fetched"),
        (("fetch",), "Missing argument"),
        (("check", "few"), "run `noumena data fetch few`"),
        (("fecth",), "No such command"),
    ],
)
def test_wrong_calls_exit_2_with_one_line(few, run, arguments, pattern):
    code, out, err = run("data", *arguments)
    assert code == 2 and not out and err.count("\n") == 1 and pattern in err


def test_a_source_that_fails_exits_2_with_one_line(few, run, tmp_path):
    (tmp_path / "source.gz").write_bytes(gzip.compress(CONTENT)[:-20])
    code, out, err = run("data", "fetch", "few")
    assert code == 2 and not out and err.count("\n") == 1 and "cannot be read" in err
    assert not few.exists()


def test_an_interrupted_fetch_exits_130(few, run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("noumena.data.cache.store", interrupted)
    code, out, err = run("data", "fetch", "few")
    assert (code, out, err) == (130, "", "noumena: interrupted\n")


def test_the_command_as_users_call_it(tmp_path):
    done = call("data", "check", "mnist", "--cache", str(tmp_path))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "noumena data fetch mnist" in done.stderr
    done = call("data", "--help")
    assert done.returncode == 0 and "fetch" in done.stdout
