"""Where a run computes: on which device, and in how many processes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from .. import _checks

T = TypeVar("T")

KINDS = ("cpu", "cuda", "mps")


@dataclass(frozen=True)
class Alone:
    """The one process of a run that has no others, in the words of `lightning_fabric.Fabric`.

    Attributes:
        device: Where it computes.
    """

    device: torch.device
    global_rank: int = 0
    world_size: int = 1
    is_global_zero: bool = True


@dataclass(frozen=True)
class Devices:
    """A device and a number of processes. What this machine does not have is refused here.

    One process needs nothing installed. Several train on one batch together, each on its share: on GPUs of their own
    (the first ones there are; CUDA_VISIBLE_DEVICES chooses others), or all on the CPU. They need Lightning Fabric:
    `pip install noumena[fabric]`.

    Args:
        device: "cpu", "cuda", "cuda:1", "mps", or "auto": "cuda" where there is any, "cpu" otherwise (never "mps",
            which has no float64, in which worlds are built). It is what "auto" came to once this is made.
        processes: How many.
    """

    device: str = "auto"
    processes: int = 1

    def __post_init__(self) -> None:
        _checks.count("processes", self.processes)
        if _checks.kind("device", self.device, str, "Pass one such as 'cuda'.") == "auto":
            object.__setattr__(self, "device", "cuda" if torch.cuda.is_available() else "cpu")
        device = _parsed(self.device)
        if device.type != "cpu":
            _check_present(device, self.processes)
        if self.processes > 1:
            if device.index is not None or device.type == "mps":
                raise ValueError(
                    f"`device` must be 'cpu' or 'cuda' for {self.processes} processes, each of which takes one GPU of "
                    f"its own; got {self.device!r}."
                )
            from .fabric import lightning

            lightning()  # a missing extra is told now, not once everything has been built

    def launch(self, work: Callable[..., T], *args: Any) -> T:
        """Call `work(fabric, *args)` in every process; returns what the first one returned.

        One process is this one, and `fabric` an `Alone`. Several are started anew, so that `work` must be a function
        of a module, and the program's own start stand under `if __name__ == "__main__":`. Each then has a
        `lightning_fabric.Fabric`. Whatever stops one of them stops all, and is raised here.
        """
        if self.processes == 1:
            return work(Alone(_parsed(self.device)), *args)
        from .fabric import launch

        return launch(_parsed(self.device).type, self.processes, work, args)


def _parsed(device: str) -> torch.device:
    try:
        found = torch.device(device)
    except RuntimeError:
        found = None
    if found is None or found.type not in KINDS:
        raise ValueError(f"`device` must be 'cpu', 'cuda', one such as 'cuda:1', 'mps' or 'auto'; got {device!r}.")
    return found


def _check_present(device: torch.device, processes: int) -> None:
    count = torch.cuda.device_count() if device.type == "cuda" else int(torch.backends.mps.is_available())
    needed = max(processes, (device.index or 0) + 1)
    if count < needed:
        where = f"'{device}'" if processes == 1 else f"'{device}' for {processes} processes"
        raise ValueError(
            f"`device` cannot be {where} here: that takes {needed} of kind {device.type}, and torch finds {count}; "
            "choose 'cpu' or 'auto'."
        )
