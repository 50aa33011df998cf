"""A grid is its rows, written once."""

import re
import tomllib
from copy import deepcopy
from pathlib import Path

import pytest

from noumena.experiments.spec import Table, parse_table
from tests.experiments.tables import content

GRID = {
    "over": [{"kappa": [1.0, 4.0], "widths": [[8], [16, 16]]}, {"b": [32, 64, 128]}],
    "id": "k{kappa}-b{b}",
    "name": "concentration {kappa}, batch {b}",
    "conditional": {"kind": "vmf.VonMisesFisher", "kappa": "{kappa}"},
    "sweep": {"name": "batch size", "value": "{b}", "series": "kappa {kappa}"},
    "recipes": {"fast": {"encoder": {"widths": "{widths}"}, "train": {"batch_size": "{b}"}, "notes": ["batch {b}"]}},
    "reported": [
        {
            "metric": "mcc",
            "mean": [0.1, 0.2, float("nan"), 0.4, 0.5, 0.6],
            "spread": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5],
            "source": "Figure {kappa}",
        },
        {"metric": "loss", "mean": 3.0, "negatives": [1, 2, 3, 4, 5, 6], "source": "all of them"},
    ],
    "baselines": {"identity": [{"metric": "mcc", "mean": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5], "source": "batch {b}"}]},
}


def table(*grids: dict, rows: bool = False) -> Table:
    given = content("grid", list(grids))
    if not rows:
        del given["row"]
    return parse_table("t", given)


def changed(**changes) -> dict:
    return {**deepcopy(GRID), **changes}


def test_values_of_one_table_vary_together_and_tables_in_all_combinations():
    rows = table(GRID).rows
    assert [row.id for row in rows] == [f"k{k}-b{b}" for k in (1.0, 4.0) for b in (32, 64, 128)]
    last = rows[-1]
    assert last.name == "concentration 4.0, batch 128" and last.recipe_notes["fast"] == ("batch 128",)
    assert last.world["conditional"]["kappa"] == 4.0
    assert last.recipes["fast"]["encoder"]["widths"] == [16, 16] and last.recipes["fast"]["encoder"]["head"] == "sphere"
    assert last.sweep == {"name": "batch size", "value": 128, "series": "kappa 4.0"}


def test_a_row_of_a_grid_is_the_row_written_by_hand():
    by_hand = {
        "id": "x",
        "name": "y",
        "conditional": {"kind": "vmf.VonMisesFisher", "kappa": 4},
        "recipes": {"fast": {"encoder": {"widths": [16, 16]}, "train": {"batch_size": 64}}},
    }
    row = parse_table("t", content("row", [by_hand])).row("x")
    assert row.describe("fast").digest == table(GRID).row("k4.0-b64").describe("fast").digest


def test_reported_numbers_are_those_of_each_row():
    rows = table(GRID).rows
    printed = [{number.metric: number for number in row.reported} for row in rows]
    assert [one["mcc"].mean if "mcc" in one else None for one in printed] == [0.1, 0.2, None, 0.4, 0.5, 0.6]
    assert [one["mcc"].spread for one in printed if "mcc" in one] == [0.0, 0.1, 0.3, 0.4, 0.5]
    assert printed[0]["mcc"].source == "Figure 1.0" and printed[5]["mcc"].source == "Figure 4.0"
    assert [(one["loss"].mean, one["loss"].negatives) for one in printed] == [(3.0, m) for m in range(1, 7)]
    assert [row.baselines["identity"][0].mean for row in rows] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_grids_come_after_the_rows():
    other = {"over": [{"n": [1]}], "id": "n{n}", "name": "n"}
    assert [row.id for row in table(GRID, other, rows=True).rows][:3] == ["a", "b", "k1.0-b32"]
    assert table(GRID, other, rows=True).rows[-1].id == "n1"


WRONG = {
    "no `over`": ({"over": None}, "t, grid 1: `over` must be given"),
    "`over` without a table": ({"over": []}, "t, grid 1, over must list at least one table"),
    "`over` that is no list": ({"over": {"b": [1]}}, "t, grid 1, over: `over` must be a list"),
    "an empty table": ({"over": [{}]}, "over[0] must name at least one value"),
    "values that are no list": ({"over": [{"b": 3}]}, "over[0]: `b` must be a list, got 3"),
    "no values": ({"over": [{"b": []}]}, "must be equally many, at least one; got {'b': 0}"),
    "unequal values": ({"over": [{"b": [1], "kappa": [1, 2]}]}, "equally many, at least one; got {'b': 1, 'kappa': 2}"),
    "a name twice": ({"over": [{"b": [1]}, {"b": [2]}]}, "over[1]: names must be words and none twice, got `b`"),
    "a name that is no word": ({"over": [{"b c": [1]}]}, "names must be words and none twice, got `b c`"),
    "an unknown name": ({"name": "{kapa}"}, "t, grid 1, name: `over` has no `kapa`; did you mean `kappa`?"),
    "an unknown name deep down": (
        {"recipes": {"fast": {"train": {"batch_size": "{c}"}}}},
        "t, grid 1, recipes.fast.train.batch_size: `over` has no `c`",
    ),
    "a list within a text": ({"name": "{widths} wide"}, "`{widths}` is [8] and cannot stand within a text"),
    "a value that nothing says": (
        {"over": [*GRID["over"], {"lr": [0.1]}]},
        "nothing says `{lr}`, so that rows would not differ by it",
    ),
    "too few numbers": (
        {"reported": [{"metric": "mcc", "mean": [0.1], "source": ""}]},
        "t, grid 1, reported[0]: `mean` must have an entry for each of the 6 rows, got 1",
    ),
    "of a baseline": (
        {"baselines": {"identity": [{"metric": "mcc", "mean": [], "source": ""}]}},
        "t, grid 1, baselines.identity[0]: `mean` must have an entry for each of the 6 rows, got 0",
    ),
    "an unknown baseline": ({"baselines": {"identiy": []}}, "unknown key `identiy`; did you mean `identity`?"),
    "an unknown key": ({"condition": {}}, "t, row `k1.0-b32`: unknown key `condition`"),
    "an id for all rows": ({"id": "{widths}"}, "t, grid 1, row 1: `id` must be text, got [8]"),
    "one id": ({"id": "k{kappa}"}, "no `id` twice"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_place(case):
    changes, message = WRONG[case]
    grid = {key: value for key, value in changed(**changes).items() if value is not None}
    with pytest.raises(ValueError, match=re.escape(message)):
        table(grid)


def test_the_example_of_the_documentation():
    blocks = re.findall(r"```toml\n(.*?)```", (Path(__file__).parents[2] / "docs" / "tables.md").read_text(), re.DOTALL)
    (grid,) = [block for block in blocks if block.startswith("[[grid]]")]
    rows = parse_table("t", tomllib.loads("\n".join([blocks[0], grid]))).rows[2:]
    assert [row.id for row in rows] == [f"k{k}-d{d}" for k in ("1.0", "10.0") for d in (5, 10, 20)]
    assert [row.world["space"]["dim"] for row in rows] == [5, 10, 20] * 2
    assert [row.recipes["fast"]["train"]["steps"] for row in rows] == [4000] * 3 + [1000] * 3
    assert [len(row.reported) for row in rows] == [1, 1, 1, 1, 1, 0]
