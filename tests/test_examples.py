"""The essays in examples/ run, and end in the numbers that their texts predict."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def main(name: str):
    """The example's `main`, its module executed as on import."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]


def predictions(name: str, found) -> list[bool]:
    match name:
        case "01_paired":
            return [
                found["R2 of the latents"] > 0.99,
                found["R2 of the measurements"] < 0.9,
                abs(found["temperature"] - 0.1) < 0.01,
            ]
        case "02_sequence":
            return [found["MCC of the latents"] > 0.98, found["MCC of the mixtures"] < 0.8]
        case _:
            recovered = [value > 0.98 for rows in found.values() for value in rows["r2"]]
            return recovered + [v > 0.98 for world, rows in found.items() if "box" in world for v in rows["mcc"]]


NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


def test_all_examples_are_essays_of_bounded_length():
    assert NAMES == ["01_paired", "02_sequence", "03_defaults"]
    for name in NAMES:
        assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 100


@pytest.mark.parametrize(("name", "options"), [("01_paired", {}), ("02_sequence", {}), ("03_defaults", {"seeds": [0]})])
def test_examples_run(name, options, capsys):
    main(name)(steps=3, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_examples_keep_their_word(name, capsys):
    assert all(predictions(name, main(name)()))
