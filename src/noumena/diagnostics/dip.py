"""How far a sample is from having one mode: the dip of Hartigan and Hartigan (1985)."""

import numpy as np


def dip(values: np.ndarray) -> float:
    """The least distance, over all laws with one mode, between their distribution function and the sample's.

    A distribution function with its mode at m is convex before it and concave after, and may jump at m. To lie within
    t of the sample's F, its convex part must pass below F(x-) + t and above F(x) - t at the points before m: this can
    be done if and only if the greatest convex minorant of the points (x, F(x-) + t) does, so that t is half the
    largest excess of F(x) over the minorant of F(x-). The concave part is the same seen from the other end. As m moves
    up the first requirement grows and the second falls, so that halving finds where they meet.

    Between 1 / 2n, for evenly spaced points, and 1/4, for two equal lumps far apart.
    """
    x, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    after = np.cumsum(counts) / counts.sum()
    before = np.append(0.0, after[:-1])

    def left(m: int) -> float:
        return _excess(x[: m + 1], before[: m + 1], after[: m + 1])

    def right(m: int) -> float:
        return _excess(-x[m:][::-1], 1 - after[m:][::-1], 1 - before[m:][::-1])

    low, high = 0, len(x) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if left(middle) >= right(middle) else (middle + 1, high)
    return min(max(left(m), right(m)) for m in {max(low - 1, 0), low})


def _excess(x: np.ndarray, below: np.ndarray, above: np.ndarray) -> float:
    """Half the largest excess of `above` over the greatest convex minorant of `below`, but for the last point, where
    the law may jump."""
    if len(x) < 2:
        return 0.0
    hull: list[int] = []
    across, up = x.tolist(), below.tolist()  # numbers of Python: an array's take five times as long one by one
    for i, (x_i, y_i) in enumerate(zip(across, up, strict=True)):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (up[b] - up[a]) * (x_i - across[b]) < (y_i - up[b]) * (across[b] - across[a]):
                break
            hull.pop()
        hull.append(i)
    minorant = np.interp(x, x[hull], below[hull])
    return float((above - minorant)[:-1].max()) / 2
