"""How settings are learned: the fast recipes of the published tables, at the size of few dimensions."""

from typing import Any

FIRST = {"kind": "candidates.InBatch"}
BOTH = {"kind": "candidates.InBatch", "anchors": "both", "views": "other"}
MATES = {"kind": "candidates.GroupMates", "share": 1.0}
GROUPED = {"kind": "grouped.GroupedSupport", "group_size": 64}

STEPS, BATCH = 1200, 384
HOT = 4.0  # times the last temperature: what a run begins with, against folds of the sphere


def network(head: Any, *, whiten: bool = True) -> dict[str, Any]:
    """The MLP of the fast recipes, ending in `head`."""
    return {
        "kind": "mlp.MLP",
        "widths": [64, 64, 64],
        "slope": 0.2,
        "init": "he",
        "whiten": whiten,
        "head": head,
    }


def contrast(score: dict[str, Any], candidates: dict[str, Any] = FIRST) -> dict[str, Any]:
    """InfoNCE as the papers' statements have it: the positive in the denominator, every weight 1."""
    return {"kind": "infonce.InfoNCE", "score": score, "candidates": candidates}


def training(*, steps: int = STEPS, batch_size: int = BATCH, **more: Any) -> dict[str, Any]:
    """Orthogonalised momentum, the loss's own numbers at four times the rate of the rest."""
    adam = {"kind": "optim.Adam", "lr": 1e-2, "betas": [0.9, 0.99], "rates": {"loss": 4.0, "head": 2.0}}
    return {
        "steps": steps,
        "batch_size": batch_size,
        "every": 500,
        "optimizer": {"kind": "optim.Muon", "lr": 0.15, "momentum": 0.95, "rest": adam},
        "schedule": {"warmup": 0.02},
        **more,
    }


def cooling(tau: float, share: float = 0.5) -> dict[str, Any]:
    """A fixed temperature that ends where the loss has it."""
    return {"annealing": {"start": HOT * tau, "end": tau, "share": share}}


def adam(**more: Any) -> dict[str, Any]:
    """For encoders of one matrix, which has nothing to orthogonalise."""
    return {**training(**more), "optimizer": {"kind": "optim.Adam", "lr": 1e-2, "betas": [0.9, 0.99]}}
