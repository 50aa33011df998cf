"""Networks and heads in plain float64 NumPy, one observation at a time, from the values of a state dict."""

import numpy as np


def network(state: dict[str, np.ndarray], prefix: str, x: np.ndarray, slope: float = 0.0) -> np.ndarray:
    """Linear, leaky ReLU, then batch normalisation by running statistics where the state has any."""
    places = sorted({int(key.split(".")[1]) for key in state if key.startswith(f"{prefix}.")})
    last = places[-1]
    for place in places:
        values = {key.split(".")[2]: state[key] for key in state if key.startswith(f"{prefix}.{place}.")}
        if values["weight"].ndim == 2:
            bias = values.get("bias", np.zeros(len(values["weight"])))
            x = np.array([np.dot(row, x) for row in values["weight"]]) + bias
            if place != last:
                x = np.array([v if v > 0 else slope * v for v in x])
        else:
            spread = np.sqrt(values["running_var"] + 1e-5)
            x = (x - values["running_mean"]) / spread * values["weight"] + values["bias"]
    return x


def on_sphere(y: np.ndarray, radius: float = 1.0) -> np.ndarray:
    return radius * y / np.sqrt(sum(v * v for v in y))


def in_box(y: np.ndarray, bound: np.ndarray, low: np.ndarray | float = 0.0) -> np.ndarray:
    return low + bound / (1.0 + np.exp(-y))
