"""Readers against scikit-learn and plain loops, and against what is known to be in the features."""

import warnings

import numpy as np
import pytest
import torch
from scipy import stats

from noumena.metrics import _logistic, binary_readout, knn_accuracy, linear_probe, sgd_probe


def classes(n: int, generator, apart: float = 1.5, dim: int = 6, dtype=torch.float64):
    """Normal clouds about as many centres, in columns of very different scales."""
    labels = torch.randint(3, (n,), generator=generator)
    centres = apart * torch.eye(3, dim, dtype=dtype)
    features = centres[labels] + torch.randn(n, dim, generator=generator, dtype=dtype)
    return features * torch.logspace(-2, 2, dim, dtype=dtype) + 5, labels


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("penalty", [1.0, 1e-2, 1e-4])
def test_the_minimum_is_that_of_scikit_learn(generator, dtype, penalty):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    features, labels = classes(400, generator)
    features = torch.cat([features, torch.full((400, 1), 3.0, dtype=torch.float64)], dim=1).to(dtype)  # one is constant
    found, _ = _logistic.Problem(features, labels, 3).fit(penalty, tolerance=1e-12)
    standard = StandardScaler().fit(features[:, :-1].double().numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = LogisticRegression(C=1 / (penalty * 400), tol=1e-10, max_iter=5000)
        theirs.fit(standard.transform(features[:, :-1].double().numpy()), labels.numpy())
    ours = found.scores(features).double().log_softmax(dim=1).numpy()
    expected = theirs.predict_log_proba(standard.transform(features[:, :-1].double().numpy()))
    np.testing.assert_allclose(ours, expected, atol=1e-4 if dtype == torch.float64 else 5e-3)


def test_the_gradient_is_that_of_the_objective(generator):
    features, labels = classes(60, generator)
    problem = _logistic.Problem(features, labels, 3)
    values = torch.randn(7 * 3, generator=generator, dtype=torch.float64).numpy()
    unscale = 1 / (problem.variances / 2 + 0.1).sqrt()
    _, gradient = problem._objective(values, unscale, 0.1)
    for i in range(len(values)):
        step = np.zeros_like(values)
        step[i] = 1e-6
        up, down = (problem._objective(values + sign * step, unscale, 0.1)[0] for sign in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_a_linear_probe_reaches_the_best_classifier(generator):
    # Of normal clouds with one covariance the nearest centre is best, in the columns before scaling.
    (train, labels), (test, truth) = classes(3000, generator), classes(3000, generator)
    found = linear_probe(train, labels, test, truth)
    plain = (test - 5) / torch.logspace(-2, 2, 6, dtype=torch.float64)
    best = float((plain[:, :3].argmax(dim=1) == truth).double().mean())
    assert best - 0.02 < float(found) < best + 0.02 and found.interval[0] < best < found.interval[1]
    assert found.chance == pytest.approx(float(truth.bincount().max()) / 3000)


def test_noise_is_read_at_chance(generator):
    train, test = torch.randn(2, 1000, 40, generator=generator)
    labels, truth = torch.randint(4, (2, 1000), generator=generator)
    for found in (linear_probe(train, labels, test, truth), knn_accuracy(train, labels, test, truth)):
        assert abs(float(found) - 0.25) < 5 * (0.25 * 0.75 / 1000) ** 0.5
    applied = torch.rand(1000, generator=generator) < 0.2
    assert abs(float(binary_readout(train, applied)) - 0.5) < 0.1  # most rows are of one class: few of the other count


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbours_are_those_of_a_plain_loop(generator, metric):
    (train, labels), (test, truth) = classes(80, generator, apart=2.0), classes(50, generator, apart=2.0)
    right = 0
    for row, label in zip(test.numpy(), truth.tolist(), strict=True):
        if metric == "cosine":
            distance = [1 - row @ r / np.linalg.norm(row) / np.linalg.norm(r) for r in train.numpy()]
        else:
            distance = [np.linalg.norm(row - r) for r in train.numpy()]
        near = labels[np.argsort(distance)[:5]].tolist()
        most = max(near.count(one) for one in near)
        right += next(one for one in near if near.count(one) == most) == label
    assert float(knn_accuracy(train, labels, test, truth, metric=metric)) == right / 50


def test_a_row_is_its_own_neighbour(generator):
    features, labels = classes(200, generator, apart=0.0)
    assert float(knn_accuracy(features, labels, features, labels, k=1)) == 1.0


def test_neighbours_do_not_depend_on_the_blocks(generator, monkeypatch):
    (train, labels), (test, truth) = classes(100, generator), classes(90, generator)
    whole = knn_accuracy(train, labels, test, truth)
    monkeypatch.setattr("noumena.metrics.readout.CHUNK", 7)
    assert knn_accuracy(train, labels, test, truth) == whole


def test_balanced_accuracy_ignores_shares(generator):
    applied = torch.rand(6000, generator=generator) < 0.1
    features = torch.randn(6000, 3, generator=generator) + 2.0 * applied[:, None]
    found = binary_readout(features, applied)
    # One class in ten: the likelihood's own threshold names few rows, of which balance makes much.
    centre = np.log(9) / (2 * 3**0.5) + 3**0.5
    expected = (stats.norm.cdf(centre) + stats.norm.sf(centre - 2 * 3**0.5)) / 2
    assert abs(float(found) - expected) < 0.03
    assert found.chance == 0.5 and found.interval[0] < float(found) < found.interval[1]


def test_the_published_probe_scores_every_epoch(generator):
    (train, labels), (test, truth) = classes(500, generator), classes(300, generator)
    scale = torch.logspace(-2, 2, 6, dtype=torch.float64)
    train, test = (train - 5) / scale, (test - 5) / scale
    found = sgd_probe(train, labels, test, truth, generator=generator, epochs=8)
    assert len(found.each) == 8 and float(found.best) == max(found.each) and float(found.last) == found.each[-1]
    assert float(found.last) > 0.6
    calls = []

    def features(rows):
        calls.append(len(rows))
        return train[rows]

    again = [
        sgd_probe(one, labels, lambda: test, truth, generator=torch.Generator().manual_seed(1), epochs=2)
        for one in (train, features)
    ]
    assert again[0] == again[1] and sum(calls) == 1000


def test_wrong_calls_of_readouts(generator, unchecked_shapes):
    features, labels = classes(20, generator)
    with pytest.raises(ValueError, match="`k` must be at most the 20 training rows"):
        knn_accuracy(features, labels, features, labels, k=21)
    with pytest.raises(ValueError, match="`labels` must hold at least two classes"):
        linear_probe(features, labels * 0, features, labels)
    with pytest.raises(ValueError, match=r"`test` must have the shape \(n, 6\)"):
        linear_probe(features, labels, features[:, :3], labels)
    with pytest.raises(ValueError, match=r"`labels` must be \(20,\) int64"):
        linear_probe(features, labels[:5], features, labels)
    with pytest.raises(ValueError, match="`applied` must be true of some rows"):
        binary_readout(features, torch.zeros(20, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"`applied` must be \(20,\) bool"):
        binary_readout(features, labels)
