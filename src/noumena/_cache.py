"""The folder of what is fetched or trained once and used by many."""

import os
import sys
from pathlib import Path

VARIABLE = "NOUMENA_DATA"


def folder() -> Path:
    """The environment's NOUMENA_DATA, else the user's cache on this system."""
    if told := os.environ.get(VARIABLE):
        return Path(told).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "noumena"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "noumena" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "noumena"
