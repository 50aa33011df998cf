from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch
from scipy import linalg

from noumena.batch import PairEmbeddings
from noumena.losses import CovarianceContrast
from tests.contracts.losses import LossContract, watched
from tests.memory import largest_tensor
from tests.references import covariance


class TestCovarianceContrast(LossContract):
    ridge, centre = 0.0, True

    def make(self):
        return CovarianceContrast(ridge=self.ridge, centre=self.centre)

    def reference(self, loss, embeddings):
        return covariance.per_anchor(embeddings.h, embeddings.h_pos, self.ridge, self.centre)

    def test_equal_embeddings(self, generator):
        """Nothing varies: no value can be meant."""
        with pytest.raises(ValueError, match="coordinate 0 is constant"):
            self.make()(PairEmbeddings(torch.ones(6, 4), torch.ones(6, 4)))


class TestRidge(TestCovarianceContrast):
    ridge = 0.3


class TestUncentredRidge(LossContract):
    """Equal embeddings have a second moment, of rank one."""

    def make(self):
        return CovarianceContrast(ridge=0.3, centre=False)

    def reference(self, loss, embeddings):
        return covariance.per_anchor(embeddings.h, embeddings.h_pos, 0.3, centre=False)


def positives(n, d, generator, noise=1.0):
    """Correlated coordinates, away from the origin, and noisy positives: not exchangeable."""
    h = torch.randn(n, d, generator=generator, dtype=torch.float64)
    h = h @ torch.randn(d, d, generator=generator, dtype=torch.float64) + 3
    return PairEmbeddings(h, h + noise * torch.randn(n, d, generator=generator, dtype=torch.float64))


def moments(embeddings):
    """C and K in NumPy, about the mean of both views."""
    h, h_pos = embeddings.h.numpy(), embeddings.h_pos.numpy()
    both = np.concatenate([h, h_pos])
    h, h_pos = h - both.mean(0), h_pos - both.mean(0)
    return np.cov(both.T, bias=True), (h.T @ h_pos + h_pos.T @ h) / (2 * len(h))


def total(embeddings, **options):
    return float(CovarianceContrast(**options)(embeddings).total)


def canonical_correlations(embeddings):
    """Of the sample that holds every pair in both orders, by orthonormal bases of both sides."""
    h, h_pos = embeddings.h.numpy(), embeddings.h_pos.numpy()
    sides = [np.concatenate([h, h_pos]), np.concatenate([h_pos, h])]
    left, right = (np.linalg.qr(side - side.mean(0))[0] for side in sides)
    return np.linalg.svd(left.T @ right, compute_uv=False)


def test_is_minus_the_sum_of_generalised_eigenvalues_and_of_canonical_correlations(generator):
    embeddings = positives(200, 4, generator)
    covariances, cross = moments(embeddings)
    eigenvalues = linalg.eigh(cross, covariances, eigvals_only=True)
    assert total(embeddings) == pytest.approx(-eigenvalues.sum(), abs=1e-12)
    assert (eigenvalues > 0).all()  # or they would be correlations up to sign
    assert total(embeddings) == pytest.approx(-canonical_correlations(embeddings).sum(), abs=1e-12)


def test_linear_maps_to_fewer_coordinates_can_reach_the_top_canonical_correlations_and_no_more(generator):
    embeddings = positives(200, 6, generator)
    covariances, cross = moments(embeddings)
    top = torch.from_numpy(linalg.eigh(cross, covariances)[1][:, -2:].copy())
    bound = -canonical_correlations(embeddings)[:2].sum()
    assert total(mapped(embeddings, top)) == pytest.approx(bound, abs=1e-12)
    others = [torch.randn(6, 2, generator=generator, dtype=torch.float64) for _ in range(50)]
    assert min(total(mapped(embeddings, other)) for other in others) > bound


def mapped(embeddings, matrix, shift=0.0):
    return PairEmbeddings(embeddings.h @ matrix + shift, embeddings.h_pos @ matrix + shift)


@pytest.mark.parametrize("width", [1.0, 1e4])
def test_affine_maps_of_embeddings_change_nothing(generator, width):
    embeddings = positives(50, 4, generator)
    matrix = torch.randn(4, 4, generator=generator, dtype=torch.float64) * torch.tensor([1.0, 1.0, 1.0, width])
    before, after = (CovarianceContrast()(one) for one in (embeddings, mapped(embeddings, matrix, shift=2.0)))
    torch.testing.assert_close(after.per_anchor, before.per_anchor, rtol=1e-8, atol=1e-8)
    assert abs(total(mapped(embeddings, matrix, 2.0), ridge=0.1) - total(embeddings, ridge=0.1)) > 1e-3


def test_a_ridge_keeps_what_shifts_scale_and_rotations_keep(generator):
    embeddings = positives(50, 4, generator)
    rotation = torch.linalg.qr(torch.randn(4, 4, generator=generator, dtype=torch.float64))[0]
    expected = total(embeddings, ridge=0.1)
    assert total(mapped(embeddings, 7 * rotation, shift=-1.0), ridge=0.1) == pytest.approx(expected, abs=1e-12)


def test_without_a_centre_linear_maps_change_nothing_and_shifts_do(generator):
    embeddings = positives(50, 4, generator)
    matrix = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    expected = total(embeddings, centre=False)
    assert total(mapped(embeddings, matrix), centre=False) == pytest.approx(expected, abs=1e-10)
    assert abs(total(mapped(embeddings, matrix, 2.0), centre=False) - expected) > 1e-3


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_gradients_by_finite_differences(generator, ridge, centre):
    embeddings = watched(positives(7, 3, generator))
    loss = CovarianceContrast(ridge=ridge, centre=centre)
    leaves = (embeddings.h, embeddings.h_pos)

    def value(h, h_pos):
        return loss(PairEmbeddings(h, h_pos)).total

    assert torch.autograd.gradcheck(value, leaves)
    assert torch.autograd.gradgradcheck(value, leaves, torch.ones((), dtype=torch.float64, requires_grad=True))


def test_lies_between_perfect_and_opposite_positives(generator):
    h = positives(20, 4, generator).h
    assert total(PairEmbeddings(h, h)) == pytest.approx(-4, abs=1e-10)
    assert total(PairEmbeddings(h, 2 * h.mean(0) - h)) == pytest.approx(4, abs=1e-10)
    assert -4 < total(positives(20, 4, generator, noise=20.0)) < 4


def test_parts_are_the_distance_of_positives_and_the_rank(generator):
    embeddings = positives(30, 4, generator)
    gap = embeddings.h - embeddings.h_pos
    metric = np.linalg.inv(moments(embeddings)[0])
    parts = CovarianceContrast()(embeddings).parts
    assert float(parts["rank"]) == pytest.approx(-4, abs=1e-10)
    expected = np.einsum("ni,ij,nj->n", gap, metric, gap).mean() / 2
    assert float(parts["alignment"]) == pytest.approx(expected, rel=1e-10)


def test_pairs_without_information_cost_their_exact_mean(generator):
    """Over all ways to pair given rows the mean is d / (2n - 1), whatever the rows: the loss of finite batches."""
    rows = torch.randn(6, 2, generator=generator, dtype=torch.float64).exp()
    losses = [total(PairEmbeddings(rows[list(order[:3])], rows[list(order[3:])])) for order in permutations(range(6))]
    assert np.mean(losses) == pytest.approx(2 / 5, abs=1e-12)


def test_rows_far_from_the_origin_in_float32(generator):
    """Moments about zero would keep no digit of a covariance of 1e-8 of their size."""
    embeddings = positives(50, 3, generator)
    near, far = (
        PairEmbeddings((embeddings.h + shift).float(), (embeddings.h_pos + shift).float()) for shift in (0.0, 1e4)
    )
    assert total(far) == pytest.approx(total(near), abs=2e-3)  # the rows themselves are rounded to 1e-3


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_refuses_directions_that_do_not_vary(generator, dtype):
    good = positives(40, 4, generator)
    for column, values in [
        (2, lambda h: torch.full_like(h[:, 0], 0.3)),
        (3, lambda h: h[:, 1]),
        (1, lambda h: 2 * h[:, 0]),
    ]:
        dead = [h.to(dtype, copy=True) for h in (good.h, good.h_pos)]
        for h in dead:
            h[:, column] = values(h)
        with pytest.raises(ValueError, match=f"all of their 4 directions.*coordinate {column} is constant or follows"):
            CovarianceContrast()(PairEmbeddings(*dead))
        assert torch.isfinite(CovarianceContrast(ridge=0.01)(PairEmbeddings(*dead)).total)


def test_refuses_fewer_pairs_than_directions(generator):
    few = positives(2, 4, generator)
    with pytest.raises(ValueError, match="got 2 pairs in which coordinate 3"):
        CovarianceContrast()(few)
    assert torch.isfinite(CovarianceContrast(ridge=0.01)(few).total)


def test_a_narrow_direction_is_no_dead_one(generator):
    """A fluctuation of 1e-5 of the mean is told in float32, whose digits end at 1e-7."""
    good = positives(40, 3, generator)
    scale = torch.tensor([1.0, 1.0, 1e-5], dtype=torch.float64)
    narrow = mapped(good, torch.diag(scale), shift=torch.tensor([0.0, 0.0, 0.1]))
    short = replace(narrow, h=narrow.h.float(), h_pos=narrow.h_pos.float())
    assert total(short) == pytest.approx(total(good), abs=1e-2)


def test_no_pair_of_rows_is_formed(generator):
    h, h_pos = torch.randn(2, 3000, 8, generator=generator)
    with largest_tensor() as largest:
        CovarianceContrast()(PairEmbeddings(h.requires_grad_(), h_pos)).total.backward()
    assert largest.elements <= 2 * 3000 * 8


def test_refuses_what_cannot_be_meant(unchecked_shapes):
    with pytest.raises(ValueError, match="`ridge` must be at least 0, got -0.1"):
        CovarianceContrast(ridge=-0.1)
    with pytest.raises(TypeError, match="`centre` must be a `bool`"):
        CovarianceContrast(centre="mean")
