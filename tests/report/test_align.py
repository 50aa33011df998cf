"""Each alignment undoes exactly the maps that its metric ignores."""

import numpy as np
import pytest

from noumena.report.align import align, turned


@pytest.fixture
def z() -> np.ndarray:
    z = np.random.default_rng(0).normal(size=(300, 3))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


ROTATION = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
SHEAR = np.array([[1.0, 0.8, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]])
MAPS = {
    "matching": lambda z: z[:, [2, 0, 1]] * [3.0, -0.1, 1.0] + [0.0, 5.0, 1.0],
    "rotation": lambda z: z @ ROTATION,
    "affine": lambda z: z @ SHEAR + [1.0, 2.0, 3.0],
}
UNDONE = {
    "mcc_in_sample": {"matching"},
    "angle_error_normalised": {"rotation"},
    "linear_r2": {"matching", "rotation", "affine"},
}


@pytest.mark.parametrize("metric", UNDONE)
@pytest.mark.parametrize("name", MAPS)
def test_it_undoes_what_the_metric_ignores_and_no_more(z, metric, name):
    undone = np.allclose(align(z, MAPS[name](z), metric).h, z, atol=1e-9)
    assert undone == (name in UNDONE[metric])


def test_fewer_columns_leave_coordinates_open(z):
    found = align(z, -z[:, [1]], "mcc").h
    assert np.allclose(found[:, 1], z[:, 1]) and np.isnan(found[:, [0, 2]]).all()
    assert align(z, np.zeros((300, 3)), "mcc").h.shape == z.shape


def test_the_best_turn_is_orthogonal(z):
    h = turned(z, z @ SHEAR)
    assert np.allclose(np.linalg.norm(h, axis=1), np.linalg.norm(z @ SHEAR, axis=1))
