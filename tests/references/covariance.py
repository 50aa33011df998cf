"""The covariance contrast from its definition, row by row, with the inverse itself."""

import torch


def per_anchor(h, h_pos, ridge=0.0, centre=True):
    rows = [*h, *h_pos]
    d = len(rows[0])
    mean = sum(rows) / len(rows) if centre else torch.zeros(d, dtype=h.dtype)
    covariance = sum(torch.outer(row - mean, row - mean) for row in rows) / len(rows)
    ridged = covariance + ridge * covariance.trace() / d * torch.eye(d, dtype=h.dtype)
    metric = torch.linalg.inv(ridged)
    return torch.stack([-(a - mean) @ metric @ (b - mean) for a, b in zip(h, h_pos, strict=True)])
