import colorsys
import math

import numpy as np
import pytest

from noumena.mixings import Renderer
from noumena.mixings.render import scene, trace
from tests.references import rendering


def test_named_parameters():
    raw = np.array([[1.0, -0.5, 0.25, 1, 0, 0, 1, 0, 0, 0], [0.0] * 10])
    one = scene.scenes(scene.to_render_units(raw))
    np.testing.assert_allclose(one.position, [[3, -1.5, 0.75 + 2.221], [0, 0, 2.221]])
    np.testing.assert_allclose(one.spot, [[4, 0, 10.442], [0, 4, 10.442]], atol=1e-15)
    np.testing.assert_allclose(one.rotation[0], [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(one.object_rgb[0], [1, 0, 0])
    np.testing.assert_allclose(one.spot_rgb[0], [1, 0.2, 0.2])
    np.testing.assert_allclose(one.ground_rgb[0], [1, 0.4, 0.4])
    np.testing.assert_allclose(scene.to_raw(scene.to_render_units(raw)), raw)


def test_rotations_are_about_x_then_y_then_z():
    angles = np.random.default_rng(0).uniform(-math.pi, math.pi, (20, 3))
    np.testing.assert_allclose(scene.euler(angles), [rendering.rotation(row) for row in angles], atol=1e-14)


@pytest.mark.parametrize("saturation", [1.0, 0.8, 0.6])
def test_hues_go_round_the_circle(saturation):
    hues = np.linspace(-0.999, 0.999, 241)
    theirs = [colorsys.hsv_to_rgb(hue % 1, saturation, 1.0) for hue in hues]
    np.testing.assert_allclose(scene.rgb(hues, saturation), theirs, atol=1e-12)


def test_truncated_hues_leave_the_unit_cube_below_zero():
    hues = np.linspace(-0.25, 0.25, 101)
    # The standard library truncates, too.
    theirs = [colorsys.hsv_to_rgb(hue, 0.8, 1.0) for hue in hues]
    np.testing.assert_allclose(scene.rgb(hues, 0.8, truncated=True), theirs, atol=1e-12)
    np.testing.assert_allclose(scene.rgb(np.array([-0.1]), 1.0, truncated=True), [[1, -0.6, 0]])


def test_open_ground_has_the_radiance_of_the_closed_form():
    """Sun and square light on bare ground, against the integral over the square; the spot is turned away."""
    raw = np.zeros((1, 10))
    small = trace.render(
        scene.scenes(scene.to_render_units(raw)),
        Renderer(1).meshes,
        48,
        noise=np.zeros(1, np.uint64),
        pixel_samples=1,
        light_samples=64,
        camera=scene.Camera(),
        lights=scene.Lights(spot_watts=0.0),
        surfaces=scene.Surfaces(ground_albedo=1.0, ground_exponent=1e9, ground_white=0.0),
    )[0]
    row, column = 40, 44
    reach, half = math.tan(1.2405 / 2), math.sqrt(0.5)
    x, y = (2 * (column + 0.5) / 48 - 1) * reach, (1 - 2 * (row + 0.5) / 48) * reach
    look = np.array([-half - half * y, x, -half + half * y])
    point = np.array([8.0, 0, 8]) + (-4.442 - 8) / look[2] * look
    side = (np.arange(200) + 0.5) / 200 - 0.5
    apart = np.stack(np.meshgrid(side - point[0], side - point[1], [7.0 - point[2]]), -1)
    square = (apart**2).sum(-1)
    area = 39.27 / (4 * math.pi) * (apart[..., 2] ** 2 / square**2).mean()
    sun = 0.5 / math.pi * 2 * (1 - math.cos(0.0995) ** 3) / (3 * math.sin(0.0995) ** 2)
    # 64 evenly spread points on a small, smooth light; a lost shadow ray or factor is far outside.
    np.testing.assert_allclose(small[:, row, column] / [1, 0.4, 0.4], area + sun, rtol=2e-3)


def test_display_transform():
    linear = np.array([-1.0, 0.0, 0.0031308, 0.18, 1.0, 7.0])
    np.testing.assert_allclose(trace.srgb(linear), [0, 0, 0.04045, 0.46135612950, 1, 1], atol=1e-6)


def test_rays_cross_a_pixel_by_a_tent():
    offsets = trace.tent(1000)
    np.testing.assert_allclose([offsets.mean(), (offsets**2).mean(), np.abs(offsets).max()], [0, 1 / 6, 1], atol=0.05)
    assert trace.tent(1).tolist() == [0.0]
