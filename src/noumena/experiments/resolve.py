"""Names and arguments of a table -> objects: `{ kind = "vmf.VonMisesFisher", kappa = 10.0 }`.

A short name is `module.Class` within the packages of its section; any other dotted path is imported as it stands, so
that a table can name a class of your own ("mypackage.laws.Mine"). There is no list of classes to keep.

Resolving imports classes and checks arguments against their constructors; nothing is constructed until `build`.
Tables of images may stand wherever a class takes one, in pairs and in diagnostics; `stored` says how they come about.
"""

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..data.base import AbstractImageTable
from ._names import nearest

PACKAGES = {
    "space": ("spaces",),
    "marginal": ("marginals", "spaces"),
    "conditional": ("conditionals", "spaces"),
    "mixing": ("mixings",),
    "data": ("data",),
    "pairs": ("pairs", "conditionals", "spaces", "data.augmentations"),
    "encoder": ("encoders", "spaces"),
    "loss": ("losses", "losses.scores", "encoders"),
    "metrics": ("metrics",),
    "diagnostics": ("diagnostics", "data", "data.augmentations", "losses.scores", "conditionals", "mixings"),
    "compute": ("theory", "losses.scores", "losses", "pairs", "conditionals", "spaces"),
    "train": ("training",),
}

# Arguments that the builder has: handed to a constructor that takes them, unless the table gives them.
SUPPLIED = {
    "marginal": ("space",),
    "conditional": ("space",),
    "mixing": ("dim", "dim_in", "generator"),
    "pairs": ("table", "marginal", "conditional", "mixing", "generator"),
    "encoder": ("dim", "dim_in", "dim_out", "shape", "generator"),
    "loss": ("dim", "shape", "generator", "gather"),
    "compute": ("space", "marginal", "conditional", "mixing"),
}


@dataclass(frozen=True)
class Plan:
    """An object to be made: a class, and arguments that its constructor takes.

    Attributes:
        target: A class.
        arguments: What the table gives; may hold further plans.
        takes: Which of the supplied arguments the target takes and the table leaves to the builder.
        needs: Those of them that have no default.
        where: How errors call it.
    """

    target: type
    arguments: Mapping[str, Any]
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    where: str

    def build(self, stored: "Stored | None" = None, /, **supplied: Any) -> Any:
        """The object. A constructor's own complaint is passed on, with the place in the table before it.

        `stored` makes tables of images from their plans; None constructs them anew. What the builder does not have is
        left to its default.
        """
        if stored is not None and issubclass(self.target, AbstractImageTable):
            return stored(self)
        if missing := [f"`{name}`" for name in self.needs if name not in supplied]:
            raise ValueError(f"{self.where}: needs {', '.join(missing)}, which this row does not have.")
        arguments = {name: _built(value, stored, supplied) for name, value in self.arguments.items()}
        arguments |= {name: supplied[name] for name in self.takes if name in supplied}
        try:
            return self.target(**arguments)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.where}: {error}") from error


Stored = Callable[[Plan], AbstractImageTable]


def resolve(given: Mapping[str, Any], section: str, where: str) -> Plan:
    """A section of a description, or a metric, as a plan.

    Args:
        given: A table with a `kind`.
        section: Which section it is; decides where short names are looked up and what the builder supplies.
        where: Table and row, for errors.
    """
    return _resolved(given, section, f"{where}, `{section}`", SUPPLIED.get(section, ()))


def resolve_stage(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The plans of a stage's `pairs` and `loss`, and the arguments of its `train`."""
    plans: dict[str, Any] = {key: resolve(given[key], key, where) for key in ("pairs", "loss")}
    return {**plans, "train": resolve_train(given["train"], where)}


def resolve_train(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The arguments of `training.train` that a table gives. Its descriptions hold numbers alone, so they are built."""
    from ..training import options

    where = f"{where}, `train`"
    given = {key: _built(_nested(value, "train", f"{where}.{key}", ()), None, {}) for key, value in given.items()}
    try:
        return options(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def _resolved(given: Mapping[str, Any], section: str, where: str, supplied: tuple[str, ...]) -> Plan:
    if "kind" not in given:
        raise ValueError(f'{where}: `kind` must name a class, such as kind = "module.Class"; got {dict(given)!r}.')
    target = find(given["kind"], section, where)
    arguments = {key: value for key, value in given.items() if key != "kind"}
    name = f"`{given['kind']}`"
    parameters = inspect.signature(target).parameters
    named = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for key in arguments:
        if key not in named and not anything:
            raise ValueError(f"{where}: {name} takes no `{key}`; {nearest(key, named)}")
    takes = tuple(key for key in supplied if key in named and key not in arguments)
    missing = [
        f"`{key}`"
        for key in named
        if parameters[key].default is inspect.Parameter.empty and key not in arguments and key not in takes
    ]
    if missing:
        raise ValueError(f"{where}: {name} needs {', '.join(missing)}.")
    # The factors of a product have spaces of their own, so that the space is for the outermost class alone.
    inner = tuple(key for key in supplied if key != "space")
    arguments = {key: _nested(value, section, f"{where}.{key}", inner) for key, value in arguments.items()}
    needs = tuple(key for key in takes if parameters[key].default is inspect.Parameter.empty)
    return Plan(target, arguments, takes, needs, where)


def _nested(value: Any, section: str, where: str, supplied: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        if "kind" in value:
            return _resolved(value, section, where, supplied)
        return {key: _nested(inner, section, f"{where}.{key}", supplied) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nested(inner, section, f"{where}[{i}]", supplied) for i, inner in enumerate(value)]
    return value


def _built(value: Any, stored: Stored | None, supplied: Mapping[str, Any]) -> Any:
    if isinstance(value, Plan):
        return value.build(stored, **supplied)
    if isinstance(value, Mapping):
        return {key: _built(inner, stored, supplied) for key, inner in value.items()}
    if isinstance(value, list):
        return tuple(_built(inner, stored, supplied) for inner in value)
    return value


def find(kind: str, section: str, where: str) -> type:
    """The class that `kind` names in a section of a table."""
    module, _, name = kind.rpartition(".")
    own = {f"{path.rpartition('.')[2]}.{cls.__name__}": cls for path, cls in _classes(section)}
    if kind in own:
        return own[kind]
    if not module or not name:
        raise ValueError(f"{where}: no class `{kind}`; {nearest(kind, own)}")
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        # A module that exists but needs another one that does not is not a misspelt name.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        found = None
    if not isinstance(found, type):
        raise ValueError(
            f"{where}: no class `{kind}`; {nearest(kind, own)} A class of your own is named by its importable path."
        )
    return found


def _classes(section: str) -> Iterator[tuple[str, type]]:
    """Public, concrete classes defined in the section's packages; those of its first package come last and win."""
    for package in reversed(PACKAGES[section]):
        home = import_module(f"..{package}", __package__)
        for info in pkgutil.iter_modules(home.__path__):
            if info.ispkg or info.name.startswith("_"):
                continue
            module = import_module(f"{home.__name__}.{info.name}")
            for name, value in vars(module).items():
                defined_here = isinstance(value, type) and value.__module__ == module.__name__
                if defined_here and not name.startswith("_") and not inspect.isabstract(value):
                    yield module.__name__, value
