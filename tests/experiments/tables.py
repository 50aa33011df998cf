"""Small tables for the tests."""

from copy import deepcopy
from typing import Any

CONTENT: dict[str, Any] = {
    "title": "A sphere",
    "source": "nowhere",
    "seeds": [3, 4],
    "base": {
        "space": {"kind": "sphere.Sphere", "dim": 3},
        "marginal": "uniform.Uniform",
        "conditional": {"kind": "vmf.VonMisesFisher", "kappa": 5.0},
        "mixing": {"kind": "mlp.InvertibleMLP", "pool": 50},
        "metrics": ["linear.LinearR2", "correlation.MCC"],
        "recipes": {
            "fast": {
                "encoder": {"kind": "mlp.MLP", "widths": [8], "head": "sphere"},
                "loss": {"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dot", "tau": 0.2}},
                "train": {"steps": 2, "batch_size": 8, "optimizer": {"kind": "optim.Adam", "lr": 1e-3}},
                "supervised": {"loss": "regression.Regression", "train": {"steps": 3}},
            }
        },
    },
    "row": [
        {
            "id": "a",
            "name": "first",
            "reported": [{"metric": "linear_r2", "mean": 0.9, "spread": 0.1, "source": "Table 0"}],
            "baselines": {"identity": [], "supervised": [{"metric": "mcc", "mean": 1, "source": "Table 0"}]},
        },
        {"id": "b", "name": "second", "conditional": {"kappa": 7.0}},
    ],
}


def content(path: str = "", value: Any = None) -> dict[str, Any]:
    """A copy of the table, with the entry at a path such as "row.0.name" replaced."""
    copy: Any = deepcopy(CONTENT)
    if path:
        *parents, last = path.split(".")
        inner = copy
        for key in parents:
            inner = inner[int(key)] if isinstance(inner, list) else inner[key]
        inner[last] = value
    return copy
