"""The command line. Commands import what they need when they run, so that help comes at once."""

import sys
from typing import Annotated, NoReturn

import typer

import noumena

from .data import app as data
from .options import Json

# What typer raises on a wrong call; it has no public name for it besides this subclass.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

INTERRUPTED = 130
_ORACLE = "Of the part oracle"

app = typer.Typer(
    name="noumena",
    help="Identifiable contrastive learning: recover hidden factors, and measure how well.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(data, name="data")


def main() -> None:
    """Run the command line; exits 0 on success, 2 on a wrong call with one line, 130 on Ctrl-C."""
    try:
        code = app(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except UsageError as error:
        _stop(f"{error.format_message()} `noumena --help` lists what there is.", 2)  # pyright: ignore
    except (ValueError, LookupError, OSError, ModuleNotFoundError) as error:
        _stop(str(error), 2)
    # Typer turns Ctrl-C into an exit code of its own where it can.
    if code == INTERRUPTED:
        _stop("interrupted", code)
    sys.exit(code)


def _stop(message: str, code: int) -> NoReturn:
    print(f"noumena: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(noumena.__version__)
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    seed: Annotated[int, typer.Option(min=0, help="Decides the mixing, the pairs and the initial values.")] = 0,
    out: Annotated[str, typer.Option(help="Folder of the runs and, below it, of the page.")] = "runs",
    steps: Annotated[
        int | None, typer.Option(min=1, help="Training steps of each stage; the acts' own if left out.")
    ] = None,
    json: Json = False,
) -> None:
    """Tell the story in two minutes: recovery, collapse, and what restores what was lost. Ends with a page to open."""
    from .demo import run_demo

    run_demo(seed=seed, out=out, steps=steps, as_json=json)


@app.command("list")
def list_tables(
    table: Annotated[
        str | None, typer.Argument(help="One, such as zimmermann2021/table1, or the path of a file; all if left out.")
    ] = None,
    json: Json = False,
) -> None:
    """List the tables: rows, published numbers, recipes."""
    from .list import run_list

    run_list(table, as_json=json)


@app.command()
def run(
    table: Annotated[str, typer.Argument(help="A table of `noumena list`, or a file of your own ending in .toml.")],
    row: Annotated[list[str] | None, typer.Option("--row", help="Only this row; may be repeated.")] = None,
    seeds: Annotated[
        str | None, typer.Option(help="How many of the table's seeds (3), a range (100-104), or a list (1,7).")
    ] = None,
    recipe: Annotated[
        str, typer.Option(help="fast (ours), published (theirs, days long), small (of images).")
    ] = "fast",
    out: Annotated[str, typer.Option(help="Folder of the runs; finished ones are skipped, others resumed.")] = "runs",
    place: Annotated[str, typer.Option(help="local: one after another; workers: one process for each core.")] = "local",
    baselines: Annotated[bool, typer.Option(help="Run the rows' baselines too.")] = True,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps, or auto: cuda where there is any.")] = "cpu",
    processes: Annotated[
        int, typer.Option(min=1, help="That train each row together, on a GPU each or on the CPU; the extra `fabric`.")
    ] = 1,
    threads: Annotated[int, typer.Option(min=1, help="That each process may use; equal threads, equal numbers.")] = 1,
    json: Json = False,
) -> None:
    """Recompute a published table beside the printed numbers. Ctrl-C loses nothing: run it again to go on."""
    from .run import run_table

    run_table(table, row or [], seeds, recipe, out, place, baselines, device, processes, threads, as_json=json)


@app.command()
def report(
    out: Annotated[str, typer.Argument(help="Folder of runs, or of one table's.")] = "runs",
    html: Annotated[str | None, typer.Option(help="Where to write the page; DIR/report.html.")] = None,
    pictures: Annotated[str | None, typer.Option(help="A folder for the page's pictures as files (SVG), too.")] = None,
    table: Annotated[list[str] | None, typer.Option("--table", help="Only this table; may be repeated.")] = None,
    row: Annotated[list[str] | None, typer.Option("--row", help="Only this row; may be repeated.")] = None,
    every_number: Annotated[bool, typer.Option("--all", help="Numbers without a published one, too.")] = False,
    json: Json = False,
) -> None:
    """Print measured beside published numbers, and write a page with the pictures."""
    from .report import run_report

    run_report(
        out,
        html=html,
        pictures=pictures,
        tables=table or [],
        rows=row or [],
        every_number=every_number,
        as_json=json,
    )


@app.command()
def explain(
    table: Annotated[str, typer.Argument(help="A table of `noumena list`, or a file of your own ending in .toml.")],
    row: Annotated[list[str] | None, typer.Option("--row", help="Only this row, at length; may be repeated.")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="fast (ours) or published (theirs); published where a row has it.")
    ] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Search for a map of the latent sphere that beats every isometry; one row.")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, help="Of each start of the attack.")] = 800,
    seed: Annotated[int, typer.Option(min=0, help="Decides the draws of the attack.")] = 0,
    out: Annotated[str, typer.Option(help="Folder of the attack's picture.")] = "runs",
    json: Json = False,
) -> None:
    """Say up to which maps latents are identified, by which theorem, what is violated, and what would repair it."""
    from .explain import run_explain

    run_explain(table, row or [], recipe, attack, steps, seed, out, as_json=json)


@app.command()
def diagnose(
    anchors: Annotated[str, typer.Option(help="Embeddings (n, d) of anchors, .npy; observations with --encoder.")],
    positives: Annotated[str, typer.Option(help="Of their positives: row i belongs to row i.")],
    encoder: Annotated[
        str | None, typer.Option(help="A TorchScript file, or package.module:name to import; pickles are refused.")
    ] = None,
    test: Annotated[str | None, typer.Option(help="Rows from where the encoder is to be used.")] = None,
    factors: Annotated[str | None, typer.Option(help="Known factors (n, k) of the anchors.")] = None,
    factors_positive: Annotated[str | None, typer.Option(help="And of the positives.")] = None,
    augmentations: Annotated[str | None, typer.Option(help="Parameters (n, k) of what made each pair.")] = None,
    space: Annotated[str, typer.Option(help="sphere, box or free, if you know; told from the rows.")] = "auto",
    batch_size: Annotated[int, typer.Option(min=2, help="That you train with.")] = 512,
    seed: Annotated[int, typer.Option(min=0, help="Decides which rows are used where not all are.")] = 0,
    html: Annotated[str | None, typer.Option(help="Where to write a page with pictures.")] = None,
    json: Json = False,
) -> None:
    """Say what your own pairs violate: fixed directions, uneven movement, collapse, small batches, shifted tests."""
    from .diagnose import run_diagnose

    files = {
        "anchors": anchors,
        "positives": positives,
        "test": test,
        "factors": factors,
        "factors-positive": factors_positive,
        "augmentations": augmentations,
    }
    run_diagnose(files, encoder=encoder, space=space, batch_size=batch_size, seed=seed, html=html, as_json=json)


@app.command()
def render(
    out: Annotated[str | None, typer.Argument(help="Folder of the set; an unfinished one is gone on with.")] = None,
    n: Annotated[int, typer.Option(min=1, help="Images; of each object, with --classes.")] = 50_000,
    size: Annotated[int, typer.Option(min=1, help="Pixels of a side.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Decides latents and sampling; image i is that of any n.")] = 0,
    split: Annotated[
        str | None, typer.Option(help="train or test, each in a folder of its own below OUT; one set if left out.")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="Objects, as teapot,cube,hare.obj: sphere, cube, torus, cone, or files; Causal3DIdent's layout."
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one for each core if left out.")] = None,
    pixel_samples: Annotated[int, typer.Option(min=1, help="Rays through a pixel, along each side.")] = 2,
    light_samples: Annotated[int, typer.Option(min=1, help="Points on each light for each of these rays.")] = 2,
    sheet: Annotated[str | None, typer.Option(help="Write the first images, side by side, as PNG.")] = None,
    traversal: Annotated[str | None, typer.Option(help="Write each factor from -1 to 1 as PNG.")] = None,
    compare: Annotated[
        str | None, typer.Option(help="Folder of reference frames and latents.npy; --sheet shows them above ours.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a 3DIdent of your own: images of a lit teapot with ten known factors, in the released layout.

    Ctrl-C loses nothing: run it again to go on.
    """
    from ..data.rendered import Rendered
    from .render import run_render

    named = None if classes is None else tuple(classes.split(","))
    description = Rendered(n, size, seed, split, named, pixel_samples, light_samples)
    run_render(
        out,
        description=description,
        workers=workers,
        sheet=sheet,
        traversal=traversal,
        compare=compare,
        as_json=json,
    )


@app.command()
def bench(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            help="losses, samplers, grouped, scale, diagnose, augmentations, encoders, planted, oracle; "
            "the first three if left out."
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads that torch may use; its own choice. The oracle's runs take one.")
    ] = None,
    settings: Annotated[int, typer.Option(min=1, help="How many settings.", rich_help_panel=_ORACLE)] = 200,
    first_seed: Annotated[
        int, typer.Option(min=0, help="Of the first one; the others follow.", rich_help_panel=_ORACLE)
    ] = 1000,
    out: Annotated[
        str, typer.Option(help="Folder of the runs; finished ones are read, others resumed.", rich_help_panel=_ORACLE)
    ] = "runs",
    place: Annotated[
        str, typer.Option(help="local, or workers: one process for each core.", rich_help_panel=_ORACLE)
    ] = "local",
    json: Json = False,
) -> None:
    """Measure time and memory as ratios to plain implementations, in one run.

    Two parts measure how often we are right instead: planted (diagnoses of worlds with a known fault) and oracle
    (verdicts on random settings against what training finds; Ctrl-C loses nothing, run it again to go on).
    """
    from .bench import run_bench

    run_bench(parts or [], threads, settings, first_seed, out, place, as_json=json)


if __name__ == "__main__":
    main()
