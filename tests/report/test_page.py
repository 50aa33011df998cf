"""One file that stands by itself: valid, escaped, nothing fetched, and whole without pictures and without script."""

import re
from html.parser import HTMLParser

import pytest

from noumena.report import figure
from noumena.report.load import load, unfinished
from noumena.report.page import page, write

VOID = {"meta", "br", "img", "link"}
FETCHING = {"src", "href", "xlink:href", "srcset", "action", "data", "poster"}


class Reader(HTMLParser):
    """Refuses what a strict reader would, and keeps what a reader sees."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.text, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value)
            if key in FETCHING:
                assert value.startswith(("#", "data:")), f"{tag} fetches {value}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if not {"script", "style"} & {*self.open}:
            self.text.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def pictured(folder):
    """With the pictures of every row."""
    pytest.importorskip("matplotlib")
    return page(load(folder), unfinished(folder), every_row=True)


@pytest.fixture(params=["pictures", "tables alone"])
def html(request, folder, monkeypatch):
    if request.param == "pictures":
        return request.getfixturevalue("pictured")
    monkeypatch.setattr(figure, "available", lambda: False)
    return page(load(folder), unfinished(folder))


def test_it_is_valid_and_fetches_nothing(html):
    reader = read(html)
    assert html.startswith("<!DOCTYPE html>") and len(set(reader.ids)) == len(reader.ids)
    outside = html.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert "http:" not in outside and "https:" not in outside and "@import" not in outside
    assert "link" not in reader.tags and "iframe" not in reader.tags


def test_text_of_tables_is_escaped(html):
    assert "<b>of row</b>" not in html and "Every kind &lt;b&gt;of row&lt;/b&gt;" in html
    seen = "".join(read(html).text)
    assert 'A note with <i>marks</i> & "quotes".' in seen and "a <sphere>" in seen


def test_numbers_stand_outside_of_scripts(html, folder):
    seen = "".join(read(html).text)
    for run in load(folder):
        assert run.outcome["row"] in seen
    assert "0.9000 ± 0.0100" in seen and "0.4000" in seen and "loss - log M" in seen
    assert "precision (fast), seed 1: step 2 of 40" in seen, "an unfinished run is not named"


def test_what_is_missing_without_matplotlib_is_said(folder, monkeypatch):
    monkeypatch.setattr(figure, "available", lambda: False)
    reader = read(page(load(folder)))
    assert "svg" not in reader.tags and "noumena[report]" in "".join(reader.text)


def test_every_kind_of_row_has_its_figures(pictured):
    articles = {
        text.split("<h3>")[1].split(":")[0]: text.split("</article>")[0] for text in pictured.split("<article>")[1:]
    }
    learning, scatter, spheres = "Loss and distance", "True coordinates", "Latents, observations, recovered"
    kinds = {
        "sphere": [learning, scatter, spheres],
        "precision": [learning, scatter, spheres, "Learned values"],
        "box": [learning, scatter, "Learned values", "What diagnostics"],
        "power-1": [],
    }
    for row, captions in kinds.items():
        found = re.findall(r"<figcaption>([^<]*)", articles[row])
        assert len(found) == len(captions) == articles[row].count("<svg"), (row, found)
        assert all(caption.startswith(start) for caption, start in zip(found, captions, strict=True)), found
    assert "matched one to one" in articles["box"] and "best affine map" in articles["sphere"]
    assert pictured.count("<figcaption>Numbers over power") == 1
    assert pictured.count("<title id=") == pictured.count("<svg"), "a picture without words"


def test_rows_of_a_sweep_are_drawn_when_asked_alone(folder):
    pytest.importorskip("matplotlib")
    html = page(load(folder / "sweep"))
    assert html.count("<svg") == 1 and "draws the pictures of a single row" in html


def test_the_same_runs_make_the_same_page(folder):
    pytest.importorskip("matplotlib")
    first, second = (page(load(folder, rows=["precision"])) for _ in range(2))
    assert first == second


def test_no_path_of_the_machine_is_told(html, folder):
    assert str(folder) not in html


def test_it_is_written_whole(folder, tmp_path):
    path = write(load(folder / "sweep"), [], tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == page(load(folder / "sweep"))
    with pytest.raises(FileNotFoundError, match="no folder"):
        write([], [], tmp_path / "nowhere" / "page.html")
