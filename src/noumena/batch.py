"""What is handed along the flow: a batch of pairs, and the embeddings of one."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Anchors and positives as observed, with the latents behind them where these are known.

    Attributes:
        x: Anchors (n, ...). Images and vectors alike: only the first axis is fixed.
        x_pos: Positives, one for each anchor, in the shape of `x`.
        x_neg: Drawn negatives, (m, ...) shared by all anchors or (n, m, ...) private to each; None if there are none.
        z, z_pos, z_neg: The latents of these, (n, d) and so on; None for data that exist already.
        group_size: Anchors come in consecutive groups of this size, and the members of one group share their
            fixed part (`GroupedSupport`); None if they are independent.
        processes: Rows come in this many consecutive blocks of one length, each from a generating process of its own
            (`Processes`); None if all are from one.
        labels: The class of each anchor (n,), int64, where images have one. For readers; no loss sees it.
        parameters, parameters_pos: What an augmentation did to each anchor and to each positive, by name, each tensor
            with n rows; None where nothing was augmented.
    """

    x: Tensor
    x_pos: Tensor
    x_neg: Tensor | None = None
    z: Tensor | None = None
    z_pos: Tensor | None = None
    z_neg: Tensor | None = None
    group_size: int | None = None
    processes: int | None = None
    labels: Tensor | None = None
    parameters: Mapping[str, Tensor] | None = None
    parameters_pos: Mapping[str, Tensor] | None = None


@dataclass(frozen=True, eq=False)
class PairEmbeddings:
    """What a loss sees: the embeddings of one batch, row i of `h_pos` belonging to row i of `h`.

    Attributes:
        h, h_pos: Embeddings of anchors and positives, (n, d).
        h_neg: Embeddings of drawn negatives, (m, d) shared or (n, m, d) private; None if there are none.
        z, z_pos: Latents; only for a loss that declares `uses_latents`.
        x, x_pos: Observations; only for a loss that declares `uses_observations`.
        group_size, processes: See `PairBatch`.
    """

    h: Tensor
    h_pos: Tensor
    h_neg: Tensor | None = None
    z: Tensor | None = None
    z_pos: Tensor | None = None
    x: Tensor | None = None
    x_pos: Tensor | None = None
    group_size: int | None = None
    processes: int | None = None
