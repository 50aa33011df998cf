"""The examples of docs/extending.md, run as they stand: every law that their test classes inherit is collected here."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from tests import test_imports

DOC = Path(__file__).parents[1] / "docs" / "extending.md"
FENCED = re.compile(r"^```python\n# (?P<path>\S+\.py)\n.*?^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """One fenced block that begins with the path of the file it would be."""

    path: Path
    code: str
    line: int

    @property
    def name(self) -> str:
        return ".".join(self.path.with_suffix("").parts).removeprefix("src.")

    @property
    def is_test(self) -> bool:
        return self.path.parts[0] == "tests"


def examples(text: str) -> list[Example]:
    found = []
    for block in FENCED.finditer(text):
        code = block.group().removeprefix("```python\n").removesuffix("```")
        found.append(Example(Path(block["path"]), code, text.count("\n", 0, block.start()) + 1))
    return found


def load(example: Example) -> ModuleType:
    """The module that the file would be; an error points at its line in the document."""
    module = ModuleType(example.name)
    module.__package__ = example.name.rpartition(".")[0]
    sys.modules[example.name] = module  # where dataclasses, pickles and the example's own test look for it
    exec(compile("\n" * example.line + example.code, str(DOC), "exec"), vars(module))
    return module


EXAMPLES = examples(DOC.read_text())
for _example in EXAMPLES:
    _module = load(_example)
    if _example.is_test:
        globals().update({name: value for name, value in vars(_module).items() if name.startswith("Test")})


def test_every_component_comes_with_its_test():
    components = [example for example in EXAMPLES if not example.is_test]
    families = {example.path.relative_to("src/noumena").parent.as_posix() for example in components}
    assert families == {
        "conditionals", "losses/scores", "mixings", "metrics", "encoders", "spaces", "pairs",
    }  # fmt: skip
    for component, test in zip(components, [example for example in EXAMPLES if example.is_test], strict=True):
        mirrored = "tests" / component.path.relative_to("src/noumena").with_name(f"test_{component.path.name}")
        assert test.path == mirrored
        assert f"from {component.name} import" in test.code
        (case,) = [value for name, value in vars(sys.modules[test.name]).items() if name.startswith("Test")]
        (contract,) = case.__bases__
        assert contract.__module__.startswith("tests.contracts.")


def test_no_python_block_is_left_out():
    assert len(EXAMPLES) == DOC.read_text().count("```python") == 14


@pytest.mark.parametrize("example", [e for e in EXAMPLES if not e.is_test], ids=lambda example: example.name)
def test_components_keep_the_import_rule_and_are_new(example, tmp_path, monkeypatch):
    assert not (DOC.parents[1] / example.path).exists(), "the package has it by now: choose another example"
    monkeypatch.setattr(test_imports, "SOURCE", tmp_path / "src" / "noumena")
    file = tmp_path / example.path
    file.parent.mkdir(parents=True)
    file.write_text(example.code)
    assert test_imports.forbidden(file) == []


def test_a_broken_example_is_seen_where_it_stands():
    text = "one\n```python\n# src/noumena/spaces/broken.py\nx = 1\n1 / 0\n```\n"
    (example,) = examples(text)
    with pytest.raises(ZeroDivisionError) as caught:
        load(example)
    del sys.modules["noumena.spaces.broken"]
    assert caught.traceback[-1].lineno + 1 == 5


@pytest.mark.parametrize("name", ["Who may import whom", "The laws", "Conventions in brief"])
def test_the_tables_are_there(name):
    assert f"## {name}\n" in DOC.read_text()


def test_the_import_table_names_every_package():
    table = DOC.read_text().split("## Who may import whom")[1].split("##")[0]
    packages = {name for name in test_imports.ALLOWED if not name.startswith("_")}
    assert packages <= set(re.findall(r"`(\w+)`", table))
