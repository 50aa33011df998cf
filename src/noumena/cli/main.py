"""The command line. Commands import what they need when they run, so that help comes at once."""

import sys
from typing import Annotated, NoReturn

import typer

import noumena

# What typer raises on a wrong call; it has no public name for it besides this subclass.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

INTERRUPTED = 130

app = typer.Typer(
    name="noumena",
    help="Identifiable contrastive learning: recover hidden factors, and measure how well.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else to standard output.")]


def main() -> None:
    """Run the command line; exits 0 on success, 2 on a wrong call with one line, 130 on Ctrl-C."""
    try:
        code = app(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except UsageError as error:
        _stop(f"{error.format_message()} `noumena --help` lists what there is.", 2)  # pyright: ignore
    except (ValueError, LookupError, FileNotFoundError) as error:
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
    steps: Annotated[int, typer.Option(min=1, help="Training steps of 512 pairs.")] = 3000,
    json: Json = False,
) -> None:
    """Recover the latents of a sphere from pairs, in under a minute, and print how well."""
    from .demo import run_demo

    run_demo(seed=seed, steps=steps, as_json=json)


@app.command()
def bench(
    parts: Annotated[
        list[str] | None, typer.Argument(help="losses, samplers, grouped, scale; all but scale if left out.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads that torch may use; its own choice.")] = None,
    json: Json = False,
) -> None:
    """Measure time and memory as ratios to plain implementations, in one run."""
    from .bench import run_bench

    run_bench(parts or [], threads=threads, as_json=json)


if __name__ == "__main__":
    main()
