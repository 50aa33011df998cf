"""`noumena diagnose`: readings of arrays on disk, as a table, as JSON, as a page."""

import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..diagnostics import Diagnosis, diagnose
from ..report import figure
from ..report.diagnosis import SIGNS, between, shown, write
from . import encoder as encoders

WIDTH = 132
COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


def run_diagnose(
    files: dict[str, str | None],
    *,
    encoder: str | None,
    space: str,
    batch_size: int,
    seed: int,
    html: str | None,
    as_json: bool,
) -> None:
    """`files` by option: anchors, positives, test, factors, factors-positive, augmentations."""
    if html is not None and not Path(html).parent.is_dir():
        raise FileNotFoundError(f"no folder `{Path(html).parent}` for the page; make it, or name another file.")
    arrays = {name: _load(name, path) for name, path in files.items() if path is not None}
    model = None if encoder is None else encoders.load(encoder)
    columns = TextColumn("{task.description:24}"), BarColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task("", total=1.0)
        if model is not None:
            for name in ("anchors", "positives", "test"):
                if name in arrays:
                    told = _told(bar, task, f"encoding {name}")
                    arrays[name] = encoders.encode(model, f"--{name}", arrays[name], told)
        try:
            found = diagnose(
                arrays["anchors"],
                arrays["positives"],
                h_test=arrays.get("test"),
                factors=arrays.get("factors"),
                factors_positive=arrays.get("factors-positive"),
                augmentations=arrays.get("augmentations"),
                space=space,
                batch_size=batch_size,
                seed=seed,
                progress=lambda what, share: bar.update(task, description=what, completed=share),
            )
        except TypeError as error:
            # An array of the wrong kind is a wrong call here.
            raise ValueError(str(error)) from error
    given = [f"{name}: {path}" for name, path in files.items() if path is not None]
    source = given if encoder is None else [*given, f"encoder: {encoder}"]
    page = None if html is None else write(found.to_dict(), Path(html), source)
    if as_json:
        print(json.dumps({**found.to_dict(), "page": None if page is None else str(page)}))
        return
    _show(found)
    if page is not None:
        without = "" if figure.available() else " (without pictures: they need matplotlib; install noumena[report])"
        print(f"page: {page}{without}")


def _load(name: str, path: str) -> np.ndarray:
    """Memory-mapped; never unpickled."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"no file `{path}` for `--{name}`.")
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"`--{name}` must be a .npy file of numbers, as numpy.save writes it; got {path} ({error})."
        ) from error


def _told(bar: Progress, task: TaskID, what: str):
    return lambda share: bar.update(task, description=what, completed=share)


def _show(found: Diagnosis) -> None:
    console = Console(width=max(Console().width, WIDTH))
    table = Table(
        title=f"{found.n} pairs of {found.dim} coordinates, {found.space}",
        caption=f"Intervals hold in 95 % of cases; all tests together alarm falsely in at most {found.level:.0%}.",
    )
    for heading in ("", "verdict", "number", "value", "interval", "p"):
        right = heading in ("value", "interval", "p")
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != "number")
    for reading in found.to_dict()["readings"]:
        colour = COLOURS[reading["verdict"]]
        p = "" if reading["p_value"] is None else f"{reading['p_value']:.2g}"
        verdict = f"[{colour}]{SIGNS[reading['verdict']]}[/]"
        table.add_row(reading["name"], verdict, reading["number"], shown(reading["value"]), between(reading), p)
    console.print(table)
    for reading in found:
        console.print(f"{reading.name}: {reading.sentence}", markup=False, highlight=False, soft_wrap=True)
        if reading.advice:
            console.print(f"  -> {reading.advice}", markup=False, highlight=False, soft_wrap=True)
