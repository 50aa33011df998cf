"""Identifiable contrastive learning: recover hidden factors, know when that is guaranteed, measure how far you are.

A *world* makes pairs (`spaces`, `marginals`, `conditionals`, `mixings`, `pairs`), a *learner* embeds and scores them
(`encoders`, `losses`), a *reader* measures what was recovered (`metrics`). Subpackages load when they are first used,
so that `import noumena` and the command line's help stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import batch as batch
    from . import conditionals as conditionals
    from . import data as data
    from . import diagnostics as diagnostics
    from . import encoders as encoders
    from . import estimators as estimators
    from . import losses as losses
    from . import marginals as marginals
    from . import metrics as metrics
    from . import mixings as mixings
    from . import pairs as pairs
    from . import spaces as spaces
    from . import theory as theory
    from . import training as training
    from ._rng import Streams as Streams
    from ._rng import streams as streams
    from .batch import PairBatch as PairBatch
    from .batch import PairEmbeddings as PairEmbeddings

_NAMES = {"PairBatch": "batch", "PairEmbeddings": "batch", "Streams": "_rng", "streams": "_rng"}

__all__ = [
    "PairBatch",
    "PairEmbeddings",
    "Streams",
    "__version__",
    "batch",
    "conditionals",
    "data",
    "diagnostics",
    "encoders",
    "estimators",
    "losses",
    "marginals",
    "metrics",
    "mixings",
    "pairs",
    "spaces",
    "streams",
    "theory",
    "training",
]


def __getattr__(name: str):
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module `noumena` has no attribute `{name}`")


def __dir__() -> list[str]:
    return list(__all__)
