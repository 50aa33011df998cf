import json
from pathlib import Path

import pytest

from noumena.cli.run import parse_seeds
from tests.cli.test_main import call
from tests.experiments.conftest import TABLE


def test_run_then_report(tmp_path):
    table, out = tmp_path / "short.toml", str(tmp_path / "runs")
    table.write_text(TABLE)
    done = call("run", str(table), "--row", "near", "--seeds", "1", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["row"], one["baseline"]) for one in found] == [("near", None), ("near", "identity")]
    report = json.loads(call("report", out, "--json").stdout)
    (line,) = [one for one in report["lines"] if one["baseline"] == "" and one["metric"] == "linear_r2"]
    assert report["page"] == str(Path(out) / "report.html") and Path(report["page"]).is_file()
    assert line["published"] == 0.9 and line["mean"] == found[0]["metrics"]["linear_r2"]
    elsewhere = tmp_path / "elsewhere.html"
    printed = call("report", out, "--html", str(elsewhere), "--row", "near", "--table", "short.toml").stdout
    assert "measured" in printed and "gap" in printed and f"page: {elsewhere}" in printed and elsewhere.is_file()
    again = call("run", str(table), "--row", "near", "--seeds", "1", "--out", out)
    assert again.returncode == 0 and (Path(out) / "short" / "report.html").is_file()
    assert call("report", out, "--row", "nera").returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "zimmermann2021/tabel1"),
        ("run", "zimmermann2021/table1", "--row", "1.99"),
        ("run", "zimmermann2021/table1", "--recipe", "quick"),
        ("run", "zimmermann2021/table1", "--seeds", "many"),
        ("run", "zimmermann2021/table1", "--device", "gpu"),
        ("run", "zimmermann2021/table1", "--device", "cuda:99"),
        ("run", "zimmermann2021/table1", "--processes", "0"),
        ("run", "zimmermann2021/table1", "--processes", "2", "--device", "mps"),
        ("run", "zimmermann2021/table1", "--processes", "2", "--place", "workers"),
        ("run", "zimmermann2021/table1", "--threads", "none"),
        ("report", "no-such-folder"),
    ],
)
def test_wrong_calls_exit_2_with_one_line(arguments):
    done = call(*arguments)
    assert done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1


def test_seeds():
    own = (0, 1, 2, 3, 4)
    assert parse_seeds("3", own) == [0, 1, 2]
    assert parse_seeds("100-104", own) == [100, 101, 102, 103, 104]
    assert parse_seeds("1,7", own) == [1, 7]
    for wrong in ("6", "0", "5-3", "a", "1,b"):
        with pytest.raises(ValueError, match="--seeds"):
            parse_seeds(wrong, own)
