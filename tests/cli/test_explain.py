import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from noumena.experiments.explain import explain, explain_table, summary
from noumena.experiments.spec import load_table, table_names
from noumena.theory import Maps
from tests.cli.test_main import call


def test_a_row_at_length():
    done = call("explain", "zimmermann2021/table1", "--row", "1.6")
    assert done.returncode == 0 and not done.stderr
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= 100
    assert "✗" in done.stdout and "✓" in done.stdout and "Table 1" in done.stdout and "repair:" in done.stdout


def test_every_row_on_a_line():
    done = call("explain", "loss_is_not_enough/holds", "--recipe", "fast")
    assert done.returncode == 0 and done.stdout.count("orthogonal") == 5
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= 100


def test_what_a_program_can_read():
    done = call("explain", "loss_is_not_enough/theorem45", "--json")
    assert json.loads(done.stdout)["rows"][0]["verdict"] is None
    done = call("explain", "aninfonce/fig2", "--row", "anisotropic-linear", "--recipe", "fast", "--json")
    (row,) = json.loads(done.stdout)["rows"]
    assert row["verdict"]["theorem"]["number"] == "Theorem 3.1" and len(row["verdict"]["blocks"]) == 10


def test_an_attack_and_its_picture(tmp_path):
    arguments = ("--row", "infonce-identity", "--attack", "--steps", "20", "--out", str(tmp_path))
    done = call("explain", "loss_is_not_enough/violated", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["rows"][0]["attack"]
    assert found["isometries"] == pytest.approx(-1.52484, abs=1e-4) and found["gap"] > 0 and found["steps"] == 20
    if find_spec("matplotlib"):
        assert "<svg" in Path(found["picture"]).read_text() and Path(found["picture"]).parent == tmp_path
    printed = call("explain", "loss_is_not_enough/violated", *arguments)
    assert printed.returncode == 0 and "gap" in printed.stdout and "isometries -1.52484" in printed.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("zimmermann2021/tabel1",),
        ("zimmermann2021/table1", "--row", "1.99"),
        ("loss_is_not_enough/sampler", "--recipe", "published"),
        ("zimmermann2021/table1", "--row", "1.5", "--attack"),
        ("zimmermann2021/table1", "--attack"),
        ("loss_is_not_enough/theorem45", "--row", "shrink-exact", "--attack"),
        ("aninfonce/fig2", "--row", "anisotropic-25", "--attack"),
    ],
)
def test_wrong_calls_exit_2_with_one_line(arguments):
    done = call("explain", *arguments)
    assert done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("name", table_names())
def test_every_row_of_every_table_has_a_verdict(name):
    table = load_table(name)
    for recipe in {recipe for row in table.rows for recipe in row.recipes}:
        for one in explain_table(table, [], recipe):
            assert one.summary.startswith(one.reason if one.verdict is None else one.verdict.summary)


# Row, maps at the optimum, statement: read off the papers' tables, column M. and the text around them.
KNOWN = [
    ("zimmermann2021/table1", "1.1", Maps.ORTHOGONAL, "Theorem 4.4"),
    ("zimmermann2021/table1", "1.2", Maps.OPEN, "Theorem 4.4"),
    ("zimmermann2021/table1", "1.9", Maps.OPEN, "Theorem 4.4"),
    ("zimmermann2021/table2", "2.1", Maps.PERMUTATION, "Theorem 6"),
    ("zimmermann2021/table2", "2.3", Maps.AFFINE, "Theorem 5"),
    ("zimmermann2021/table2", "2.9", Maps.OPEN, "Statement 3"),
    ("loss_is_not_enough/violated", "infonce-spiral", Maps.NOTHING, "Theorem 4.5"),
    ("loss_is_not_enough/sampler", "exact-identity-expressive", Maps.FIXED_PART, "Theorem 4.6 with Theorem A.5"),
]


@pytest.mark.parametrize(("table", "row", "maps", "number"), KNOWN)
def test_known_rows(table, row, maps, number):
    found = explain(load_table(table).row(row)).verdict
    assert found is not None and (found.maps, found.theorem.number) == (maps, number), found


def test_a_run_keeps_its_verdict_and_components_of_ones_own_need_none():

    row = load_table("zimmermann2021/table1").row("1.1")
    assert summary(row, "published") == explain(row).summary
    own = {**row.recipes, "fast": {**row.recipes["fast"], "encoder": {"kind": "torch.nn.Identity"}}}
    assert summary(replace(row, recipes=own), "fast") is None
