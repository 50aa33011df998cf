"""Multinomial logistic regression with a ridge, on all rows at once."""

import copy
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

STEPS = 300
ROUGH, FINE = 1e-5, 1e-6  # relative gain of a step below which a fit is over: to choose a penalty, and to keep
FLAT = 1e-10  # columns whose variance is less than this share of their mean square are constant


class Classifier(NamedTuple):
    """Standardisation and weights: the score of class k is linear in the features."""

    mean: Float[Tensor, " d"]
    weight: Float[Tensor, "d k"]  # zero for constant columns
    bias: Float[Tensor, " k"]

    def __call__(self, features: Float[Tensor, "n d"]) -> Int64[Tensor, " n"]:
        return ((features - self.mean) @ self.weight + self.bias).argmax(dim=1)

    def scores(self, features: Float[Tensor, "n d"]) -> Float[Tensor, "n k"]:
        return (features - self.mean) @ self.weight + self.bias


class Problem:
    """Rows ready for fits at several penalties.

    Columns are standardised and then rotated to their principal axes, which changes neither the penalty nor what is
    fitted; there the curvature of the objective is nearly diagonal, at most (variance / 2 + penalty) along each axis
    (Böhning and Lindsay, 1988), so that coordinates scaled by its root make a fit a matter of some twenty steps.
    """

    def __init__(self, features: Float[Tensor, "n d"], labels: Int64[Tensor, " n"], classes: int) -> None:
        self.labels, self.classes = labels, classes
        self.mean = features.mean(dim=0)
        centred = features - self.mean
        variance = centred.square().mean(dim=0)
        varies = variance > FLAT * features.square().mean(dim=0)
        self.scale = torch.where(varies, variance.clamp(min=1e-300 if features.dtype == torch.float64 else 1e-36), 1.0)
        self.scale = torch.where(varies, self.scale.rsqrt(), 0.0)
        standardised = centred * self.scale
        gram = (standardised.mT @ standardised).double() / len(features)
        variances, axes = torch.linalg.eigh(gram)
        self.variances, self.axes = variances.clamp(min=0), axes
        self.rotated = standardised @ axes.to(features.dtype)

    def of(self, rows: Int64[Tensor, " m"]) -> "Problem":
        """The same columns on some of the rows."""
        some = copy.copy(self)
        some.rotated, some.labels = self.rotated[rows], self.labels[rows]
        return some

    def fit(
        self, penalty: float, start: np.ndarray | None = None, tolerance: float = FINE
    ) -> tuple[Classifier, np.ndarray]:
        """The minimum of mean cross-entropy + penalty / 2 ||W||², and where to start the next fit."""
        from scipy.optimize import minimize  # slow to import

        root = (self.variances / 2 + penalty).sqrt()
        d, k = len(root), self.classes
        initial = np.zeros((d + 1) * k) if start is None else start.copy()
        scaling = np.append(root.cpu().numpy(), 0.5)[:, None]
        found = minimize(
            self._objective,
            (initial.reshape(d + 1, k) * scaling).ravel(),
            args=(1 / root, penalty),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": STEPS, "ftol": tolerance, "gtol": 1e-7},
        )
        plain = found.x.reshape(d + 1, k) / scaling
        weight = torch.from_numpy(plain[:-1]).to(self.axes)
        weight = self.scale[:, None] * (self.axes @ weight).to(self.mean)
        return Classifier(self.mean, weight, torch.from_numpy(plain[-1]).to(self.mean)), plain.ravel()

    def _objective(self, values: np.ndarray, unscale: Tensor, penalty: float) -> tuple[float, np.ndarray]:
        rows = self.rotated
        given = torch.from_numpy(values.reshape(-1, self.classes)).to(unscale)
        weight = given[:-1] * unscale[:, None]
        log_p = torch.log_softmax(torch.addmm((2 * given[-1]).to(rows), rows, weight.to(rows)), dim=1)
        loss = -log_p.gather(1, self.labels[:, None]).mean(dtype=torch.float64) + penalty / 2 * weight.square().sum()
        gap = log_p.exp_()
        gap.scatter_add_(1, self.labels[:, None], -torch.ones_like(self.labels[:, None], dtype=gap.dtype))
        by_weight = (rows.mT @ gap).double() / len(rows) + penalty * weight
        by_bias = 2 * gap.mean(dim=0, dtype=torch.float64)
        gradient = torch.cat([by_weight * unscale[:, None], by_bias[None]])
        return float(loss), gradient.cpu().numpy().ravel()


def cross_entropy(classifier: Classifier, features: Tensor, labels: Tensor) -> float:
    return float(torch.nn.functional.cross_entropy(classifier.scores(features), labels))
