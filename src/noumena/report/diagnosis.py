"""A diagnosis -> one page: a summary, then each reading with its number, sentence, advice and picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _files
from . import figure
from .figure import COLOURS, Panel, draw, logarithmic
from .markup import Markup, element, join
from .page import head

SIGNS = {"ok": "✓ ok", "warning": "▲ warning", "problem": "✕ problem"}  # readable without colour
WIDE = 50.0  # largest over smallest, beyond which an axis is logarithmic


def page(diagnosis: Mapping[str, Any], source: Sequence[str] = ()) -> str:
    """The page as HTML.

    Args:
        diagnosis: As `Diagnosis.to_dict` gives it.
        source: What the arrays were, a line each.
    """
    title = "noumena: diagnosis"
    parts = [element("h1", title), element("ul", *(element("li", line) for line in source)) if source else join()]
    parts.append(
        element(
            "p",
            f"{diagnosis['n']} pairs of {diagnosis['dim']} coordinates, space: {diagnosis['space']}. Over all tests "
            f"together, a false alarm comes in at most {diagnosis['level']:.0%} of cases; intervals hold the truth in "
            "95 %. docs/diagnosis.md states every test.",
        )
    )
    if not figure.available():
        missing = "There are no pictures: they need matplotlib. Install noumena[report]."
        parts.append(element("p", missing, class_="note"))
    parts.append(_summary(diagnosis["readings"]))
    parts += [_reading(reading) for reading in diagnosis["readings"]]
    return (
        "<!DOCTYPE html>\n" + element("html", head(title), element("body", element("main", *parts)), lang="en") + "\n"
    )


def write(diagnosis: Mapping[str, Any], path: Path, source: Sequence[str] = ()) -> Path:
    """The page as a file, whole at every moment."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder `{path.parent}` for the page; make it, or name another file.")
    _files.replace(path, page(diagnosis, source).encode())
    return path


def shown(value: float | None) -> str:
    """Four figures, in full up to a million."""
    return "" if value is None else f"{value:.4g}" if abs(value) < 1e4 or abs(value) >= 1e6 else f"{value:.0f}"


def between(reading: Mapping[str, Any]) -> str:
    """The interval of a reading."""
    ends = reading["interval"]
    return "" if ends is None else f"{shown(ends[0])} to {shown(ends[1])}"


def _summary(readings: Sequence[Mapping[str, Any]]) -> Markup:
    names = ("", "verdict", "number", "value", "95 % interval", "p", "what was found")
    head = element("thead", element("tr", *(element("th", name, scope="col") for name in names)))
    body = [
        element(
            "tr",
            element("th", element("a", reading["name"], href=f"#{reading['name']}"), scope="row"),
            element("td", SIGNS[reading["verdict"]]),
            element("td", reading["number"]),
            element("td", shown(reading["value"]), class_="number"),
            element("td", between(reading), class_="number"),
            element("td", "" if reading["p_value"] is None else f"{reading['p_value']:.2g}", class_="number"),
            element("td", reading["sentence"]),
        )
        for reading in readings
    ]
    return element("div", element("table", head, element("tbody", *body)), class_="wide")


def _reading(reading: Mapping[str, Any]) -> Markup:
    parts = [element("h2", f"{reading['name']}: {SIGNS[reading['verdict']]}", id=reading["name"])]
    parts.append(element("p", reading["sentence"]))
    if reading["value"] is not None:
        interval = f" (95 % interval {between(reading)})" if reading["interval"] else ""
        parts.append(element("p", f"{reading['number']}: {shown(reading['value'])}{interval}."))
    if reading["advice"]:
        parts.append(element("p", element("strong", "What to change: "), reading["advice"]))
    if reading["test"]:
        p = "" if reading["p_value"] is None else f" p = {reading['p_value']:.2g}."
        parts.append(element("p", reading["test"] + p, class_="note"))
    if reading["curves"] and figure.available():
        panels = [_panel(axes, curves) for axes, curves in _by_axes(reading["curves"]).items()]
        picture = draw(panels, f"{reading['name']}: {reading['sentence']}", size=(4.2, 2.8))
        caption = "Bands are 95 % intervals." if any(name.endswith(", low") for name in reading["curves"]) else ""
        parts.append(element("figure", picture, element("figcaption", caption)))
    return element("article", *parts)


def _by_axes(curves: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    panels: dict[tuple[str, str], dict[str, Any]] = {}
    for name, curve in curves.items():
        panels.setdefault((curve["x_label"], curve["y_label"]), {})[name] = curve
    return panels


def _panel(labels: tuple[str, str], curves: Mapping[str, Any]) -> Panel:
    """Curves of one pair of axes; those named "NAME, low" and "NAME, high" as a band about NAME."""

    def paint(ax: Any) -> None:
        lines = {name: curve for name, curve in curves.items() if not name.endswith((", low", ", high"))}
        for (name, curve), colour in zip(lines.items(), COLOURS, strict=False):
            few = len(curve["x"]) <= 40 and name + ", low" in curves
            ax.plot(curve["x"], curve["y"], "o-" if few else "-", markersize=3, color=colour, label=name)
            if few or name + ", low" in curves:
                low, high = (curves[f"{name}, {end}"]["y"] for end in ("low", "high"))
                ax.fill_between(curve["x"], low, high, color=colour, alpha=0.25, linewidth=0)
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
        for axis in ("x", "y"):
            values = [value for curve in curves.values() for value in curve[axis]]
            if min(values) > 0 and max(values) / min(values) > WIDE and (axis == "y" or max(values) > 1e4):
                logarithmic(ax, axis, values)
        ax.legend()

    return paint
