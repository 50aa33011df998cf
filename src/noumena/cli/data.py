"""`noumena data`: what is stored, fetching it, checking it."""

import json as formats
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Json

if TYPE_CHECKING:
    from ..data.fetch import StoredSet

app = typer.Typer(help="Fetch and check image sets, kept in a folder of their own. Alone, it lists them.")

Cache = Annotated[
    str | None, typer.Option(help="Folder of the data; by default NOUMENA_DATA, or the user's cache of this system.")
]


@app.callback(invoke_without_command=True)
def _list_alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_sets()


@app.command("list")
def list_sets(cache: Cache = None, json: Json = False) -> None:
    """List the sets: what is here, how large it is, whether it is verified."""
    from rich.console import Console
    from rich.table import Table

    from ..data.cache import folder
    from ..data.sets import ELSEWHERE

    found = _found(cache)
    if json:
        print(formats.dumps({"cache": str(folder(cache)), "sets": found, "elsewhere": ELSEWHERE}))
        return
    table = Table(title=f"data in {folder(cache)}")
    for heading in ("name", "state", "size", "what"):
        table.add_column(heading, justify="right" if heading == "size" else "left", no_wrap=heading != "what")
    for one in found:
        table.add_row(one["name"], one["state"], _size(one["bytes"]), one["title"])
    console = Console()
    console.print(table)
    console.print("Read in their own layout, from a folder of yours:", markup=False, highlight=False)
    for name, where in ELSEWHERE.items():
        console.print(f"  {name:14} {where}", markup=False, highlight=False)


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="mnist, cifar10, fashion-mnist.")],
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Bring sets into the cache, from several sources in turn; the checksum decides. Ctrl-C loses nothing."""
    from ..data.fetch import fetch as bring
    from ..data.sets import named

    wanted = [named(name) for name in names]
    with _Bar() as told:
        for one in wanted:
            bring(one, cache, told)
    _say([_described(one, cache) for one in wanted], json)


@app.command()
def vae(
    name: Annotated[str, typer.Argument(help="mnist or fashion-mnist, fetched before.")] = "mnist",
    seed: Annotated[int, typer.Option(min=0, help="Decides initial values, batches and noise.")] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="How often as many images are seen as there are.")] = 50,
    out: Annotated[
        str | None, typer.Option(help="The file, or a name in the cache; by default that of the set.")
    ] = None,
    json: Json = False,
) -> None:
    """Train the autoencoder whose decoder tables use as a world, once. Ctrl-C loses nothing: run it again to go on."""
    from ..data import MNIST, FashionMNIST
    from ..experiments.vae import train_vae

    tables = {"mnist": MNIST, "fashion-mnist": FashionMNIST}
    if name not in tables:
        raise LookupError(f"no grey images `{name}`; choose from {', '.join(tables)}.")
    epoch = count(1)
    with _Bar(of_bytes=False) as told:
        path = train_vae(
            tables[name](),
            seed=seed,
            epochs=epochs,
            out=out,
            progress=lambda seen: told(f"epoch, loss {seen.loss:.1f}", next(epoch), epochs),
        )
    print(formats.dumps({"file": str(path)}) if json else f"autoencoder: {path}")


@app.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(help="All that is here, if left out.")] = None,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Read every stored file again and compare it with its checksum."""
    from ..data.fetch import state
    from ..data.mapped import check_copy, copies
    from ..data.sets import FETCHED, named

    wanted = [named(name) for name in names or ()] or [one for one in FETCHED.values() if state(one, cache) != "absent"]
    wrong = []
    with _Bar() as told:
        for one in wanted:
            try:
                one.check(cache, told)
            except (ValueError, FileNotFoundError) as error:
                wrong.append(str(error))
        for path in () if names else copies(cache):
            try:
                check_copy(path, told)
            except ValueError as error:
                wrong.append(str(error))
    if wrong:
        more = f" ({len(wrong) - 1} more are damaged or missing)" if wrong[1:] else ""
        raise ValueError(f"{wrong[0]}{more}")
    _say([_described(one, cache) for one in wanted] if names else [one for one in _found(cache) if one["bytes"]], json)


def _found(cache: str | None) -> list[dict[str, Any]]:
    from ..data.cache import marked
    from ..data.mapped import copies
    from ..data.sets import FETCHED

    kept = [
        {
            "name": path.name,
            "title": "a decoded copy",
            "state": "verified" if marked(path) else "unverified",
            "bytes": path.stat().st_size,
            "folder": str(path.parent),
        }
        for path in copies(cache)
    ]
    return [_described(one, cache) for one in FETCHED.values()] + kept


def _described(one: "StoredSet", cache: str | None) -> dict[str, Any]:
    from ..data.fetch import state

    folder = one.folder(cache)
    here = [folder / facts.name for facts in one.files if (folder / facts.name).is_file()]
    return {
        "name": one.name,
        "title": one.title,
        "state": state(one, cache),
        "bytes": sum(path.stat().st_size for path in here),
        "folder": str(folder),
    }


def _say(found: list[dict[str, Any]], json: bool) -> None:
    if json:
        print(formats.dumps({"sets": found}))
        return
    for one in found:
        print(f"{one['name']}: {one['state']}, {_size(one['bytes'])} in {one['folder']}")
    if not found:
        print("nothing is stored; `noumena data` lists what can be fetched")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count else ""


class _Bar:
    """A bar on standard error, told as `data.cache.Progress` says: of bytes, or of whatever is counted."""

    def __init__(self, *, of_bytes: bool = True) -> None:
        self.of_bytes = of_bytes

    def __enter__(self):
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        done = DownloadColumn() if self.of_bytes else MofNCompleteColumn()
        columns = TextColumn("{task.description:28}"), BarColumn(), done, TimeElapsedColumn()
        console = Console(stderr=True)
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.bar.start()
        self.task = self.bar.add_task("", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self.bar.update(self.task, description=what, completed=done, total=total)
