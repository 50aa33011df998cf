"""Many pairs: time grows with their number, memory does not."""

from collections.abc import Callable, Iterator

from ..batch import PairEmbeddings
from ..losses import InBatch, InfoNCE
from .losses import CASES, DIM, embeddings, score
from .measure import Row, peak_megabytes, seconds

SIZES = (16_384, 32_768, 65_536)


def run() -> Iterator[Row]:
    """65 536 anchors against 65 536 candidates for every score; the smaller sizes show how time grows."""
    for name in CASES:
        smaller = None
        for size in SIZES:
            taken = seconds(_step(name, size), repeats=1, warmup=0)
            note = "" if smaller is None else f"{taken / smaller:.1f} times the time for 4 times the pairs"
            memory = peak_megabytes(_step, name, size) if size == SIZES[-1] else None
            yield Row(f"InfoNCE {name}, {size} x {size}, d = {DIM}", taken, megabytes=memory, note=note)
            smaller = taken


def _step(name: str, size: int) -> Callable[[], object]:
    h, h_pos = embeddings(size)
    batch = PairEmbeddings(h.requires_grad_(), h_pos.requires_grad_())
    loss = InfoNCE(score(name), InBatch())
    return lambda: loss(batch).total.backward()
