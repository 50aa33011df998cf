"""`noumena render OUT`: a set of images with known factors; pictures of the scene, and its distance from another's."""

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..data import sheets
from ..data.rendered import Rendered, write

SHEET_SIZE = 896  # pixels of the longer side


def run_render(
    out: str | None,
    *,
    description: Rendered,
    workers: int | None,
    sheet: str | None,
    traversal: str | None,
    compare: str | None,
    as_json: bool,
) -> None:
    if out is None and traversal is None and compare is None:
        raise ValueError("name the folder to render into, or one of --traversal and --compare. See --help.")
    result: dict[str, object] = {}
    if compare is not None:
        frames, picture = sheets.compare(compare)
        result["frames"] = [frame._asdict() for frame in frames]
        result["mean"] = sum(frame.mean for frame in frames) / len(frames)
        if sheet is not None:
            result["sheet"] = str(sheets.save(sheet, picture, size=SHEET_SIZE))
        if not as_json:
            _show(frames)
    if traversal is not None:
        picture = sheets.traversal(_renderer(description.size))
        result["traversal"] = str(sheets.save(traversal, picture))
    if out is not None:
        result |= _set(out, description, workers or os.cpu_count() or 1)
        if sheet is not None and compare is None:
            result["sheet"] = str(sheets.save(sheet, sheets.contact(out, description), size=SHEET_SIZE))
    if as_json:
        print(json.dumps(result))
        return
    if out is not None:
        seconds, made = result["seconds"], result["rendered"]
        print(f"{made} images rendered in {seconds:.0f} s, {result['found']} were there: {result['folder']}")
    for name in ("sheet", "traversal"):
        if name in result:
            print(f"{name}: {result[name]}")


def _set(out: str, description: Rendered, workers: int) -> dict[str, object]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    start = time.perf_counter()
    steps = write(out, description, workers=workers)
    done, total, found = next(steps)  # what is wrong with a call is told before there is a bar
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("images", rate="", total=total, completed=done)
        for step in steps:
            done = step.done
            rate = (done - found) / max(time.perf_counter() - start, 1e-9)
            bar.update(task, completed=done, rate=f"{rate:.0f}/s")
    return {
        **asdict(description),
        "folder": str(description.folder(Path(out))),
        "rendered": done - found,
        "found": found,
        "seconds": time.perf_counter() - start,
    }


def _renderer(size: int) -> sheets.Renderer:
    return sheets.Renderer(size, pixel_samples=4, light_samples=4)


def _show(frames: list[sheets.Frame]) -> None:
    shown = Table(
        caption="Mean over pixels and channels of the absolute difference, in 255ths; and of the worst pixel."
    )
    for heading in ("frame", "mean", "worst"):
        shown.add_column(heading, justify="left" if heading == "frame" else "right")
    for frame in frames:
        shown.add_row(frame.name, f"{frame.mean:.2f}", f"{frame.worst:.0f}")
    shown.add_section()
    shown.add_row(
        "all", f"{sum(frame.mean for frame in frames) / len(frames):.2f}", f"{max(f.worst for f in frames):.0f}"
    )
    Console().print(shown)
