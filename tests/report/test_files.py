"""Pictures as files: each of the page's, valid by itself."""

import re
from xml.etree import ElementTree

import pytest

from noumena.report import figure
from noumena.report.files import write_pictures
from noumena.report.load import load
from noumena.report.page import page


@pytest.mark.skipif(not figure.available(), reason="pictures need matplotlib")
def test_every_picture_of_the_page_becomes_a_file(folder, tmp_path):
    html = page(load(folder))
    written = write_pictures(html, tmp_path / "pictures")
    assert len(set(written)) == len(written) == html.count("<svg ") > 3
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "currentColor" not in text and "background:#fff" in text
        assert re.fullmatch(r"[a-z0-9.-]+\.svg", path.name)


def test_a_page_without_pictures_writes_none(tmp_path):
    assert write_pictures("<html><head><title>a page</title></head></html>", tmp_path / "none") == []
