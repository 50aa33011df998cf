"""The dip against its definition as a linear programme, and conditionals of known shape."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import nn

from noumena.data import InMemory
from noumena.data.augmentations import ColorJitter, Compose, HorizontalFlip, Normalize
from noumena.diagnostics import ConditionalShape
from noumena.diagnostics.dip import dip
from noumena.pairs import Given
from tests.diagnostics.subjects import subject


def by_programme(values) -> float:
    """The least t over all modes such that a law with this mode lies within t of the sample's distribution function.

    Unknowns are t, the law's values at the points up to the mode from the left, and from the mode on from the right.
    """
    x = np.sort(values)
    n, best = len(x), np.inf
    for m in range(n):
        left, right = list(range(m + 1)), list(range(m, n))
        places = [("left", i) for i in left] + [("right", i) for i in right]
        index = {place: 1 + k for k, place in enumerate(places)}
        rows, bounds = [], []

        def at_most(terms, bound, rows=rows, bounds=bounds, width=1 + len(places)):
            row = np.zeros(width)
            for column, value in terms:
                row[column] += value
            rows.append(row)
            bounds.append(bound)

        for (side, i), column in index.items():
            if side == "left" or i > m:
                at_most([(column, 1), (0, -1)], i / n)  # below F(x-) + t
            if side == "right" or i < m:
                at_most([(column, -1), (0, -1)], -(i + 1) / n)  # above F(x) - t
        at_most([(index["left", m], 1), (index["right", m], -1)], 0)  # a jump at the mode goes up
        for side, part, sign in (("left", left, 1), ("right", right, -1)):
            for a, b in zip(part, part[1:], strict=False):
                at_most([(index[side, a], 1), (index[side, b], -1)], 0)
            for a, b, c in zip(part, part[1:], part[2:], strict=False):
                first, second = x[b] - x[a], x[c] - x[b]
                terms = [(index[side, c], -first), (index[side, b], first + second), (index[side, a], -second)]
                at_most([(column, sign * value) for column, value in terms], 0)
        cost = np.zeros(1 + len(places))
        cost[0] = 1
        found = linprog(cost, A_ub=np.array(rows), b_ub=bounds, bounds=[(0, None)] + [(None, None)] * len(places))
        best = min(best, found.fun)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_dip_is_that_of_its_definition(seed):
    draw = np.random.default_rng(seed)
    values = draw.normal(size=9) + (3.0 * draw.integers(2, size=9) if seed % 2 else 0)
    assert dip(values) == pytest.approx(by_programme(values), abs=1e-9)


def test_known_dips():
    assert dip(np.arange(50.0)) == pytest.approx(1 / 100)
    assert dip(np.repeat([0.0, 1.0], 40)) == pytest.approx(1 / 4)
    assert dip(np.full(9, 2.0)) == 0


def test_the_dip_ignores_scale_order_and_direction():
    values = np.random.default_rng(0).normal(size=80)
    for other in (values[::-1], 5 * values - 3, -values):
        assert dip(other) == pytest.approx(dip(values))


class Columns(nn.Module):
    """Mean of the left half and of the right half."""

    def forward(self, x):
        half = x.shape[3] // 2
        return torch.stack([x[..., :half].mean(dim=(1, 2, 3)), x[..., half:].mean(dim=(1, 2, 3))], dim=1)


class Noise(nn.Module):
    """Normal in each coordinate, whatever the image: hashes of pixels that a faint jitter scrambles."""

    def forward(self, x):
        u = torch.frac(1e4 * x.double().flatten(1)[:, :2] ** 1.5)
        return torch.special.ndtri(u.clamp(1e-6, 1 - 1e-6)).float()


def read(augmentation, encoder, **options):
    pixels = torch.randint(50, 200, (40, 1, 6, 6), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    pixels[..., 3:] //= 4  # the halves differ
    diagnostic = ConditionalShape(InMemory(pixels), augmentation, **{"n": 20, "views": 80, **options})
    source = Given(torch.zeros(4, 2), torch.zeros(4, 2))
    found = diagnostic(subject(source, encoder=encoder), torch.Generator().manual_seed(1))
    assert set(found.values) == set(diagnostic.names)
    return found


def test_a_flip_has_two_modes():
    found = read(Compose([HorizontalFlip(), ColorJitter(brightness=0.1)]), Columns())
    assert found.values["conditional_several_modes"] == 1 and found.values["conditional_dip"] > 0.15
    assert found.values["conditional_exponent"] > 4  # lighter tails than any normal law
    assert set(found.curves) == {"dip", "coordinate 1", "coordinate 2"}


def test_uniform_brightness_has_one_mode_and_is_not_normal():
    found = read(ColorJitter(brightness=0.1), Columns(), views=120).values
    # The uniform law is the null of the dip test: it alarms in one case in a hundred.
    assert found["conditional_several_modes"] <= 0.1 and found["conditional_not_normal"] > 0.9
    assert found["conditional_exponent"] > 5


def test_a_normal_conditional_raises_no_alarm():
    found = read(ColorJitter(brightness=0.2), Noise()).values
    assert found["conditional_several_modes"] == 0 and found["conditional_not_normal"] < 0.15
    assert 1.7 < found["conditional_exponent"] < 2.4


def test_wrong_calls_of_conditional_shape(unchecked_shapes):
    with pytest.raises(ValueError, match="none of them moves"):
        read(Normalize((0.0,), (1.0,)), Columns())
    with pytest.raises(ValueError, match="`views` must be at least 20"):
        read(HorizontalFlip(), Columns(), views=5)
