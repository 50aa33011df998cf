import pytest

from noumena.report.load import load, unfinished


def test_rows_come_in_the_order_of_their_table_before_their_baselines(folder):
    runs = [(run.outcome["row"], run.outcome["baseline"], run.outcome["seed"]) for run in load(folder / "kinds")]
    assert runs[:5] == [
        ("sphere", None, 0),
        ("sphere", None, 1),
        ("sphere", "identity", 0),
        ("sphere", "identity", 1),
        ("precision", None, 0),
    ]


def test_tables_and_rows_can_be_chosen(folder):
    assert {run.outcome["row"] for run in load(folder, rows=["box", "power-2"])} == {"box", "power-2"}
    assert {run.outcome["table"] for run in load(folder, tables=["sweep.toml"])} == {"sweep.toml"}
    with pytest.raises(ValueError, match=r"of the tables and rows asked for.*It holds kinds.toml, row box;"):
        load(folder, rows=["bxo"])


def test_a_run_that_has_begun_is_named_with_how_far_it_came(folder):
    (begun,) = unfinished(folder)
    assert begun.name == "kinds.toml, row precision (fast), seed 1" and (begun.step, begun.steps) == (2, 40)
    assert not unfinished(folder, rows=["box"])


def test_a_folder_of_unfinished_runs_alone_is_no_error(folder):
    only = next((folder / "kinds" / "precision" / "fast").glob("seed-1-*"))
    assert load(only) == [] and len(unfinished(only)) == 1


def test_runs_tell_of_their_row(folder):
    (first, *_) = load(folder, rows=["sphere"])
    assert first.about["name"] == "a <sphere>" and first.about["title"].startswith("Every kind")
    assert first.sample()["z"].shape == (1024, 3) and len(first.records()) == 20
    assert [record.step for record in first.records("pretraining-")] == [2, 4]
    (computed, *_) = load(folder, rows=["power-1"])
    assert computed.records() == [] and computed.sample() == {}
