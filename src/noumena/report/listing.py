"""Lines -> an HTML table: ours and the published numbers in columns of their own, baselines beside."""

from collections.abc import Callable, Sequence

from .markup import Markup, element, join
from .table import Line


def number(mean: float | None, spread: float | None = None) -> str:
    """Four decimals, or six figures of what is large, with the spread if there is one."""
    if mean is None:
        return ""
    return _figures(mean) if spread is None else f"{_figures(mean)} ± {_figures(spread)}"


def signed(value: float | None) -> str:
    """The same behind a sign."""
    return "" if value is None else f"{'+' if value >= 0 else '-'}{_figures(abs(value))}"


def _figures(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"


OURS: dict[str, Callable[[Line], str]] = {
    "measured": lambda line: number(line.mean, line.spread),
    "worst": lambda line: number(line.worst),
    "published": lambda line: number(line.published, line.published_spread),
    "difference": lambda line: signed(line.difference),
    "floor": lambda line: number(line.floor),
    "gap": lambda line: signed(line.gap),
}


def listing(lines: Sequence[Line], names: dict[str, str]) -> Markup:
    """One table; a line for each row, recipe and metric. Columns without any entry are left out.

    Args:
        lines: Of one table file.
        names: What rows are called, by their id.
    """
    baselines = {
        baseline: any(line.published is not None for line in lines if line.baseline == baseline)
        for baseline in dict.fromkeys(line.baseline for line in lines if line.baseline)
    }
    own = [line for line in lines if not line.baseline]
    columns = [name for name, show in OURS.items() if any(show(line) for line in own)]
    blocks: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        blocks.setdefault((line.row, line.recipe), []).append(line)
    body = [
        written
        for (row, _), block in blocks.items()
        for written in _block(block, columns, baselines, names.get(row, ""))
    ]
    return element("div", element("table", _head(columns, baselines), element("tbody", *body)), class_="wide")


def _head(columns: list[str], baselines: dict[str, bool]) -> Markup:
    """Two lines: whose numbers, then which."""
    first = [element("th", name, rowspan=2, scope="col") for name in ("row", "recipe", "metric")]
    second = []
    for whose, shown in (("the row", columns), *((name, _beside(printed)) for name, printed in baselines.items())):
        first += [element("th", whose, colspan=len(shown), scope="colgroup")] if shown else []
        second += [element("th", name, scope="col", class_="number") for name in shown]
    first += [element("th", name, rowspan=2, scope="col") for name in ("seeds", "s per seed", "core s")]
    return element("thead", element("tr", *first), element("tr", *second))


def _beside(printed: bool) -> list[str]:
    """Columns of a baseline."""
    return ["measured", "published"] if printed else ["measured"]


def _block(block: Sequence[Line], columns: list[str], baselines: dict[str, bool], name: str) -> list[Markup]:
    """The lines of a row under a recipe. Several settings of it (digests) come one below the other."""
    made = []
    own = [line for line in block if not line.baseline]
    digests = list(dict.fromkeys(line.digest for line in own))
    for digest in digests or [""]:
        mine = {line.metric: line for line in own if line.digest == digest}
        metrics = list(mine or dict.fromkeys(line.metric for line in block))
        recipe = block[0].recipe + (f" ({digest[:6]})" if len(digests) > 1 else "")
        first = next(iter(mine.values()), block[0])
        for i, metric in enumerate(metrics):
            cells = []
            if i == 0:
                title = join(first.row, element("br"), element("small", name)) if name else first.row
                cells += [element("th", title, rowspan=len(metrics), scope="rowgroup")]
                cells += [element("td", recipe, rowspan=len(metrics))]
            cells.append(element("td", metric))
            cells += _cells(mine.get(metric), columns)
            for baseline, printed in baselines.items():
                beside = [line for line in block if line.baseline == baseline and line.metric == metric]
                cells += _cells(beside[-1] if beside else None, _beside(printed))
            if i == 0:
                cells += [element("td", ", ".join(map(str, first.seeds)), rowspan=len(metrics))]
                for time in (first.seconds, first.core_seconds):
                    cells.append(element("td", f"{time:.0f}", rowspan=len(metrics), class_="number"))
            made.append(element("tr", *cells))
    return made


def _cells(line: Line | None, columns: list[str]) -> list[Markup]:
    return [element("td", "" if line is None else OURS[column](line), class_="number") for column in columns]
