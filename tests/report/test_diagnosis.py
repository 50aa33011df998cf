"""The page of a diagnosis: whole, escaped, self-contained."""

import re
from html.parser import HTMLParser

import pytest
import torch

from noumena.conditionals import FixedContent
from noumena.diagnostics import diagnose
from noumena.report import figure
from noumena.report.diagnosis import between, page, shown, write
from noumena.spaces import Sphere

VOID = {"meta", "br", "path", "use"}


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids = [], []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def diagnosis():
    generator = torch.Generator().manual_seed(0)
    z = Sphere(4).sample_uniform(2000, generator)
    return diagnose(z, FixedContent(20.0, 1).sample(z, generator=generator)).to_dict()


def test_the_page_has_every_reading(diagnosis):
    text = page(diagnosis, ["anchors: <a>.npy"])
    parser = Balanced()
    parser.feed(text)
    assert not parser.open and len(parser.ids) == len(set(parser.ids))
    for reading in diagnosis["readings"]:
        assert reading["name"] in parser.ids
    assert "✕ problem" in text and "&lt;a&gt;.npy" in text and "<script" not in text
    assert not re.search(r'(src|href)="(?!#)', text), "something is fetched"
    assert text == page(diagnosis, ["anchors: <a>.npy"])
    if figure.available():
        assert text.count("<svg") == sum(bool(reading["curves"]) for reading in diagnosis["readings"])


def test_without_matplotlib_there_are_numbers(diagnosis, monkeypatch):
    monkeypatch.setattr(figure, "available", lambda: False)
    text = page(diagnosis)
    assert "<svg" not in text and "noumena[report]" in text and "directions that never move" in text


def test_every_reading_has_a_picture(diagnosis):
    assert [reading["name"] for reading in diagnosis["readings"] if not reading["curves"]] == []


def test_it_is_written_where_there_is_a_folder(diagnosis, tmp_path):
    assert write(diagnosis, tmp_path / "page.html").read_text(encoding="utf-8") == page(diagnosis)
    with pytest.raises(FileNotFoundError, match="no folder"):
        write(diagnosis, tmp_path / "no" / "page.html")


def test_numbers():
    assert shown(0.123456) == "0.1235" and shown(65536.0) == "65536" and shown(2e7) == "2e+07" and shown(None) == ""
    assert between({"interval": None}) == "" and between({"interval": [1.0, None]}) == "1 to "
