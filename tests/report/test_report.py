import json
from pathlib import Path

import pytest

from noumena.report.load import load
from noumena.report.table import lines


def run_folder(root: Path, seed: int, r2: float, error: float, row: str = "1") -> None:
    folder = root / "table" / row / f"seed-{seed}"
    folder.mkdir(parents=True)
    reported = [{"metric": "linear_r2", "mean": 0.9, "spread": 0.01, "source": "somewhere", "negatives": None}]
    (folder / "description.json").write_text(json.dumps({"reported": reported}))
    outcome = {"table": "t", "row": row, "recipe": "fast", "baseline": None, "seed": seed, "digest": "d", "code": "c"}
    outcome |= {"seconds": 2.0, "loss": 1.0, "metrics": {"linear_r2": r2, "angle_error": error}}
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
