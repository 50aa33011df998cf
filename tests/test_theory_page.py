"""Every class, function and test that docs/theory.md names exists."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8").splitlines()
ROWS = [line for line in LINES if line.startswith("| ") and not line.startswith("| statement")]


def exists(name: str) -> bool:
    """Whether a dotted name is an attribute, or a path a test: `tests/file.py` or `tests/file.py::test`."""
    if name.startswith("tests/"):
        path, _, test = name.partition("::")
        return (ROOT / path).is_file() and (not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"))
    module, parts = importlib.import_module("noumena"), name.split(".")[1:]
    found = module
    for part in parts:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("row", ROWS)
def test_a_row_leads_to_code_and_to_a_test(row):
    statement, _, code, test = (cell.strip() for cell in row.strip("|").split("|"))
    names = [*re.findall(r"`([^`]+)`", code), *re.findall(r"`([^`]+)`", test)]
    assert len(names) == 2 and all(exists(name) for name in names), statement


# Every number that the papers' texts give to a statement.
NUMBERS = {
    "Z": "Theorem 1, Proposition 1, Proposition 2, Theorem 2, Definition 1, Theorem 3, Proposition 4, 4 and 5, 6",
    "R": "A.1, A.2, Assumption 1, 3.1, B.1, B.2, C.1, Lemma C.1, Theorem C.1, D.1, D.2, D.3, D.4",
    "L": "3.1, 3.2, 3.3, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, A.1, A.2, A.3, A.4, A.5",
}


@pytest.mark.parametrize("paper", NUMBERS)
def test_no_statement_is_left_out(paper):
    told = " ".join(row.split("|")[1] for row in ROWS if f"[{paper}]" in row)
    for number in NUMBERS[paper].split(", "):
        assert number in told, f"{number} of [{paper}]"


def test_a_wrong_name_is_seen():
    assert not exists("noumena.theory.verdicts.verdict.nothing") and not exists("tests/test_theory_page.py::test_none")
    assert exists("noumena.theory.verdict") and len(ROWS) > 30
