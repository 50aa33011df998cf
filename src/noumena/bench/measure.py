"""A stopwatch and a memory gauge."""

import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of a benchmark.

    Attributes:
        name: What was measured.
        ours, plain: Seconds of ours and of the plain implementation; None where there is nothing to compare with.
        claim: The ratio plain / ours that the project claims, or None.
        megabytes: Peak memory of ours beyond its inputs, where measured.
        plain_megabytes: The same for the plain implementation.
        note: What else to know.
    """

    name: str
    ours: float
    plain: float | None = None
    claim: float | None = None
    megabytes: float | None = None
    plain_megabytes: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.plain is None else self.plain / self.ours

    def to_dict(self) -> dict:
        return {**asdict(self), "ratio": self.ratio}


def seconds(run: Callable[[], object], repeats: int = 5, warmup: int = 1) -> float:
    """The least of several timings: what the work costs when nothing else disturbs it."""
    for _ in range(warmup):
        run()
    timings = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        timings.append(time.perf_counter() - start)
    return min(timings)


def peak_megabytes(prepare: Callable[..., Callable[[], object]], *arguments: object) -> float:
    """Growth of the resident peak while `prepare(*arguments)()` runs, in a process of its own.

    `prepare` makes the inputs; memory that they take is not counted.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_gauge, args=(sender, prepare, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def _gauge(sender, prepare: Callable[..., Callable[[], object]], arguments: tuple) -> None:
    run = prepare(*arguments)
    before = _reset_peak()
    run()
    sender.send((_peak() - before) / 2**20)


def _reset_peak() -> float:
    """Bytes resident now, from where the peak is counted anew; the peak so far on systems that cannot reset it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> float:
    try:
        return _status("VmHWM")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _status(entry: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * float(next(line.split()[1] for line in lines if line.startswith(entry)))
