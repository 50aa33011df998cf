"""The precision that training wants, with uniform negatives and with hard ones."""

import math

import numpy as np
import pytest
import torch

from noumena import streams
from noumena.conditionals import Anisotropic
from noumena.experiments.build import build_computation
from noumena.experiments.spec import load_table
from noumena.marginals import Uniform
from noumena.spaces import Sphere
from noumena.theory import PrecisionSweep
from noumena.theory.precision_sweep import _loss, _lowest

D = 5
MARGINAL = Uniform(Sphere(D))


def law(precision: float, half: bool = False) -> Anisotropic:
    return Anisotropic([precision] * D, half=half)


def sweep(positive, negative, half=False, seed=1, **options):
    made = PrecisionSweep(MARGINAL, law(positive, half), negatives=law(negative, half), half=half, **options)
    return made(torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("half", [False, True])
def test_the_minimum_lies_at_the_difference_of_the_precisions(half):
    found = sweep(60.0, 40.0, half, at=[10.0, 20.0, 60.0], anchors=4000, m=60).values
    assert found["minimum"] == pytest.approx(20.0, abs=2.0)
    # The mutants: the precision of the positives, and that of the negatives.
    assert found["loss_at_60"] - found["minimum_loss"] > 0.1 > 0 < found["loss_at_10"] - found["minimum_loss"]


def test_nearly_uniform_negatives_leave_the_precision_of_the_positives():
    found = sweep(20.0, 1e-6, at=[10.0, 20.0], anchors=6000, m=60).values
    assert found["minimum"] == pytest.approx(20.0, abs=1.0)


def test_the_loss_is_that_of_the_formula():
    gaps = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = np.mean([math.log(1 + sum(math.exp(-1.7 * float(gap)) for gap in row)) for row in gaps])
    assert _loss(gaps, 1.7) == pytest.approx(expected, rel=1e-12)


def test_the_minimum_is_where_the_slope_vanishes():
    gaps = torch.randn(500, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.7
    lowest = _lowest(gaps)
    near = [_loss(gaps, lowest + step) for step in (-1e-2, 0.0, 1e-2)]
    assert near[1] < min(near[0], near[2])
    assert abs(near[2] - near[0]) < 1e-5
    assert _lowest(gaps.abs()) == math.inf
    assert _lowest(-gaps.abs()) == pytest.approx(0.0, abs=1e-6)


def test_the_published_figure_is_recomputed():
    # Losses of another implementation, one batch of 1500 anchors: draws move all of them together by about .01.
    recomputed = {30: 4.453, 40: 4.381, 45: 4.362, 50: 4.354, 55: 4.355, 60: 4.365, 70: 4.410, 100: 4.708}
    made = build_computation(load_table("aninfonce/fig10").row("a").describe("published"), seed=100)
    found = made(streams(100).eval).values
    assert found["minimum"] == pytest.approx(50.0, abs=2.5)
    for precision, loss in recomputed.items():
        assert found[f"loss_at_{precision}"] == pytest.approx(loss, abs=0.05)


def test_names_are_those_of_the_numbers():
    made = PrecisionSweep(MARGINAL, law(6.0), negatives=law(3.0), at=[1.0, 2.5], anchors=20, m=5)
    found = made(torch.Generator().manual_seed(1))
    assert set(found.values) == set(made.names) == {"loss_at_1", "loss_at_2.5", "minimum", "minimum_loss"}
    assert found.curves["loss"].x == (1.0, 2.5)


def test_wrong_calls_of_precision_sweep(unchecked_shapes):
    with pytest.raises(ValueError, match="`at` must name at least two precisions"):
        sweep(6.0, 3.0, at=[1.0])
    with pytest.raises(ValueError, match=r"`at\[1\]` must be positive"):
        sweep(6.0, 3.0, at=[1.0, 0.0])
