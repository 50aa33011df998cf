"""What to say when a name does not exist: the nearest one that does."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(given: str, options: Iterable[str]) -> str:
    """`did you mean ...?`, or the list of what there is."""
    options = list(options)
    near = get_close_matches(given, options, n=1, cutoff=0.5)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"choose one of {', '.join(f'`{option}`' for option in options)}." if options else "there is none to choose."
