"""Learned precisions are compared in sorted order, on one scale, each with its own process."""

import numpy as np
import pytest

from noumena.conditionals import Anisotropic, VonMisesFisher
from noumena.diagnostics import LearnedPrecision
from noumena.losses import AnisotropicScore, Dot, Ensemble, InfoNCE
from noumena.marginals import Uniform
from noumena.pairs import Processes, Synthetic
from noumena.spaces import Sphere
from tests.diagnostics.subjects import subject

MARGINAL = Uniform(Sphere(3))
TRUE = [25.0, 5.0, 10.0]


def read(loss, source, generator):
    return LearnedPrecision()(subject(source, loss), generator)


def anisotropic(values, **options):
    return InfoNCE(AnisotropicScore(values, **options))


@pytest.mark.parametrize(("law_half", "score_half", "scale"), [(1, 1, 1.0), (0, 0, 1.0), (1, 0, 0.5), (0, 1, 2.0)])
def test_the_truth_in_another_order_deviates_by_nothing(generator, law_half, score_half, scale):
    source = Synthetic(MARGINAL, Anisotropic(TRUE, half=bool(law_half)))
    learned = [scale * value for value in (5.0, 25.0, 10.0)]
    found = read(anisotropic(learned, half=bool(score_half)), source, generator)
    assert found.values["precision_deviation"] < 1e-6
    assert found.values["precision_max"] == pytest.approx(scale * 25) and len(found.values) == 3
    np.testing.assert_allclose(found.curves["precision"].x, found.curves["precision"].y, rtol=1e-6)
    # The mutant: the factor one half forgotten on one side.
    wrong = read(anisotropic(learned, half=not score_half), source, generator)
    assert wrong.values["precision_deviation"] >= 0.5 - 1e-6


def test_the_largest_relative_deviation_counts(generator):
    source = Synthetic(MARGINAL, Anisotropic(TRUE))
    found = read(anisotropic([24.0, 5.6, 10.1]), source, generator)
    assert found.values["precision_deviation"] == pytest.approx(0.12, rel=1e-5)
    assert found.curves["precision"].x == (5.0, 10.0, 25.0)


def test_members_of_an_ensemble_are_compared_with_their_own_process(generator):
    swapped = [5.0, 25.0, 10.0]
    source = Processes(MARGINAL, Anisotropic(TRUE), others=[Anisotropic(swapped)])
    right = read(Ensemble([anisotropic(TRUE), anisotropic(swapped)]), source, generator).values
    assert right["precision_deviation"] < 1e-6
    assert right["precision_correlation"] == pytest.approx(right["true_precision_correlation"])
    assert right["precision_correlation"] == pytest.approx(np.corrcoef(np.log(TRUE), np.log(swapped))[0, 1])
    # Both members in one order: each alone is right up to order, together they are not.
    alike = read(Ensemble([anisotropic(TRUE), anisotropic(TRUE)]), source, generator).values
    assert alike["precision_deviation"] < 1e-6 and alike["precision_correlation"] == pytest.approx(1.0)


def test_nothing_is_said_where_nothing_is_learned(generator):
    source = Synthetic(MARGINAL, Anisotropic(TRUE))
    for loss in (None, InfoNCE(Dot(0.1)), anisotropic(TRUE, learnable=False)):
        assert read(loss, source, generator).values == {}


def test_what_cannot_be_compared_is_refused(generator, unchecked_shapes):
    with pytest.raises(TypeError, match="`conditional` must be a `Anisotropic`, got `VonMisesFisher`"):
        read(anisotropic(TRUE), Synthetic(MARGINAL, VonMisesFisher(4.0)), generator)
    source = Processes(MARGINAL, Anisotropic(TRUE), others=[Anisotropic(TRUE)])
    with pytest.raises(ValueError, match="a process for each learned precision, got 2 and 1"):
        read(anisotropic(TRUE), source, generator)
