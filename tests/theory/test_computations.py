"""What tables compute without training, against numbers derived independently."""

import re

import numpy as np
import pytest
import torch
from scipy import integrate, special

from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.marginals import Uniform
from noumena.metrics import angle_error, linear_r2
from noumena.spaces import Box, Sphere
from noumena.theory import FibreRotation, Fold, Forget, Shrink, recovery, shrink_slope
from noumena.theory.collapse import CollapseBound
from noumena.theory.shrink import ShrinkCurve
from noumena.theory.stretch import BestStretch
from noumena.theory.unseen import MapLosses

KAPPA, TAU = 10 / 3, 0.3
UNIFORM = Uniform(Sphere(3))


def law(concentration="exact"):
    return FixedContent(KAPPA, 1, Sphere(3), concentration)


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize(("concentration", "slope"), [("exact", -0.32406), ("published", -0.14942)])
def test_slopes_at_the_identity(concentration, slope):
    found = ShrinkCurve(UNIFORM, law(concentration), TAU, [0.1])(seeded())
    assert found.values["slope"] == pytest.approx(slope, abs=5e-6)
    assert found.values["loss_at_0.1"] < found.values["loss_of_isometries"]
    assert found.values["infimum"] == pytest.approx(-1.89839, abs=5e-6)
    assert min(found.curves["shrink"].y) > found.values["infimum"]


@pytest.mark.parametrize(("dim", "fixed"), [(3, 2), (5, 1), (10, 4), (10, 9)])
@pytest.mark.parametrize("concentration", ["exact", "published"])
def test_slopes_in_any_dimension(dim, fixed, concentration):
    free = dim - fixed

    def integrand(b):
        t = KAPPA * b if concentration == "exact" else KAPPA if free > 1 else 0.0
        mean_cosine = special.ive(free / 2, t) / special.ive(free / 2 - 1, t) if t else 0.0
        density = b ** (free / 2 - 1) * (1 - b) ** (fixed / 2 - 1) / special.beta(free / 2, fixed / 2)
        return density * b * (1 - b) * (1 - mean_cosine)

    expected = -2 / TAU * integrate.quad(integrand, 0, 1)[0]
    found = shrink_slope(dim, fixed, KAPPA, TAU, concentration=concentration)
    assert found == pytest.approx(expected, rel=1e-7) and found < 0


def test_nothing_fixed_or_nothing_free_has_no_slope():
    assert shrink_slope(4, 0, KAPPA, TAU) == shrink_slope(4, 4, KAPPA, TAU) == 0.0


# sampler, c, best stretch, its loss, R², that of the latents (derived with scipy)
FAMILY = [
    ("published", 0.0, 0.729, 6.0546, 0.9944, None),
    ("published", 0.6, 1.536, 6.5823, 0.9909, None),
    ("published", 0.9, 5.483, 6.6840, 0.9061, None),
    ("exact", 0.0, 0.572, 6.1564, 0.9821, 6.2478),
    ("exact", 0.5, 0.725, 6.6841, 0.9942, 6.7029),
]


@pytest.mark.parametrize(("sampler", "c", "stretch", "loss", "r2", "latents"), FAMILY)
def test_the_best_stretch(sampler, c, stretch, loss, r2, latents):
    found = BestStretch(UNIFORM, law(sampler), TAU, c, 2000)(seeded()).values
    assert found["stretch"] == pytest.approx(stretch, rel=2e-3)
    assert found["best_loss"] == pytest.approx(loss, abs=1e-4)
    assert found["linear_r2"] == pytest.approx(r2, abs=2e-4)
    assert latents is None or found["loss_of_isometries"] == pytest.approx(latents, abs=1e-4)


@pytest.mark.parametrize("h", [Shrink(factor=0.5), FibreRotation(rate=2.0), Fold(), Forget()])
def test_recovery_is_what_the_metrics_approach(h):
    z = UNIFORM.sample(8192, generator=seeded(), dtype=torch.float64)
    found = recovery(h, UNIFORM)
    assert found.linear_r2 == pytest.approx(linear_r2(z, h(z)), abs=0.02)
    assert found.angle_error == pytest.approx(angle_error(z, h(z)), abs=0.004)


def test_recovery_has_closed_forms():
    assert recovery(Shrink(), UNIFORM) == pytest.approx((1.0, 0.0), abs=1e-12)
    # Of a fold u is lost and v kept; half of E|u u' - |u u'|| is E|u|^2 / 2 = 1/8.
    assert recovery(Fold(), UNIFORM) == pytest.approx((2 / 3, 1 / 8), abs=1e-9)
    assert recovery(Forget(), UNIFORM).linear_r2 == pytest.approx(2 / 3 * (np.pi / 4) ** 2 * 3 / 2, abs=1e-9)


def test_a_rotation_of_fibres_is_seen_by_scores_and_not_by_losses():
    found = MapLosses(UNIFORM, law(), FibreRotation(rate=2.0), TAU)(seeded()).values
    assert found["plain"] == pytest.approx(found["plain_of_latents"], abs=1e-9)
    assert found["adapted"] == pytest.approx(found["adapted_of_latents"], abs=1e-9) == pytest.approx(-0.6083, abs=1e-4)
    assert found["linear_r2"] == pytest.approx(0.617, abs=2e-3)


def test_the_collapse_bound_of_a_space():
    found = CollapseBound(Sphere(10), TAU, 2000)(seeded()).values
    assert found["collapse_bound"] == pytest.approx(4.8080, abs=5e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shrink_slope(3, 4, 1.0, 1.0), "`fixed` must be at most `dim`, 3; got 4."),
        (lambda: ShrinkCurve(UNIFORM, law(), TAU, [1.0]), "`epsilons` must lie between 0 and 1, got 1.0."),
        (lambda: BestStretch(Uniform(Sphere(3, 2.0)), law(), TAU, 0.5, 9), "must live on a unit sphere"),
        (lambda: CollapseBound(Box(3), TAU, 9), "`space` must be a unit sphere such as Sphere(3)"),
        (lambda: recovery(Fold(), Uniform(Box(3))), "must live on a sphere of at most 3 dimensions"),
    ],
)
def test_wrong_calls(unchecked_shapes, call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_positives_must_keep_something(unchecked_shapes):
    with pytest.raises(TypeError, match="Maps of u and v need positives that keep u"):
        MapLosses(UNIFORM, VonMisesFisher(KAPPA), Fold(), TAU)
