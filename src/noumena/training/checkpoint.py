"""A run as one file: written whole or not at all, and never taken for whole when it is not."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import _checks, _files

FORMAT = "noumena checkpoint 1"


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is kept. `train` resumes from it if the file is there, and saves to it on the way.

    On the machine, number of threads and version of torch that wrote it, a resumed run ends as if undisturbed, bit for
    bit. A step is saved after its record has been handed out and the next one been asked for: records up to
    `step()` are in the caller's hands, and later ones are handed out (again) by the resumed run.

    Args:
        path: The file, in the safetensors format. Its folder must exist.
        seconds: Least training time between two saves; 0 saves after every step. The end of a run is always saved.
    """

    path: str | os.PathLike
    seconds: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        _checks.at_least("seconds", self.seconds, 0.0)
        if not Path(self.path).parent.is_dir():
            raise ValueError(f"`path` must lie in a folder that exists, got '{self.path}'; make the folder first.")

    def exists(self) -> bool:
        return Path(self.path).exists()

    def step(self) -> int:
        """The step the file holds, 0 if there is none; refused like `read` if the file is broken or foreign."""
        return self.read()[1]["step"] if self.exists() else 0

    def write(self, tensors: dict[str, Tensor], notes: dict[str, Any]) -> None:
        """Replace the file. Killed at any moment, this leaves the old file or the new one, both whole."""
        from safetensors.torch import save

        # Copied one by one: a tensor that appears under two names must not share its memory in the format.
        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
        metadata = {"format": FORMAT, "notes": json.dumps(notes), "sha256": _digest(tensors, notes)}
        _files.replace(Path(self.path), save(tensors, metadata))

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The tensors and notes of the file, checked against their digest."""
        from safetensors import SafetensorError, safe_open

        path = Path(self.path)
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                if metadata.get("format") != FORMAT:
                    raise ValueError(f"`path` must be a checkpoint of noumena, got '{path}'; move that file away.")
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ValueError(f"`path` must be a whole checkpoint, got '{path}' ({error}); remove it.") from error
        notes = json.loads(metadata["notes"])
        if metadata["sha256"] != _digest(tensors, notes):
            raise ValueError(f"`path` must be a whole checkpoint, got '{path}' (its digest is wrong); remove it.")
        return tensors, notes


def _digest(tensors: dict[str, Tensor], notes: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(notes, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
