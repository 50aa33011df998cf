"""Where the points of a sweep go: parts, panels, lines, and what is left out of a legend."""

import json

import pytest

from noumena.report.load import Run
from noumena.report.sweep import sweep_panels, sweeps

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

METRICS = {"linear_r2_in_sample": 0.9, "linear_r2": 0.8, "mcc": 0.5}


def run(tmp_path, value: float, seed: int = 0, reported: float | None = None, **sweep) -> Run:
    printed = [] if reported is None else [{"metric": "mcc", "mean": reported, "spread": 0.1, "negatives": None}]
    place = {"name": "kappa", "value": value, **sweep}
    row = json.dumps(place, sort_keys=True)
    outcome = {"table": "t", "row": row, "recipe": "fast", "baseline": None, "seed": seed, "digest": row, "code": "c"}
    outcome |= {
        "seconds": 1.0,
        "core_seconds": 1.0,
        "loss": 1.0,
        "metrics": {name: mean + 0.01 * seed for name, mean in METRICS.items()},
    }
    return Run(tmp_path, {"reported": printed, "about": {"sweep": place}}, outcome)


def drawn(runs):
    """The axes of each panel, part by part."""
    parts = []
    for part in sweep_panels(runs):
        axes = [Figure().subplots() for _ in part]
        for paint, ax in zip(part, axes, strict=True):
            paint(ax)
        parts.append(axes)
    return parts


def legend(ax) -> list[str]:
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_report_chooses_what_has_a_reported_number(tmp_path):
    runs = [run(tmp_path, value, seed, reported=0.6) for value in (1.0, 2.0) for seed in (0, 1)]
    assert list(sweeps(runs)) == [("t", "fast", "kappa")]
    ((ax,),) = drawn(runs)
    assert ax.get_title() == "MCC" and ax.get_xlabel() == "kappa" and legend(ax) == ["reported"]
    ours, theirs = ax.containers
    assert list(ours.lines[0].get_ydata()) == pytest.approx([0.505, 0.505])
    assert list(theirs.lines[0].get_ydata()) == [0.6, 0.6]
    assert (ours.lines[0].get_linestyle(), theirs.lines[0].get_linestyle()) == ("-", "--")


def test_without_reported_numbers_those_in_sample_give_way_to_the_others(tmp_path):
    ((first, second),) = drawn([run(tmp_path, value) for value in (1.0, 2.0)])
    assert (first.get_title(), second.get_title()) == ("R²", "MCC") and not legend(first)
    assert first.containers[0].lines[0].get_ydata()[0] == 0.8


def test_a_table_says_what_is_drawn_together_and_apart(tmp_path):
    asked = {"draw": [["linear_r2_in_sample", "mcc"], "linear_r2", "unknown"], "mark": {"name": "edge", "value": 3.0}}
    runs = [run(tmp_path, value, panel=panel, **asked) for panel in ("left", "right") for value in (4.0, 1.0, 2.0)]
    left, right = drawn(runs)
    assert [ax.get_title() for ax in left] == ["left: R², MCC", "left: R²"]
    assert [ax.get_title() for ax in right] == ["right: R², MCC", "right: R²"]
    both = left[0]
    assert legend(both) == ["R²", "MCC", "edge"] and not legend(right[0]), "one legend explains both parts"
    assert list(both.containers[0].lines[0].get_xdata()) == [1.0, 2.0, 4.0], "points in order"
    assert any(list(line.get_xdata()) == [3.0, 3.0] and line.get_linestyle() == ":" for line in both.lines)


def test_series_are_lines_and_a_new_one_is_explained(tmp_path):
    given = [("left", "a"), ("right", "a"), ("right", "b")]
    runs = [run(tmp_path, 1.0, panel=panel, series=series, draw=["mcc"]) for panel, series in given]
    (left,), (right,) = drawn(runs)
    assert (legend(left), legend(right)) == (["a"], ["a", "b"])


def test_a_wide_axis_is_a_logarithm(tmp_path):
    ((ax,),) = drawn([run(tmp_path, 4.0**i, draw=["mcc"]) for i in range(5)])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2⁰", "2²", "2⁴", "2⁶", "2⁸"]
    ((other,),) = drawn([run(tmp_path, value, draw=["mcc"]) for value in (0.0, 100.0)])
    assert other.get_xscale() == "linear"
