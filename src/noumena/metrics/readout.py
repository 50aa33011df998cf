"""Known labels from embeddings: what a simple reader finds in them."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from .. import _checks
from .._binomial import clopper_pearson
from . import _logistic

CHUNK = 2048
PENALTIES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
VALIDATION, MOST_VALIDATION = 0.2, 10_000


class Accuracy(NamedTuple):
    """A share of held-out rows. `float(accuracy)` is its value.

    Attributes:
        value: Of the test rows, the share that was named right; the mean over classes of that share where balanced.
        chance: Of a reader that knows the classes' shares and nothing else.
        interval: Of 95 %, over test rows: what was fitted stays fixed.
    """

    value: float
    chance: float
    interval: tuple[float, float]

    def __float__(self) -> float:
        return self.value


class _Rows(NamedTuple):
    train: Float[Tensor, "n d"]
    labels: Int64[Tensor, " n"]
    test: Float[Tensor, "m d"]
    test_labels: Int64[Tensor, " m"]
    classes: int


def knn_accuracy(
    train: Float[Tensor, "n d"],
    labels: Int64[Tensor, " n"],
    test: Float[Tensor, "m d"],
    test_labels: Int64[Tensor, " m"],
    *,
    k: int = 5,
    metric: str = "cosine",
) -> Accuracy:
    """Accuracy of a vote of the `k` nearest training rows; nothing is fitted.

    The quickest reader, and the one that looks at distances as they are. Of classes with equally many votes the one
    with the nearest member wins. Memory is a block of test rows against all training rows.

    Args:
        train, labels: Embeddings and their classes, from 0 on.
        test, test_labels: To be named.
        k: Neighbours that vote.
        metric: "cosine" or "euclidean".
    """
    rows = _rows(train, labels, test, test_labels)
    _checks.choice("metric", metric, ("cosine", "euclidean"))
    if _checks.count("k", k) > len(train):
        raise ValueError(f"`k` must be at most the {len(train)} training rows, got {k}.")
    known, asked = train, test
    if metric == "cosine":
        known, asked = (torch.nn.functional.normalize(one, dim=1) for one in (train, test))
    else:  # distances do not change with the origin, and are rounded least about the middle
        known, asked = (one - train.mean(dim=0) for one in (train, test))
    half_square = known.square().sum(dim=1) / 2 if metric == "euclidean" else None
    # A nearer neighbour decides between equal counts: its bonus exceeds those of all farther ones, and all bonuses
    # together are less than a vote.
    weight = 1 + torch.full((k,), 0.5, dtype=torch.float64, device=train.device).cumprod(dim=0)
    right = 0
    for part, truth in zip(asked.split(CHUNK), test_labels.split(CHUNK), strict=True):
        near = part @ known.mT
        if half_square is not None:
            near -= half_square
        votes = labels[near.topk(k, dim=1).indices]
        tally = weight.new_zeros(len(part), rows.classes)
        tally.scatter_add_(1, votes, weight.expand_as(votes))
        right += int((tally.argmax(dim=1) == truth).sum())
    return _accuracy(right, rows)


def linear_probe(
    train: Float[Tensor, "n d"],
    labels: Int64[Tensor, " n"],
    test: Float[Tensor, "m d"],
    test_labels: Int64[Tensor, " m"],
    *,
    penalties: tuple[float, ...] = PENALTIES,
    seed: int = 0,
) -> Accuracy:
    """Accuracy of multinomial logistic regression on standardised features: what a linear reader can find.

    The ridge penalty is the one of `penalties` with the least cross-entropy on a fifth of the training rows (10 000 at
    most), after which all training rows are fitted. The objective is convex and minimised to the end, so that the
    number depends on no learning rate and no number of epochs; `sgd_probe` is the published way.

    Args:
        train, labels, test, test_labels: As in `knn_accuracy`.
        penalties: On half the squared weights of standardised features, beside the mean cross-entropy.
        seed: Decides which rows validate.
    """
    rows = _rows(train, labels, test, test_labels)
    return _accuracy(int((_fit(rows, penalties, seed)(test) == test_labels).sum()), rows)


def binary_readout(
    features: Float[Tensor, "n d"], applied: Tensor, *, penalties: tuple[float, ...] = PENALTIES, seed: int = 0
) -> Accuracy:
    """Whether a linear reader of embeddings can tell what was applied to an image: balanced accuracy on held-out rows.

    Chance is 1/2 whatever the share of images that it was applied to. Half of the rows fit, the others are scored.

    Args:
        features: Embeddings.
        applied: (n,) bool.
        penalties, seed: As in `linear_probe`; the seed also decides the halves.
    """
    _checks.matrix("features", features)
    if applied.shape != (len(features),) or applied.dtype != torch.bool:
        raise ValueError(
            f"`applied` must be ({len(features)},) bool, one for each row of `features`; got {tuple(applied.shape)} of "
            f"{applied.dtype}."
        )
    order = torch.randperm(len(features), generator=torch.Generator().manual_seed(seed)).to(features.device)
    fit, score = order[: len(order) // 2], order[len(order) // 2 :]
    labels = applied.long()
    if any(len(labels[half].unique()) < 2 for half in (fit, score)):
        raise ValueError(
            f"`applied` must be true of some rows and false of others in both halves, got {int(labels.sum())} of "
            f"{len(labels)}; draw more images."
        )
    rows = _rows(features[fit], labels[fit], features[score], labels[score])
    said = _fit(rows, penalties, seed)(rows.test)
    counts = [
        (int((said[rows.test_labels == one] == one).sum()), int((rows.test_labels == one).sum())) for one in (0, 1)
    ]
    shares = [hits / of for hits, of in counts]
    value = sum(shares) / 2
    # Exact intervals of both shares, their distances added as for independent errors (Zou and Donner, 2008).
    ends = [clopper_pearson(hits, of) for hits, of in counts]
    low = sum((share - end[0]) ** 2 for share, end in zip(shares, ends, strict=True)) ** 0.5 / 2
    high = sum((end[1] - share) ** 2 for share, end in zip(shares, ends, strict=True)) ** 0.5 / 2
    return Accuracy(value, 0.5, (max(0.0, value - low), min(1.0, value + high)))


class Epochs(NamedTuple):
    """Test accuracy after each epoch of `sgd_probe`."""

    best: Accuracy
    last: Accuracy
    each: tuple[float, ...]


def sgd_probe(
    train: Tensor | Callable[[Tensor], Tensor],
    labels: Int64[Tensor, " n"],
    test: Tensor | Callable[[], Tensor],
    test_labels: Int64[Tensor, " m"],
    *,
    generator: torch.Generator,
    lr: float = 0.1,
    momentum: float = 0.9,
    epochs: int = 100,
    batch_size: int = 256,
) -> Epochs:
    """The published linear probe: stochastic gradient descent on features as they are, scored after every epoch.

    Published tables state the best test accuracy over epochs, which no one has who does not know the test; `last` is
    free of that. The defaults are those of The Loss Is Not Enough. Where features change while the probe is trained,
    as those of an encoder in training mode do, they are computed anew in every step.

    Args:
        train: Features, or from row numbers to the features of these rows.
        labels: Of the training rows, from 0 on.
        test: Features, or what computes them, called after each epoch.
        test_labels: Of the test rows.
        generator: Draws the initial weights and the order of rows.
        lr, momentum, epochs, batch_size: Of the descent.
    """
    _labels("labels", labels, len(labels))
    features_of = (lambda rows: train[rows]) if isinstance(train, Tensor) else train
    classes = 1 + int(torch.cat([labels, test_labels]).max())
    linear: torch.nn.Linear | None = None
    optimizer: torch.optim.Optimizer | None = None
    each, rights = [], []
    for _ in range(_checks.count("epochs", epochs)):
        order = torch.randperm(len(labels), generator=generator, device=generator.device).to(labels.device)
        for rows in order.split(_checks.count("batch_size", batch_size)):
            features = features_of(rows).detach()
            if linear is None or optimizer is None:
                linear = _linear(features, classes, generator)
                optimizer = torch.optim.SGD(linear.parameters(), lr=lr, momentum=momentum)
            optimizer.zero_grad()
            with torch.enable_grad():
                torch.nn.functional.cross_entropy(linear(features), labels[rows]).backward()
            optimizer.step()
        assert linear is not None
        scored = (test if isinstance(test, Tensor) else test()).detach()
        with torch.no_grad():
            rights.append(int((linear(scored).argmax(dim=1) == test_labels).sum()))
        each.append(rights[-1] / len(test_labels))
    chance = _chance(test_labels)
    best, last = (_share(right, len(test_labels), chance) for right in (max(rights), rights[-1]))
    return Epochs(best, last, tuple(each))


def _linear(features: Tensor, classes: int, generator: torch.Generator) -> torch.nn.Linear:
    d = features.shape[1]
    with torch.device("meta"):  # without torch's own draws of weights
        linear = torch.nn.Linear(d, classes, dtype=features.dtype)
    linear = linear.to_empty(device=features.device)
    with torch.no_grad():
        for one in linear.parameters():
            draw = torch.rand(one.shape, generator=generator, device=generator.device).mul_(2).sub_(1) / d**0.5
            one.copy_(draw)
    return linear


def _fit(rows: _Rows, penalties: tuple[float, ...], seed: int) -> _logistic.Classifier:
    for i, penalty in enumerate(_checks.sequence("penalties", penalties)):
        _checks.positive(f"penalties[{i}]", penalty)
    n = len(rows.train)
    everything = _logistic.Problem(rows.train, rows.labels, rows.classes)
    if len(penalties) == 1:
        return everything.fit(penalties[0])[0]
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).to(rows.train.device)
    held = min(max(1, int(VALIDATION * n)), MOST_VALIDATION)
    validate, problem = order[:held], everything.of(order[held:])
    best, least, start, kept = penalties[0], float("inf"), None, None
    for penalty in sorted(penalties, reverse=True):
        classifier, start = problem.fit(penalty, start, _logistic.ROUGH)
        found = _logistic.cross_entropy(classifier, rows.train[validate], rows.labels[validate])
        if found >= least:
            break  # along the path of penalties, what held-out rows lose they do not win back
        best, least, kept = penalty, found, start
    return everything.fit(best, kept)[0]


def _rows(train: Tensor, labels: Tensor, test: Tensor, test_labels: Tensor) -> _Rows:
    _checks.matrix("train", train)
    _checks.matrix("test", test, columns=train.shape[1])
    _checks.same_kind("test", test, "train", train)
    _labels("labels", labels, len(train))
    _labels("test_labels", test_labels, len(test))
    if len(labels.unique()) < 2:
        raise ValueError(f"`labels` must hold at least two classes, got {int(labels[0])} alone.")
    return _Rows(train, labels, test, test_labels, 1 + int(max(labels.max(), test_labels.max())))


def _labels(name: str, value: Tensor, rows: int) -> None:
    _checks.kind(name, value, Tensor, "torch.as_tensor converts arrays.")
    if value.shape != (rows,) or value.dtype != torch.int64 or rows == 0 or int(value.min()) < 0:
        raise ValueError(
            f"`{name}` must be ({rows},) int64, a class from 0 on for each row; got {tuple(value.shape)} of "
            f"{value.dtype}."
        )


def _accuracy(right: int, rows: _Rows) -> Accuracy:
    return _share(right, len(rows.test), _chance(rows.test_labels))


def _share(right: int, of: int, chance: float) -> Accuracy:
    return Accuracy(right / of, chance, clopper_pearson(right, of))


def _chance(labels: Tensor) -> float:
    return float(labels.bincount().max()) / len(labels)
