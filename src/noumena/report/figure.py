"""Panels -> one SVG that reads on light paper and on dark. Matplotlib is imported here alone."""

import hashlib
import io
import math
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from .markup import Markup, element

# Draws on the axes (of matplotlib) that it is given.
Panel = Callable[[Any], None]

INK = "#010203"  # stands for the colour of the text around the picture
COLOURS = ("#3683c4", "#dd7a22", "#2f9e6e", "#b65aa0", "#94862a", "#cf4b45", "#6a78d6", "#7d858d")

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "noumena",
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.1,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "figure.dpi": 72,
    "savefig.dpi": 150,  # of what is drawn as pixels
    **{f"{name}.color": INK for name in ("text", "xtick", "ytick", "grid")},
    **{name: INK for name in ("axes.edgecolor", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")},
}


def available() -> bool:
    """Whether there can be pictures."""
    return find_spec("matplotlib") is not None


def draw(
    panels: Sequence[Panel],
    alt: str,
    *,
    columns: int = 3,
    size: tuple[float, float] = (3.1, 2.4),
    margins: tuple[float, float, float, float] = (0.55, 0.1, 0.45, 0.25),
) -> Markup:
    """The panels in rows, as inline SVG.

    Args:
        panels: At least one.
        alt: What the picture shows, for those who do not see it.
        columns: Panels beside one another.
        size: Of one panel, in inches.
        margins: Left, right, below and above within a panel, for what is written there, in inches. They are given and
            not reckoned from the text, which would take as long again as the drawing.
    """
    if not available():
        raise ModuleNotFoundError("pictures need matplotlib; install `noumena[report]`.")
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(size[0] * columns, size[1] * rows))
        axes = figure.subplots(rows, columns, squeeze=False, gridspec_kw=_grid(size, margins, rows, columns)).ravel()
        for panel, ax in zip(panels, axes, strict=False):
            panel(ax)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return _inline(written.getvalue(), alt)


def logarithmic(ax: Any, axis: str, values: Sequence[float]) -> None:
    """A logarithmic axis whose marks are plain numbers: powers of ten, and more between them where they are few."""
    ax.set(**{f"{axis}scale": "log"})
    ax.minorticks_off()
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks: list[float] = []
    for steps in ((1,), (1, 2, 5), range(1, 10)):
        every = [step * 10.0**power for power in powers for step in steps]
        marks = marks if len(marks) > 2 else [mark for mark in every if 0.9 * low <= mark <= 1.1 * high]
    ax.set(**{f"{axis}ticks": marks, f"{axis}ticklabels": [f"{mark:g}" for mark in marks]})


def powers_of_two(ax: Any, values: Sequence[float]) -> bool:
    """A logarithmic axis across that is marked in powers of two; False, and nothing done, where few values are such."""
    exponents = sorted({round(math.log2(value)) for value in values if math.log2(value).is_integer()})
    if 2 * len(exponents) <= len(set(values)):
        return False
    ax.set_xscale("log", base=2)
    ax.minorticks_off()
    marks = exponents[:: math.ceil(len(exponents) / 9)]
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    ax.set(xticks=[2.0**mark for mark in marks], xticklabels=[f"2{str(mark).translate(raised)}" for mark in marks])
    return True


def _grid(
    size: tuple[float, float], margins: tuple[float, float, float, float], rows: int, columns: int
) -> dict[str, float]:
    """Margins in inches -> shares of the figure and of the axes."""
    (width, height), (left, right, below, above) = size, margins
    return {
        "left": left / (width * columns),
        "right": 1 - right / (width * columns),
        "bottom": below / (height * rows),
        "top": 1 - above / (height * rows),
        "wspace": (left + right) / (width - left - right),
        "hspace": (below + above) / (height - below - above),
    }


def _inline(svg: str, alt: str) -> Markup:
    """SVG of a file -> SVG within a page: no prologue, names of its own, a title, the page's ink."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace(INK, "currentColor")
    # Text is set in the face of the page; widths were reckoned in one that is a little wider.
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "sans-serif", svg)
    # A page has many pictures, whose names must differ; most are never referred to.
    svg = svg.replace('xlink:href="', 'href="')
    prefix = "f" + hashlib.sha256((alt + svg).encode()).hexdigest()[:8]
    used = {*re.findall(r"url\(#([^)]+)\)", svg), *re.findall(r'href="#([^"]+)"', svg)}
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    head, body = svg.split(">", 1)
    (box,) = re.findall(r'viewBox="[^"]+"', head)
    width = float(box.split()[2])
    title = element("title", alt, id=f"{prefix}-title")
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{prefix}-title" {box} '
        f'style="width:{width:.0f}pt">'
    )
    return Markup(f"{opening}{title}{body.strip()}")
