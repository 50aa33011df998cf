"""A bounding-volume tree over triangles, laid out so that a ray walks it without a stack."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from .mesh import Mesh

LEAF = 4  # triangles, at most, where splitting no longer pays


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in depth-first order: the child that is visited first follows its parent.

    A ray that misses the box of node i goes on at `skip[i]`, and so it does after a leaf; one that hits an inner box
    goes on at i + 1. The walk ends at `len(skip)`.

    Attributes:
        low, high: The box of each node.
        skip: Where to go on beyond it.
        first, count: Its triangles in `order`; none for an inner node.
        order: The triangles of the mesh in the order of the leaves.
    """

    low: Float64[np.ndarray, "b 3"]
    high: Float64[np.ndarray, "b 3"]
    skip: Int64[np.ndarray, " b"]
    first: Int64[np.ndarray, " b"]
    count: Int64[np.ndarray, " b"]
    order: Int64[np.ndarray, " f"]


def build(mesh: Mesh) -> Tree:
    """Splits where the surface-area heuristic expects the fewest tests, over all cuts between sorted centres."""
    low, high = mesh.corners.min(1), mesh.corners.max(1)
    centre = (low + high) / 2
    boxes: list[tuple[np.ndarray, np.ndarray]] = []
    skip: list[int] = []
    leaves: list[tuple[int, int]] = []
    order: list[int] = []
    # The second entry of a frame is a node whose subtree is then complete.
    pending: list[tuple[np.ndarray | None, int]] = [(np.arange(len(mesh)), -1)]
    while pending:
        members, done = pending.pop()
        if members is None:
            skip[done] = len(boxes)
            continue
        node = len(boxes)
        boxes.append((low[members].min(0), high[members].max(0)))
        skip.append(node + 1)
        halves = None if len(members) <= LEAF else _split(members, low, high, centre)
        if halves is None:
            leaves.append((len(order), len(members)))
            order.extend(members.tolist())
        else:
            leaves.append((len(order), 0))
            pending += [(None, node), (halves[1], -1), (halves[0], -1)]
    starts, counts = zip(*leaves, strict=True)
    return Tree(
        np.array([box[0] for box in boxes]),
        np.array([box[1] for box in boxes]),
        *(np.array(column, dtype=np.int64) for column in (skip, starts, counts, order)),
    )


def _split(members: np.ndarray, low: np.ndarray, high: np.ndarray, centre: np.ndarray):
    """The two halves of the best cut, or None where all centres coincide."""
    best, halves = np.inf, None
    left = np.arange(1, len(members))
    for axis in range(3):
        along = members[np.argsort(centre[members, axis], kind="stable")]
        if centre[along[0], axis] == centre[along[-1], axis]:
            continue
        before = _area(np.minimum.accumulate(low[along]), np.maximum.accumulate(high[along]))[:-1]
        behind = _area(np.minimum.accumulate(low[along][::-1]), np.maximum.accumulate(high[along][::-1]))[::-1][1:]
        cost = before * left + behind * (len(members) - left)
        cut = int(np.argmin(cost))
        if cost[cut] < best:
            best, halves = float(cost[cut]), (along[: cut + 1], along[cut + 1 :])
    return halves


def _area(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    side = high - low
    return side[:, 0] * side[:, 1] + side[:, 1] * side[:, 2] + side[:, 2] * side[:, 0]
