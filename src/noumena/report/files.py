"""The pictures of a page as files of their own, for a text that shows one of them."""

import html
import re
from pathlib import Path

from .. import _files
from .figure import INK

_PICTURE = re.compile(r"<svg .*?</svg>", re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)


def write_pictures(page: str, folder: Path) -> list[Path]:
    """Every picture of a page as SVG, named by what it shows; a folder that is missing is made.

    Within the page a picture takes the page's ink. A file has none to take, so that it brings ink and paper.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for picture in _PICTURE.findall(page):
        title = _TITLE.search(picture)
        assert title is not None, "every picture of a page has a title"
        name = re.sub(r"[^a-z0-9.]+", "-", html.unescape(title[1]).lower()).strip("-")
        path = folder / f"{name}.svg"
        painted = picture.replace("currentColor", INK).replace(' style="', ' style="background:#fff;', 1)
        _files.replace(path, painted.encode())
        written.append(path)
    return written
