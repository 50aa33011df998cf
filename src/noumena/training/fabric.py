"""Several processes through Lightning Fabric, which only this file imports."""

import os
import pickle
import signal
import socket
import tempfile
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.multiprocessing import start_processes

from .. import _checks, _files

T = TypeVar("T")

RESULT, FAILURE = "result", "failure-"


def lightning() -> ModuleType:
    """The package, or an error that says what to install."""
    try:
        import lightning_fabric
    except ModuleNotFoundError as error:
        message = f"several processes need Lightning Fabric ({error}): run `pip install noumena[fabric]`."
        raise ModuleNotFoundError(message, name=error.name) from error
    return lightning_fabric


def check(fabric: Any) -> None:
    """Refuse a Fabric that `train` cannot mean: of another kind, not launched, or with a precision of its own."""
    _checks.kind("fabric", fabric, lightning().Fabric, "Pass what `Devices(...).launch` hands to `work`.")
    from lightning_fabric.strategies import DDPStrategy, SingleDeviceStrategy

    if not isinstance(fabric.strategy, DDPStrategy | SingleDeviceStrategy):
        raise ValueError(
            f"`fabric` must hold the whole encoder in every process, got `{type(fabric.strategy).__name__}`; "
            'build it with `strategy="ddp"`.'
        )
    if (precision := fabric.strategy.precision.precision) != "32-true":
        raise ValueError(
            f"`fabric` must leave the precision to `train`, got {precision!r}; build it without, and pass "
            '`precision="bf16"` to `train`.'
        )
    if fabric.world_size > 1 and not dist.is_initialized():
        raise ValueError("`fabric` must be launched before it trains in several processes; call `fabric.launch()`.")


def launch(accelerator: str, processes: int, work: Callable[..., T], args: tuple[Any, ...]) -> T:
    """`Devices.launch` in several processes of this machine.

    Results and errors are handed over in files: Fabric's own launcher sends them through a pipe that is read only once
    all processes have ended, in which large results get stuck and tensors are lost.
    """
    try:
        pickle.dumps((work, args))
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise TypeError(f"`work` must be a function of a module, with arguments that can be sent: {error}.") from error
    with tempfile.TemporaryDirectory(prefix="noumena-") as name:
        folder = Path(name)
        meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
        told = (name, meeting, accelerator, processes, work, args)
        running: list[Any] = start_processes(_process, told, processes, join=False).processes  # pyright: ignore
        try:
            waiting = {process.sentinel: process for process in running}
            while waiting:
                for sentinel in wait(list(waiting)):
                    process = waiting.pop(sentinel)  # pyright: ignore[reportArgumentType]
                    process.join()
                    if process.exitcode:
                        raise _reason(folder, running)
        finally:
            # Without them no process of ours outlives an interrupt, and none is waited for at exit.
            for process in running:
                if process.is_alive():
                    process.kill()
                process.join()
        if not (folder / RESULT).exists():
            raise RuntimeError("the first process was interrupted; run again to go on.")
        return pickle.loads((folder / RESULT).read_bytes())


def _reason(folder: Path, running: Sequence[Any]) -> Exception:
    """Why the processes stopped: the end of one makes the others fail as well, which wait for it."""
    for rank, process in enumerate(running):
        if process.exitcode is not None and process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            return RuntimeError(
                f"process {rank} of {len(running)} was ended by {name}, as a system does that runs out of memory, "
                "and the others were stopped; run again to go on."
            )
    failures = sorted(folder.glob(f"{FAILURE}*"), key=lambda path: path.stat().st_mtime_ns)
    return pickle.loads(failures[0].read_bytes()) if failures else RuntimeError("a process ended without a word.")


def _process(
    rank: int,
    folder: str,
    meeting: dict[str, str],
    accelerator: str,
    processes: int,
    work: Callable[..., Any],
    args: tuple[Any, ...],
) -> None:
    """What one process does. Its rank is in the environment, as Fabric wants it of processes that others started."""
    os.environ |= {**meeting, "LOCAL_RANK": str(rank), "NODE_RANK": "0"}
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, torch.get_num_threads() // processes))  # or all would crowd every core
    try:
        package = lightning()
        import logging

        from lightning_fabric.plugins.environments import LightningEnvironment

        logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
        environment = LightningEnvironment()
        fabric = package.Fabric(accelerator=accelerator, devices=processes, strategy="ddp", plugins=[environment])
        fabric.launch()
        found = work(fabric, *args)
        if rank == 0:
            Path(folder, RESULT).write_bytes(pickle.dumps(found))
    except Exception as error:
        _hand_over(Path(folder, f"{FAILURE}{rank}"), error)
        raise
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _hand_over(path: Path, error: Exception) -> None:
    """Whole or not at all; where it happened is told in a note, since tracebacks cannot be sent."""
    told = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"raised in another process:\n{told}")
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:
        content = pickle.dumps(RuntimeError(told))
    _files.replace(path, content)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
