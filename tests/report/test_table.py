import json
import math
from pathlib import Path

import pytest

from noumena.report.listing import number, signed
from noumena.report.load import load
from noumena.report.table import code_versions, lines, smaller_is_better


def run_folder(root: Path, seed: int, r2: float, error: float, row: str = "1") -> None:
    folder = root / "table" / row / f"seed-{seed}"
    folder.mkdir(parents=True)
    reported = [{"metric": "linear_r2", "mean": 0.9, "spread": 0.01, "source": "somewhere", "negatives": None}]
    (folder / "description.json").write_text(json.dumps({"reported": reported}))
    outcome = {"table": "t", "row": row, "recipe": "fast", "baseline": None, "seed": seed, "digest": "d", "code": "c"}
    outcome |= {"seconds": 2.0, "core_seconds": 1.5, "loss": 1.0, "metrics": {"linear_r2": r2, "angle_error": error}}
    (folder / "outcome.json").write_text(json.dumps(outcome))


def test_seeds_are_summarised_beside_the_published_number(tmp_path):
    run_folder(tmp_path, 100, 0.98, 0.01)
    run_folder(tmp_path, 101, 0.96, 0.03)
    first, second = lines(load(tmp_path))
    assert (first.metric, first.seeds, first.published) == ("linear_r2", (100, 101), 0.9)
    assert first.mean == pytest.approx(0.97) and first.spread == pytest.approx(0.02 / 2**0.5)
    assert first.worst == 0.96 and first.difference == pytest.approx(0.07)
    assert second.worst == 0.03 and second.published is None and second.difference is None


def test_one_seed_has_no_spread(tmp_path):
    run_folder(tmp_path, 1, 0.5, 0.1)
    assert lines(load(tmp_path))[0].spread is None


def test_rows_are_kept_apart(tmp_path):
    run_folder(tmp_path, 1, 0.5, 0.1, row="1")
    run_folder(tmp_path, 1, 0.6, 0.1, row="2")
    assert [(line.row, line.mean) for line in lines(load(tmp_path)) if line.metric == "linear_r2"] == [
        ("1", 0.5),
        ("2", 0.6),
    ]


def test_what_is_no_folder_of_runs_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="no finished run"):
        load(tmp_path)
    (tmp_path / "outcome.json").write_text("{")
    with pytest.raises(ValueError, match="not a whole run folder"):
        load(tmp_path)


def test_losses_compare_after_the_logarithm_of_their_negatives(folder):
    runs = [run for run in load(folder, rows=["sphere"]) if run.outcome["baseline"] is None]
    (line,) = [line for line in lines(runs) if line.metric == "loss - log M"]
    fresh = [run.outcome["fresh_loss"]["value"] - math.log(15) for run in runs]
    assert line.mean == pytest.approx(sum(fresh) / 2) and line.worst == pytest.approx(max(fresh))
    assert line.published == pytest.approx(3.0 - math.log(50))
    floors = [run.outcome["floor"]["value"] - math.log(15) for run in runs]
    assert line.floor == pytest.approx(sum(floors) / 2) and line.gap == pytest.approx(line.mean - line.floor)


def test_a_printed_loss_that_does_not_say_its_negatives_is_compared_as_it_is(folder):
    (run, *_) = load(folder, rows=["sphere"])
    run.description["reported"][1]["negatives"] = None
    (line,) = [line for line in lines([run]) if line.metric == "loss"]
    assert line.mean == run.outcome["fresh_loss"]["value"] and line.published == 3.0


def test_no_floor_no_gap(folder):
    box = [line for line in lines(load(folder, rows=["box"])) if line.baseline == "supervised"]
    assert {line.metric for line in box} == {"linear_r2", "mcc", "distance", "trained_distance"}
    assert all(line.floor is None and line.gap is None for line in box)


def test_directions():
    smaller = ["loss", "loss - log M", "angle_error_normalised", "steps_to_0.9", "precision_deviation"]
    assert all(map(smaller_is_better, smaller))
    assert not any(map(smaller_is_better, ["linear_r2", "mcc_in_sample", "block_r2", "lossless"]))


def test_a_level_that_some_seeds_do_not_reach(tmp_path):
    run_folder(tmp_path, 1, 0.5, 0.1)
    run_folder(tmp_path, 2, 0.6, 0.1)
    path = tmp_path / "table" / "1" / "seed-1" / "outcome.json"
    path.write_text(path.read_text().replace('"linear_r2"', '"steps_to_0.5": 40, "linear_r2"'))
    (line,) = [line for line in lines(load(tmp_path)) if line.metric == "steps_to_0.5"]
    assert (line.mean, line.seeds) == (40, (1,))


def test_several_versions_of_the_code_are_named(tmp_path):
    run_folder(tmp_path, 1, 0.5, 0.1)
    run_folder(tmp_path, 2, 0.6, 0.1)
    assert not code_versions(load(tmp_path))
    path = tmp_path / "table" / "1" / "seed-2" / "outcome.json"
    path.write_text(path.read_text().replace('"code": "c"', '"code": "d"'))
    assert code_versions(load(tmp_path)) == {"t, row 1 (fast)": ("c", "d")}


def test_numbers_are_printed_with_four_decimals_or_six_figures():
    assert number(0.99964, 0.0001) == "0.9996 ± 0.0001" and number(None) == "" and number(12000.0) == "12000"
    assert signed(-0.00004) == "-0.0000" and signed(0.5) == "+0.5000" and signed(None) == ""
