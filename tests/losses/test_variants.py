"""Every row of the table in docs/losses.md, as the document writes it, against loops over its own definition."""

import re
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch

from noumena import losses
from noumena.batch import PairEmbeddings
from noumena.losses.spectral import Spectral

N, D, M = 6, 4, 8
TAU, P, BETA, C = 0.4, 3.0, 0.7, 0.25
PRECISION = [0.3, 0.7, 1.1, 2.0]
NAMES = {"tau": TAU, "p": P, "beta": BETA, "c": C, "d": D}

DOCUMENT = Path(__file__).parents[2] / "docs" / "losses.md"
ROWS = dict(
    re.findall(r"^\| ([^|]+?) \|(?:(?:\\\||[^|])*\|){6} `([^`]+)` \|$", DOCUMENT.read_text(), flags=re.MULTILINE)
)


def unit(seed, *shape):
    draw = torch.randn(*shape, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.nn.functional.normalize(draw, dim=-1)


A, B, SHARED, PRIVATE = unit(1, N), unit(2, N), unit(3, M), unit(4, N, M)
# The loops below run over lists of numbers: nothing of torch takes part in them.
a, b, shared, private = A.tolist(), B.tolist(), SHARED.tolist(), PRIVATE.tolist()


def inner(u, v, weights=None):
    return sum(w * x * y for w, x, y in zip(weights or [1.0] * len(u), u, v, strict=True))


def cosine(u, v):
    return inner(u, v) / TAU


def power(u, v, p=P):
    return -sum(abs(x - y) ** p for x, y in zip(u, v, strict=True)) / TAU


def mahalanobis(u, v, precision=None):
    return -sum(w * (x - y) ** 2 for w, x, y in zip(precision or PRECISION, u, v, strict=True))


def share_of_positive(pos, others):
    """-log of the positive's share among itself and the others."""
    return -log(exp(pos) / (exp(pos) + sum(exp(s) for s in others)))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def others(i):
    return [k for k in range(N) if k != i]


def cl_ica(score):
    return mean(share_of_positive(score(a[i], b[i]), [score(a[i], a[k]) for k in range(N)]) for i in range(N))


def against_drawn(score, negatives=None):
    rows = negatives or [shared] * N
    return mean(share_of_positive(score(a[i], b[i]), [score(a[i], x) for x in rows[i]]) for i in range(N))


def one_way(u, v, score):
    """Cross-entropy of the matrix of scores between two views along its rows, the diagonal being right."""
    return mean(-score(u[i], v[i]) + log(sum(exp(score(u[i], v[k])) for k in range(N))) for i in range(N))


def nt_xent():
    """Both views stacked: row i belongs to row i + N, every other row but itself is a negative."""
    rows = a + b
    total = 0.0
    for i in range(2 * N):
        partner = (i + N) % (2 * N)
        denominator = sum(exp(cosine(rows[i], rows[k])) for k in range(2 * N) if k != i)
        total -= log(exp(cosine(rows[i], rows[partner])) / denominator)
    return total / (2 * N)


def nt_xent_as_classes():
    """The same as a classification, with the positive as class 0 before 2N - 2 negatives."""
    rows = a + b
    logits = [
        [inner(rows[i], rows[(i + N) % (2 * N)])] + [inner(rows[i], rows[k]) for k in range(2 * N) if k % N != i % N]
        for i in range(2 * N)
    ]
    return sum(log(sum(exp(s / TAU) for s in row)) - row[0] / TAU for row in logits) / (2 * N)


def cebra(score):
    align = -mean(score(a[i], b[i]) for i in range(N))
    uniform = mean(log(sum(exp(score(a[i], x)) for x in shared)) for i in range(N))
    return align + uniform


def aninfonce_code(transposed):
    half = [w / 2 for w in PRECISION]
    within_a = [[mahalanobis(u, v, half) for v in a] for u in a]
    within_b = [[mahalanobis(u, v, half) for v in b] for u in b]
    across = [[mahalanobis(u, v, half) for v in b] for u in a]
    total = 0.0
    for i in range(N):
        total += share_of_positive(across[i][i], [row[k] for row in (within_a[i], across[i]) for k in others(i)])
        back = [across[k][i] if transposed else across[i][k] for k in others(i)]
        total += share_of_positive(across[i][i], [within_b[i][k] for k in others(i)] + back)
    return total / (2 * N)


def hard_negatives_in_batch():
    """Three private draws appended to the regular negatives."""
    return mean(
        share_of_positive(
            mahalanobis(a[i], b[i]), [mahalanobis(a[i], x) for x in [a[k] for k in others(i)] + private[i]]
        )
        for i in range(N)
    )


def mates(i):
    return [a[k] for k in others(i) if k // 3 == i // 3]


def grouped_ratio():
    """M candidates in all, of which the mates make up the share c and the drawn ones the rest."""
    total = 0.0
    for i in range(N):
        m = 2 + M
        support = mean(exp(cosine(a[i], x)) for x in mates(i))
        marginal = mean(exp(cosine(a[i], x)) for x in shared)
        positive = exp(cosine(a[i], b[i]))
        total -= log(positive / (positive + C * m * support + (1 - C) * m * marginal))
    return total / N


def dcl():
    total = 0.0
    for first, second in ((a, b), (b, a)):
        for i in range(N):
            negatives = [exp(cosine(first[i], view[k])) for view in (first, second) for k in others(i)]
            total += -cosine(first[i], second[i]) + log(sum(negatives))
    return total / (2 * N)


def robinson():
    """Negatives reweighed by their own similarity to the power beta, weights divided by their mean."""
    total, rows = 0.0, a + b
    for i in range(2 * N):
        pos = exp(cosine(rows[i], rows[(i + N) % (2 * N)]))
        neg = [exp(cosine(rows[i], rows[k])) for k in range(2 * N) if k % N != i % N]
        importance = [x**BETA for x in neg]
        reweighted = sum(w * x for w, x in zip(importance, neg, strict=True)) / mean(importance)
        total -= log(pos / (pos + reweighted))
    return total / (2 * N)


def spectral(weights=None):
    positives = mean(inner(a[i], b[i], weights) for i in range(N))
    return -2 * positives + mean(inner(a[i], a[k], weights) ** 2 for i in range(N) for k in others(i))


def off_identity():
    rows = a + b
    return [(mean(row[j] * row[k] for row in rows) - (1.0 if j == k else 0.0)) ** 2 for j in range(D) for k in range(D)]


def tricl_infonce(second_view_is_weighted):
    total, rows = 0.0, a + b
    for i in range(2 * N):
        weights = PRECISION if i < N or second_view_is_weighted else None
        scores = {k: inner(rows[i], rows[k], weights) / TAU for k in range(2 * N) if k != i}
        total += log(sum(exp(s) for s in scores.values())) - scores[(i + N) % (2 * N)]
    return total / (2 * N)


def covariance_contrast():
    rows = a + b
    centre = [mean(row[j] for row in rows) for j in range(D)]
    rows = [[x - m for x, m in zip(row, centre, strict=True)] for row in rows]
    covariance = [[mean(row[j] * row[k] for row in rows) for k in range(D)] for j in range(D)]
    metric = np.linalg.inv(covariance).tolist()
    return -mean(sum(rows[i][j] * metric[j][k] * rows[i + N][k] for j in range(D) for k in range(D)) for i in range(N))


QUEUE = {"h_neg": SHARED}
OWN = {"h_neg": PRIVATE}
# What the batch carries beside h and h_pos, and the loop.
CASES = {
    "cl-ica": ({}, lambda: cl_ica(cosine)),
    "cl-ica, L_δ": ({}, lambda: cl_ica(power)),
    "generalised InfoNCE": (QUEUE, lambda: against_drawn(power)),
    "CPC": ({}, lambda: one_way(a, b, inner)),
    "CLIP, one side": ({}, lambda: one_way(a, b, cosine)),
    "CLIP": ({}, lambda: (one_way(a, b, cosine) + one_way(b, a, cosine)) / 2),
    "SimCLR": ({}, nt_xent),
    "SimSiam code base": ({}, nt_xent_as_classes),
    "MoCo": (QUEUE, lambda: against_drawn(cosine)),
    "CEBRA": (QUEUE, lambda: cebra(cosine)),
    "CEBRA, Euclidean": (QUEUE, lambda: cebra(lambda u, v: power(u, v, 2))),
    "AnInfoNCE": (QUEUE, lambda: against_drawn(mahalanobis)),
    "AnInfoNCE, code": ({}, lambda: aninfonce_code(transposed=False)),
    "AnInfoNCE, two-sided": ({}, lambda: aninfonce_code(transposed=True)),
    "AnInfoNCE, hard negatives": (OWN, hard_negatives_in_batch),
    "plain": (QUEUE, lambda: against_drawn(cosine)),
    "adapted": (OWN, lambda: against_drawn(cosine, private)),
    "adapted, grouped": ({"group_size": 3}, lambda: against_drawn(cosine, [mates(i) for i in range(N)])),
    "ratio c": (
        {"h_neg": torch.cat([PRIVATE[:, : int(C * M)], unit(5, N, M - int(C * M))], dim=1)},
        lambda: against_drawn(
            cosine, [private[i][: int(C * M)] + unit(5, N, M - int(C * M)).tolist()[i] for i in range(N)]
        ),
    ),
    "ratio c, grouped": (QUEUE | {"group_size": 3}, grouped_ratio),
    "DCL": ({}, dcl),
    "hard negatives": ({}, robinson),
    "spectral": ({}, spectral),
    "TriCL": ({}, lambda: spectral(PRECISION) + sum(off_identity())),
    "TriCL, InfoNCE": ({}, lambda: tricl_infonce(True) + sum(off_identity())),
    "TriCL, code": ({}, lambda: tricl_infonce(False) + mean(off_identity())),
    "covariance contrast": ({}, covariance_contrast),
    "AnInfoNCE, ensemble": (QUEUE, lambda: 2 * against_drawn(mahalanobis)),
}


def test_every_row_of_the_table_has_its_case():
    names = re.findall(r"^\| ([^|]+?) \|", DOCUMENT.read_text(), flags=re.MULTILINE)
    assert names[0] == "name"
    assert set(names[1:]) == set(ROWS) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_row(name):
    loss = eval(ROWS[name], vars(losses) | NAMES | {"Spectral": Spectral}).double()
    fill(loss)
    given, loop = CASES[name]
    output = loss(PairEmbeddings(A, B, **given))
    assert float(output.total.detach()) == pytest.approx(loop(), rel=1e-10 if name != "CLIP" else 1e-6)


def fill(loss):
    """Give learned precisions and importances values that tell coordinates apart."""
    for key, parameter in loss.named_parameters():
        if key.endswith("raw"):
            with torch.no_grad():
                parameter.copy_(torch.tensor(PRECISION, dtype=torch.float64).expm1().log())


def test_alignment_and_uniformity_is_bounded_by_the_nearest_expression():
    """What docs/losses.md says of Wang and Isola: a mean of logarithms lies below the logarithm of the mean."""
    loss = losses.InfoNCE(losses.Lp(2.0, 0.5), positive_in_denominator=False, candidate_reduction="mean")
    parts = loss(PairEmbeddings(A, B)).parts
    squares = {(i, k): -mahalanobis(a[i], a[k], [1.0] * D) for i in range(N) for k in others(i)}
    uniformity = log(mean(exp(-2 * square) for square in squares.values()))
    assert float(parts["uniformity"]) < uniformity
    assert float(parts["alignment"]) == pytest.approx(mean(-2 * mahalanobis(a[i], b[i], [1.0] * D) for i in range(N)))
