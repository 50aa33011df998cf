"""The gradient of a large batch in the memory of a small one."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from ..batch import PairBatch, PairEmbeddings
from ..losses.base import AbstractLoss
from .embedding import seen_by, views_of


class Chunks:
    """A batch that is encoded twice, a chunk at a time.

    A contrastive loss needs the embeddings of the whole batch, but not what the encoder computed on the way to them.
    By the chain rule its gradient for the encoder is a sum over observations, of the loss's slope at an embedding
    times that embedding's derivative. So the first pass encodes without a graph and the loss finds the slopes; the
    second, `backward`, encodes each chunk again and sends its slopes back through it. The result is the gradient of
    the whole batch, to rounding; the price is one more forward pass.

    Each chunk holds anchors with their positives, and its share of drawn negatives. Layers with batch statistics see
    a chunk where they would have seen the batch, and then the gradient is that of this other function. The second pass
    starts from the buffers and random states that the first one started from, so that it computes what the first did
    (dropout masks included), and running statistics move once.

    Args:
        encoder: Any module from observations to embeddings.
        batch: What to encode.
        chunk: The most observations that are encoded at once.
    """

    def __init__(self, encoder: nn.Module, batch: PairBatch, chunk: int) -> None:
        self.encoder, self.batch = encoder, batch
        views = views_of(batch)
        self.count = _count([len(view) for view in views], chunk)
        self.parts = _split(views, self.count)
        self.buffers = [buffer.clone() for buffer in encoder.buffers()]
        self.devices = [batch.x.device] if batch.x.device.type == "cuda" else []
        self.states = torch.get_rng_state(), [torch.cuda.get_rng_state(device) for device in self.devices]
        with torch.no_grad():
            encoded = [self._encoded(part) for part in self.parts]
        self.embeddings = [torch.cat(pieces).requires_grad_() for pieces in zip(*encoded, strict=True)]

    def seen(self, loss: AbstractLoss) -> PairEmbeddings:
        """For the loss, whose `backward` must come before ours."""
        return seen_by(loss, self.batch, self.embeddings)

    def backward(self, context: Callable[[], AbstractContextManager]) -> None:
        """Add the gradient of the loss to that of the encoder's parameters.

        Args:
            context: What the first pass ran in, such as autocast; entered anew for each chunk.
        """
        slopes = _split([torch.zeros_like(h) if h.grad is None else h.grad for h in self.embeddings], self.count)
        with torch.no_grad():
            for buffer, before in zip(self.encoder.buffers(), self.buffers, strict=True):
                buffer.copy_(before)
        with torch.random.fork_rng(self.devices):
            torch.set_rng_state(self.states[0])
            for device, state in zip(self.devices, self.states[1], strict=True):
                torch.cuda.set_rng_state(state, device)
            for part, slope in zip(self.parts, slopes, strict=True):
                with context():
                    h = self.encoder(torch.cat(part))
                h.backward(torch.cat(slope))

    def _encoded(self, part: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return self.encoder(torch.cat(part)).split([len(view) for view in part])


def _count(lengths: Sequence[int], chunk: int) -> int:
    """The least number of chunks that keeps each within `chunk` rows, or to one row of each view."""
    count = -(-sum(lengths) // chunk)
    while count < max(lengths) and sum(-(-length // count) for length in lengths) > chunk:
        count += 1
    return count


def _split(views: Sequence[Tensor], count: int) -> list[tuple[Tensor, ...]]:
    """For each chunk its rows of every view."""
    return list(zip(*(view.tensor_split(count) for view in views), strict=True))
