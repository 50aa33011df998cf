"""`noumena demo`: progress while it trains, then a table."""

import json

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..experiments.demo import Demo, Recovery

BEST = {"linear_r2": "1", "mcc": "1", "angle_error_normalised": "0"}
TITLES = {
    "linear_r2": "R², up to linear maps",
    "mcc": "MCC, up to permutations",
    "angle_error_normalised": "angle error, up to rotations",
}


def run_demo(seed: int, steps: int, as_json: bool) -> None:
    # The matrices are so small that a second thread saves no time, and costs much where a core is busy.
    torch.set_num_threads(1)
    console = Console(stderr=True)
    demonstration = Demo(seed=seed, steps=steps)
    if not as_json:
        console.print(
            "Latents z lie on a sphere; z' is drawn near z. A network that is never seen mixes both; "
            "an encoder learns from the mixed pairs alone, by InfoNCE."
        )
    with Progress(
        TextColumn("training"),
        BarColumn(),
        TextColumn("step {task.completed}/{task.total}  loss {task.fields[loss]}  R² {task.fields[r2]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=steps, loss="-", r2="-")
        for record in demonstration.run():
            progress.update(
                task, completed=record.step, loss=f"{record.loss:.3f}", r2=f"{record.metrics['linear_r2']:.4f}"
            )
    result = demonstration.result()
    if as_json:
        print(json.dumps(result.to_dict()))
    else:
        _show(result)


def _show(result: Recovery) -> None:
    table = Table(title=f"seed {result.seed}, {result.steps} steps, {result.seconds:.0f} s of training")
    for heading in ("", "recovered", "identity", "best"):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for name, title in TITLES.items():
        table.add_row(title, f"{result.recovered[name]:.4f}", f"{result.identity[name]:.4f}", BEST[name])
    table.add_row(
        "InfoNCE", f"{result.loss:.4f} ± {result.loss_error:.4f}", "", f"{result.floor:.4f} ± {result.floor_error:.4f}"
    )
    console = Console()
    console.print(table)
    console.print(
        "Identity scores the observations as they are. The best InfoNCE is the floor: the loss of the true density "
        "ratio. On a sphere with vMF pairs the theory promises the latents up to a rotation, so R² should reach 1 and "
        "the angle error 0, while MCC may stay below 1."
    )
