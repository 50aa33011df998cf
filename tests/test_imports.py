"""Who may import whom: world and learner never meet below the level that pairs them with a reader."""

import ast
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "noumena"

# A package may import those of lower levels that its entry names, and itself.
BASIS = {path.stem for path in SOURCE.glob("_*.py") if not path.stem.startswith("__")} | {"batch", "finding"}
WORLD = {"marginals", "conditionals", "mixings"}
LEARNER = {"encoders", "losses"}
READER = {"metrics"}
ALLOWED = {
    **{name: BASIS for name in BASIS},
    "spaces": BASIS,
    **{name: BASIS | {"spaces"} for name in WORLD | LEARNER | READER},
    "theory": BASIS | {"spaces"} | WORLD | {"losses"},
    "data": BASIS | {"mixings.render"},
    "diagnostics": BASIS | {"spaces"} | WORLD | {"losses", "theory", "metrics", "data"},
    "pairs": BASIS | {"spaces", "data"} | WORLD,
    "training": BASIS | {"pairs.base", "losses.base", "metrics.base"},
    "experiments": BASIS
    | {"__version__"}
    | {"spaces"}
    | WORLD
    | LEARNER
    | READER
    | {"theory", "diagnostics", "pairs", "training", "data"},
    "estimators": BASIS | LEARNER | {"pairs", "training"},
    "bench": BASIS | {"spaces"} | WORLD | LEARNER | READER | {"theory", "diagnostics", "pairs", "training", "data"},
    "report": BASIS | {"training.record"},
    "cli": {"experiments", "diagnostics", "data", "bench", "report", "", "__init__"},
    "__main__": {"cli"},
    "__init__": None,  # names everything, imports on use
}


def imported_modules(path: Path) -> set[str]:
    """Dotted names below `noumena` that a file imports, wherever in the file."""
    package = path.relative_to(SOURCE).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("noumena").lstrip(".") for alias in node.names if _ours(alias.name)}
        elif isinstance(node, ast.ImportFrom) and (node.level or _ours(node.module or "")):
            if node.level:
                base = package[: len(package) - node.level + 1]
                target = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            else:
                target = (node.module or "").removeprefix("noumena").lstrip(".")
            found |= {target} if node.module else {f"{target}.{alias.name}".strip(".") for alias in node.names}
    return found


def _ours(name: str) -> bool:
    return name == "noumena" or name.startswith("noumena.")


def forbidden(path: Path) -> list[str]:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    owner = parts[0]
    allowed = ALLOWED[owner]
    if allowed is None:
        return []
    return [
        f"{'/'.join(parts)} -> {module}"
        for module in sorted(imported_modules(path))
        if module.split(".")[0] != owner and not any(_covers(entry, module) for entry in allowed)
    ]


def _covers(entry: str, module: str) -> bool:
    return module == entry or (entry != "" and module.startswith(entry + "."))


def test_no_arrow_breaks_the_rule():
    arrows = [arrow for path in sorted(SOURCE.rglob("*.py")) for arrow in forbidden(path)]
    assert not arrows, "forbidden imports:\n" + "\n".join(arrows)


def test_a_breach_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (tmp_path / "encoders").mkdir()
    bad = tmp_path / "encoders" / "mlp.py"
    bad.write_text("from ..mixings import Spiral\nfrom .. import _checks, conditionals\nimport noumena.pairs\n")
    assert forbidden(bad) == [
        "encoders/mlp -> conditionals",
        "encoders/mlp -> mixings",
        "encoders/mlp -> pairs",
    ]


def test_one_file_imports_lightning():
    """Whatever else may be true of an extra, all but one file must do without it."""
    pattern = re.compile(r"^\s*(?:import|from)\s+(?:lightning|lightning_fabric|pytorch_lightning)\b", re.MULTILINE)
    assert [path.name for path in SOURCE.rglob("*.py") if pattern.search(path.read_text())] == ["fabric.py"]


def test_one_file_imports_numba():
    pattern = re.compile(r"^\s*(?:import|from)\s+numba\b", re.MULTILINE)
    assert [path.name for path in SOURCE.rglob("*.py") if pattern.search(path.read_text())] == ["trace.py"]


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_help_does_not_import_torch():
    code = (
        "import sys; sys.argv = ['noumena', '--help']\n"
        "from noumena.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "print('torch' in sys.modules)"
    )
    assert _run(code).splitlines()[-1] == "False"


def test_importing_the_public_packages_leaves_heavy_libraries_alone():
    names = "batch, conditionals, encoders, losses, marginals, metrics, mixings, pairs, spaces, theory, training"
    code = (
        "import sys, torch, numpy; before = set(sys.modules)\n"
        f"import noumena\nfor name in '{names}'.split(', '): getattr(noumena, name)\n"
        "heavy = {'scipy', 'sklearn', 'rich', 'typer', 'lightning_fabric', 'numba'}\n"
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} & heavy))"
    )
    assert _run(code) == "[]"
