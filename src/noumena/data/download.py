"""One address -> one file, going on where an interrupted download stopped."""

import os
import re
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from .cache import BLOCK, CannotWrite, Progress, writable

TIMEOUT = 20.0  # seconds without a byte
ATTEMPTS = 4  # in a row that bring nothing new


class Unavailable(OSError):
    """A source does not give what was asked of it. The message says why."""


class _Answer(NamedTuple):
    whole: bool
    received: int


def download(address: str, path: Path, progress: Progress) -> None:
    """Bring all that `address` has into `path`, after the bytes that `path` holds already.

    A connection that breaks is taken up again. What has come stays in `path` if the rest does not, for the next call.
    Whether the bytes are the right ones is for the caller to decide.
    """
    fruitless = 0
    while fruitless < ATTEMPTS:
        had = path.stat().st_size if path.exists() else 0
        try:
            answer = _ask(address, path, had, progress)
        except (CannotWrite, Unavailable):
            raise
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            if not path.exists():
                raise Unavailable(f"cannot be reached ({getattr(error, 'reason', error)})") from error
            answer = _Answer(False, path.stat().st_size - had)
        if answer.whole:
            return
        fruitless = 0 if answer.received > 0 else fruitless + 1
    raise Unavailable(f"the connection broke after {path.stat().st_size} bytes; run it again to go on from there")


def _ask(address: str, path: Path, had: int, progress: Progress) -> _Answer:
    headers = {"User-Agent": "noumena", "Accept-Encoding": "identity"}
    if had:
        headers["Range"] = f"bytes={had}-"
    try:
        answer = urlopen(Request(address, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        with error:
            return _refused(error, path, had)
    with answer:
        begins = _first(answer.headers.get("Content-Range")) if answer.status == 206 else 0
        if begins not in (0, had):
            path.unlink()
            return _Answer(False, 0)
        length = answer.headers.get("Content-Length")
        total = None if length is None else begins + int(length)
        done = begins
        with writable(path), open(path, "ab" if begins else "wb") as file:
            while block := answer.read(BLOCK):
                file.write(block)
                done += len(block)
                progress(urlsplit(address).path.rsplit("/", 1)[-1], done, total)
            file.flush()
            os.fsync(file.fileno())
    return _Answer(total is None or done >= total, done - had)


def _refused(error: HTTPError, path: Path, had: int) -> _Answer:
    if error.code == 416 and had:
        # There is nothing after the bytes that are here: they are all, or they are of something else.
        if _total(error.headers.get("Content-Range")) == had:
            return _Answer(True, 0)
        path.unlink()
        return _Answer(False, 0)
    if error.code >= 500 and had:
        return _Answer(False, 0)
    raise Unavailable(f"answered {error.code} {error.reason}") from error


def _first(content_range: str | None) -> int | None:
    found = re.match(r"bytes (\d+)-", content_range or "")
    return None if found is None else int(found[1])


def _total(content_range: str | None) -> int | None:
    found = re.match(r"bytes \*/(\d+)", content_range or "")
    return None if found is None else int(found[1])
