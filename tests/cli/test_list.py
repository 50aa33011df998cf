import json
import re
import subprocess
import sys

import pytest

from noumena.cli.list import _lines as lines_of
from noumena.experiments.spec import load_table, table_names
from tests.experiments.conftest import TABLE


def call(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "noumena", "list", *arguments], capture_output=True, text=True)


def test_it_prints_what_a_program_can_read():
    done = call("--json")
    assert done.returncode == 0 and not done.stderr
    tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
    assert list(tables) == table_names()
    row = tables["zimmermann2021/table1"]["rows"][0]
    assert row["id"] == "1.1" and row["reported"][0]["mean"] == 0.9942
    assert row["recipes"]["published"]["steps"] == 300_003 and "supervised" in row["recipes"]["fast"]["baselines"]


@pytest.mark.parametrize("arguments", [(), ("loss_is_not_enough/holds",)])
def test_it_prints_tables(arguments):
    done = call(*arguments)
    assert done.returncode == 0 and "0.9996" in done.stdout and not done.stderr
    assert "…" not in done.stdout, "a cell is cut at 80 columns"


def test_a_table_of_your_own_can_be_listed(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text("titel = 'x'")
    done = call(str(own))
    assert done.returncode == 2 and "did you mean `title`?" in done.stderr


def test_rows_that_train_nothing_and_long_sweeps_can_be_listed(tmp_path):
    given = """
    title = "A law by itself"
    source = "made for the tests"
    seeds = [0]
    base.space = { kind = "sphere.Sphere", dim = 3 }
    base.marginal = "uniform.Uniform"
    base.mixing = "identity.Identity"
    base.conditional = { kind = "vmf.VonMisesFisher", kappa = 5.0 }
    base.recipes.fast.compute = "tests.experiments.components.Dimension"
    """
    rows = "".join(
        f"""
        [[row]]
        id = "k{i}"
        name = "kappa {i}"
        sweep = {{ name = "kappa", value = {i}, series = "sphere" }}
        """
        for i in range(20)
    )
    own = tmp_path / "own.toml"
    own.write_text(given + rows)
    done = call(str(own))
    assert done.returncode == 0 and "computed" in done.stdout, done.stderr
    (table,) = json.loads(call(str(own), "--json").stdout)["tables"]
    assert table["rows"][3]["recipes"]["fast"]["steps"] == 0
    assert [len(rows) for rows in lines_of(load_table(own))] == [20]


def test_a_series_is_one_line_with_what_it_costs():
    ratio, fig9 = (load_table(name) for name in ("loss_is_not_enough/ratio", "aninfonce/fig9"))
    assert [len(rows) for rows in lines_of(ratio)] == [11] * 9
    shown = call().stdout
    assert "…" not in shown, "a cell is cut at 80 columns"
    for line in (
        r"invertible MLP, MLP, c 0\.\.1 \(11\) +5000 x 1000 +1400 x 1024",
        r"box, concentration 0\.015625\.\.1024 \(9\) +300003 x 6144 +3000 x 512",
        r"linear, fixed coordinates k 0\.\.10 \(11\) +5000 x 2000 +1000\.\.1200 x 512",
        r"A: dimension 12, batch size 16\.\.1024 \(9\) +500000 x 16\.\.1024 +1000 x 16\.\.1024",
    ):
        assert re.search(line, shown), line
    assert len(lines_of(fig9)) == 6


def test_notes_name_rows_in_succession_by_their_ends():
    shown = " ".join(call("loss_is_not_enough/ratio").stdout.split())
    assert "published invmlp-mlp-0.0 to patches-mlp-1.0, spiral-mlp-0.0 to spiral-mlp-1.0: 1000 pairs" in shown
    assert "fast identity-inverse-0.0 to identity-inverse-1.0: Without" in shown


def test_a_stage_before_counts(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(TABLE.replace('id = "near"', 'id = "near"\nrecipes.fast.pretrain.train.steps = 7'))
    assert "7+60 x 64" in call(str(own)).stdout


def test_a_wrong_name_is_answered_with_the_nearest():
    done = call("zimmermann2021/tabel1")
    assert done.returncode == 2 and not done.stdout
    assert len(done.stderr.splitlines()) == 1 and "did you mean `zimmermann2021/table1`?" in done.stderr


def test_listing_does_not_import_torch():
    code = (
        "import sys; sys.argv = ['noumena', 'list', '--json']\n"
        "from noumena.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
