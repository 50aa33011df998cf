import json
import subprocess
import sys

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


def test_demo_prints_what_a_program_can_read():
    done = call("demo", "--steps", "100", "--json", "--seed", "3")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["seed"] == 3 and result["loss"] > result["floor"] - 5 * result["floor_error"]
    assert set(result["recovered"]) == set(result["identity"]) == {"linear_r2", "mcc", "angle_error_normalised"}


def test_demo_prints_a_table():
    done = call("demo", "--steps", "50")
    assert done.returncode == 0 and "R²" in done.stdout


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
