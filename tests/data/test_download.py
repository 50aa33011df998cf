import pytest

from noumena.data.cache import CannotWrite
from noumena.data.download import ATTEMPTS, Unavailable, download
from tests.data.server import serve
from tests.data.test_cache import full_disk  # noqa: F401

CONTENT = bytes(i * i % 251 for i in range(5000))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def host():
    with serve({"file": CONTENT}) as host:
        yield host


def quiet(*_):
    pass


def test_all_of_a_file_comes_and_is_told_of(host, tmp_path):
    told = []
    download(f"{host.address}/file", tmp_path / "part", lambda *what: told.append(what))
    assert (tmp_path / "part").read_bytes() == CONTENT and told[-1] == ("file", 5000, 5000)


def test_a_broken_connection_is_taken_up_where_it_broke(host, tmp_path):
    host.breaks_after = 1500
    download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").read_bytes() == CONTENT
    assert [wanted for _, wanted in host.asked] == [None, "bytes=1500-", "bytes=3000-", "bytes=4500-"]


def test_an_interrupted_download_goes_on_in_the_next_call(host, tmp_path):
    (tmp_path / "part").write_bytes(CONTENT[:1234])
    download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").read_bytes() == CONTENT and host.asked == [("/file", "bytes=1234-")]


def test_a_host_without_ranges_starts_again(host, tmp_path):
    host.ranges = False
    (tmp_path / "part").write_bytes(b"something else")
    download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").read_bytes() == CONTENT


def test_a_file_that_is_whole_already_is_not_fetched_again(host, tmp_path):
    (tmp_path / "part").write_bytes(CONTENT)
    download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").read_bytes() == CONTENT and len(host.asked) == 1


def test_more_bytes_than_there_are_begin_anew(host, tmp_path):
    (tmp_path / "part").write_bytes(CONTENT + b"more")
    download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").read_bytes() == CONTENT


def test_a_length_that_nobody_states_is_what_comes(host, tmp_path):
    host.states_length = False
    download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").read_bytes() == CONTENT


def test_a_download_that_stays_truncated_is_one_line_and_keeps_what_came(host, tmp_path):
    (tmp_path / "part").write_bytes(CONTENT[:4000])
    host.breaks_after = 0
    with pytest.raises(Unavailable, match="the connection broke after 4000 bytes; run it again to go on") as caught:
        download(f"{host.address}/file", tmp_path / "part", quiet)
    assert "\n" not in str(caught.value) and len(host.asked) == ATTEMPTS
    assert (tmp_path / "part").read_bytes() == CONTENT[:4000]


def test_an_absent_file_and_an_absent_host_are_one_line(host, tmp_path):
    with pytest.raises(Unavailable, match="answered 404"):
        download(f"{host.address}/other", tmp_path / "part", quiet)
    with pytest.raises(Unavailable, match="cannot be reached"):
        download("http://127.0.0.1:9/file", tmp_path / "part", quiet)


def test_a_full_disk_is_no_fault_of_the_host(host, tmp_path, full_disk):  # noqa: F811
    with pytest.raises(CannotWrite, match="the disk is full"):
        download(f"{host.address}/file", tmp_path / "part", quiet)
    assert (tmp_path / "part").stat().st_size <= 1000
