"""`python -m noumena`."""

from .cli.main import main

main()
