from xml.etree import ElementTree

import numpy as np
import pytest

from noumena.report import figure
from noumena.report.curves import distance, distance_name, true_precision
from noumena.report.scatter import explained
from noumena.report.spheres import VIEW, balls, colours, data, view


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(figure, "available", lambda: False)
    with pytest.raises(ModuleNotFoundError, match=r"install `noumena\[report\]`"):
        figure.draw([lambda ax: None], "nothing")


def test_a_picture_is_text_in_the_ink_of_its_page():
    pytest.importorskip("matplotlib")

    def paint(ax):
        ax.plot([1, 10], [1, 2], label="a < b")
        ax.scatter([1, 2], [1, 2], rasterized=True)
        ax.set_xscale("log")
        ax.legend()

    once, again = (figure.draw([paint, paint], "two & the same", columns=1) for _ in range(2))
    assert once == again
    root = ElementTree.fromstring(once)
    assert root.get("role") == "img" and root[0].text == "two & the same"
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(set(ids)) == len(ids)
    assert "currentColor" in once and figure.INK not in once and "metadata" not in once
    assert "a &lt; b" in once and "data:image/png" in once


def test_two_pictures_share_no_name():
    pytest.importorskip("matplotlib")
    first, second = (ElementTree.fromstring(figure.draw([lambda ax: ax.plot([0, 1])], alt)) for alt in ("a", "b"))
    names = [{node.get("id") for node in root.iter() if node.get("id")} for root in (first, second)]
    assert not names[0] & names[1]


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([100, 3000], [100, 200, 500, 1000, 2000]),
        ([1e-4, 1.0], [1e-4, 1e-3, 1e-2, 1e-1, 1]),
        ([0.6, 0.9], [0.6, 0.7, 0.8, 0.9]),
        ([5.0], [5]),
    ],
)
def test_marks_of_a_logarithm_are_few_plain_numbers(values, marks):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    figure.logarithmic(ax, "x", values)
    assert ax.get_xscale() == "log" and np.allclose(ax.get_xticks(), marks)
    assert [label.get_text() for label in ax.get_xticklabels()] == [f"{mark:g}" for mark in marks]


def test_powers_of_two_are_marked_as_such():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    # One value between them, such as a mark, does not spoil it.
    assert figure.powers_of_two(ax, [*(2.0**e for e in range(-6, 11, 2)), 10.0])
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "2⁻⁶",
        "2⁻⁴",
        "2⁻²",
        "2⁰",
        "2²",
        "2⁴",
        "2⁶",
        "2⁸",
        "2¹⁰",
    ]
    assert np.allclose(ax.get_xticks(), [2.0**e for e in range(-6, 11, 2)])
    other = Figure().subplots()
    assert not figure.powers_of_two(other, [1, 5, 10, 100]) and other.get_xscale() == "linear"


def test_distances_fall_to_zero_at_the_truth():
    assert distance("linear_r2", 0.75) == 0.25 and distance("angle_error", 0.75) == 0.75
    assert distance("mcc", 1.0) == distance("angle_error", 0.0) > 0, "a logarithm has no zero"
    assert distance_name("mcc_in_sample") == "1 − MCC" and distance_name("angle_error") == "angle error"


def test_true_precisions_are_in_the_convention_of_the_score():
    law = {"precision": [4.0, 8.0], "half": True}
    assert true_precision({"conditional": law, "loss": {"score": {"half": True}}}) == [4.0, 8.0]
    assert true_precision({"conditional": law, "loss": {"score": {}}}) == [2.0, 4.0]
    assert true_precision({"conditional": {"kappa": 1.0}}) == []


def test_explained_variance():
    true = np.array([0.0, 1.0, 2.0])
    assert explained(true, true) == 1 and explained(true, np.full(3, 1.0)) == 0


def test_the_view_is_a_turn():
    seen = view(*VIEW)
    assert np.allclose(seen.T @ seen, np.eye(3))
    up = seen[0]  # of the first coordinate
    assert up[1] > 0.9 and up[2] > 0, "the first coordinate points up and a little towards the reader"
    assert np.allclose(view(0, 0), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])


def test_balls_are_of_spheres_alone():
    z = np.random.default_rng(0).normal(size=(50, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    shown = balls({"z": z, "x": 7 * z + 3, "h": z[:, [1, 0, 2]]})
    assert [ball.title for ball in shown] == ["latents", "observations", "recovered"]
    assert np.allclose(shown[2].points, z) and np.abs(shown[1].points).max() <= 1
    assert [ball.title for ball in balls({"z": z, "x": z @ np.ones((3, 7)), "h": z})] == ["latents", "recovered"]
    assert not balls({"z": 0.5 * z, "x": z, "h": z}) and not balls({"z": z, "x": z, "h": z[:, :2]})
    assert "</" not in data(shown) and "<" not in data(shown)


def test_lightness_follows_the_first_coordinate_and_hue_the_others():
    poles = colours(np.array([[1.0, 0, 0], [-1.0, 0, 0]])).sum(axis=1)
    assert poles[0] > poles[1] + 1
    red, opposite = colours(np.array([[0.0, 1, 0], [0.0, -1, 0]]))
    assert red[0] > red[2] and opposite[0] < opposite[2]
