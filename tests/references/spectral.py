"""The spectral contrast and TriCL's decorrelation term, pair by pair and entry by entry."""

import torch


def per_anchor(comparisons, score, positive_weight=2.0):
    return torch.stack(
        [
            -positive_weight * score(*positive) + sum(score(u, v) ** 2 for u, v, _ in others) / len(others)
            for positive, others in comparisons
        ]
    )


def decorrelation(h, h_pos):
    """The squared entries of the second moments of both views, less those of the identity."""
    rows = [*h, *h_pos]
    d = len(rows[0])
    return torch.stack(
        [(sum(row[j] * row[k] for row in rows) / len(rows) - float(j == k)) ** 2 for j in range(d) for k in range(d)]
    )
