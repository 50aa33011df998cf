"""Options that many commands have."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else to standard output.")]
