"""InfoNCE written from its definition: every pair by itself, in plain loops, with no care for speed or overflow.

A *comparison* is what one anchor sees: its positive pair and its other candidate pairs, each with the number of times
it counts. Autograd differentiates the loops, so they are a reference for gradients too; use float64.
"""

import math
from typing import NamedTuple

import torch


class Comparison(NamedTuple):
    positive: tuple  # (u, v)
    others: list  # of (u, v, count)


# Scores of one pair of vectors, with the learned values taken from the free parameters behind them.


def dot(tau=1.0):
    return lambda u, v: (u * v).sum() / tau


def weighted_dot(importance, tau=1.0):
    return lambda u, v: (importance * u * v).sum() / tau


def lp(p, tau=1.0):
    return lambda u, v: -((u - v).abs() ** p).sum() / tau


def anisotropic(precision, factor=1.0):
    return lambda u, v: -factor * (precision * (u - v) ** 2).sum()


def softplus(raw):
    return torch.log(1 + torch.exp(raw))


# Who is compared with whom.


def in_batch(h, h_pos, anchors="first", views="own", include_self=False, cross_block="exact"):
    comparisons = []
    n = len(h)
    orders = {"first": [(h, h_pos)], "second": [(h_pos, h)], "both": [(h, h_pos), (h_pos, h)]}
    for first, second in orders[anchors]:
        for i in range(n):
            others = []
            for k in range(n):
                if views in ("own", "both") and (k != i or include_self):
                    others.append((first[i], first[k], 1.0))
                if views in ("other", "both") and k != i:
                    if cross_block == "published":
                        others.append((h[i], h_pos[k], 1.0))
                    else:
                        others.append((first[i], second[k], 1.0))
            comparisons.append(Comparison((first[i], second[i]), others))
    return comparisons


def drawn(h, h_pos, h_neg):
    """Shared (m, d) or private (n, m, d) negatives."""
    comparisons = []
    for i in range(len(h)):
        negatives = h_neg if h_neg.ndim == 2 else h_neg[i]
        comparisons.append(Comparison((h[i], h_pos[i]), [(h[i], negative, 1.0) for negative in negatives]))
    return comparisons


def group_mates(h, h_pos, size, h_neg=None, share=None):
    comparisons = []
    for i in range(len(h)):
        mates = [k for k in range(len(h)) if k // size == i // size and k != i]
        rest = [] if h_neg is None or share == 1 else list(h_neg)
        total = len(mates) + len(rest)
        per_mate = 1.0 if share is None else share * total / len(mates)
        per_rest = 1.0 if share is None or not rest else (1 - share) * total / len(rest)
        others = [(h[i], h[k], per_mate) for k in mates] + [(h[i], negative, per_rest) for negative in rest]
        comparisons.append(Comparison((h[i], h_pos[i]), others))
    return comparisons


def together(*choices):
    """The candidates of several choices with the same anchors."""
    return [
        Comparison(row[0].positive, [other for one in row for other in one.others])
        for row in zip(*choices, strict=True)
    ]


# The loss.


def per_anchor(
    comparisons,
    score,
    positive_in_denominator=True,
    positive_weight=1.0,
    cutoff=None,
    candidate_reduction="sum",
    beta=0.0,
    detach=False,
):
    losses = []
    for (u_pos, v_pos), others in comparisons:
        positive = score(u_pos, v_pos)
        scores = [score(u, v) for u, v, _ in others]
        counts = [count for _, _, count in others]
        hardness = [
            count * torch.exp(beta * (s.detach() if detach else s)) for s, count in zip(scores, counts, strict=True)
        ]
        average = sum(hardness) / sum(counts)
        mass = sum(w / average * torch.exp(s) for w, s in zip(hardness, scores, strict=True))
        if candidate_reduction == "mean":
            mass = mass / sum(counts)
        denominator = mass + torch.exp(positive) if positive_in_denominator else mass
        if cutoff is not None:
            denominator = denominator + math.exp(cutoff)
        losses.append(-positive_weight * positive + torch.log(denominator))
    return torch.stack(losses)


def infonce_of_numbers(pos, neg):
    """The same of scores given as numbers."""
    return [-p + math.log(math.exp(p) + sum(math.exp(s) for s in row)) for p, row in zip(pos, neg, strict=True)]
