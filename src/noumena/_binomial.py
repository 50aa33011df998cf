"""What a count says of a probability."""

CONFIDENCE = 0.95


def clopper_pearson(hits: int, of: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Exact interval of a probability: it covers in at least `confidence` of cases, whatever the probability."""
    from scipy.special import betaincinv  # slow to import, for packages whose import stays light

    tail = (1 - confidence) / 2
    low = float(betaincinv(hits, of - hits + 1, tail)) if hits else 0.0
    return low, float(betaincinv(hits + 1, of - hits, 1 - tail)) if hits < of else 1.0
