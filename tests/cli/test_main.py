import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import noumena


def call(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "noumena", *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [("--help",), ("demo", "--help"), ("bench", "-h"), ("--version",)])
def test_help_and_version_succeed(arguments):
    done = call(*arguments)
    assert done.returncode == 0 and done.stdout and not done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("dmeo",), ("demo", "--sede", "1"), ("demo", "--seed", "-1"), ("demo", "--seed", "x"), ("bench", "lss")],
)
def test_a_wrong_call_exits_2_with_one_line(arguments):
    done = call(*arguments)
    assert done.returncode == 2
    assert not done.stdout and len(done.stderr.splitlines()) == 1 and done.stderr.startswith("noumena: ")


def test_demo_tells_its_story_and_resumes(tmp_path):
    arguments = ("demo", "--steps", "4", "--seed", "3", "--out", str(tmp_path))
    done = call(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["seed"] == 3 and list(result["told"]) == ["holds", "collapse", "corrected", "bias", "both"]
    assert {line["baseline"] for line in result["lines"]} == {"", "identity"}
    page = Path(result["page"])
    assert page == tmp_path / "demo" / "report.html" and "diversity holds" in page.read_text(encoding="utf-8")
    again = call(*arguments)
    assert again.returncode == 0 and "angle error" in again.stdout and f"page: {page}" in again.stdout
    if find_spec("matplotlib"):
        assert sum(line.split(".")[0].isdigit() for line in again.stdout.splitlines()) == 5


def test_interrupting_exits_130():
    code = (
        "import noumena.cli.main as cli\n"
        "@cli.app.command()\n"
        "def stuck(): raise KeyboardInterrupt\n"
        "import sys; sys.argv = ['noumena', 'stuck']; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130 and done.stderr.strip() == "noumena: interrupted"


def test_version_is_the_packages():
    assert call("--version").stdout.strip() == noumena.__version__
