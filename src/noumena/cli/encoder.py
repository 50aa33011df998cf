"""`--encoder E`: an encoder by name, without unpickling anything."""

import os
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

BLOCK = 4096  # observations encoded at once


def load(name: str) -> Callable[[Tensor], object]:
    """A TorchScript file, or "package.module:name".

    A TorchScript archive (`torch.jit.save`) brings its own code, which can compute but not reach out of torch. A name
    is imported from the folder of the call or wherever Python looks, as `import` would, so name only code that you
    trust: an `nn.Module`, or a function without arguments that returns one, or that loads it the way you choose.
    Pickled models and state dicts (`torch.save`) and `torch.export` archives, which may hold pickles, are refused.
    """
    if ":" in name and not Path(name).is_file():
        return _ready(_imported(name))
    path = Path(name)
    if not path.is_file():
        raise FileNotFoundError(
            f"no encoder `{name}`: give a TorchScript file, or package.module:name for something to import."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the format remains the only one without pickles
            return _ready(torch.jit.load(path, map_location="cpu"))
    except RuntimeError as error:
        raise ValueError(
            f"`--encoder` must be a TorchScript file, got {name}, which torch.jit.load cannot read. Pickles are not "
            "loaded: save with torch.jit.save(torch.jit.trace(model, example), FILE), or name a function that loads "
            "your model, package.module:name."
        ) from error


def encode(encoder: Callable[[Tensor], object], name: str, x: np.ndarray, told: Callable[[float], None]) -> np.ndarray:
    """Embeddings of all rows, float32, in blocks of the observations as they are."""
    parts: list[np.ndarray] = []
    with torch.inference_mode():
        for start in range(0, len(x), BLOCK):
            block = torch.from_numpy(np.array(x[start : start + BLOCK]))
            h = encoder(block.float() if not block.is_floating_point() else block)
            if not isinstance(h, Tensor) or h.ndim != 2 or len(h) != len(block):
                shape = tuple(h.shape) if isinstance(h, Tensor) else type(h).__name__
                raise ValueError(f"`--encoder` must turn {len(block)} rows of `{name}` into (n, d), got {shape}.")
            parts.append(h.float().cpu().numpy())
            told(min(1.0, (start + BLOCK) / len(x)))
    return np.concatenate(parts)


def _imported(name: str) -> object:
    module, _, attribute = name.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = import_module(module)
    except ImportError as error:
        raise LookupError(f"no module `{module}` for `--encoder`: {error}. It is looked for in {here} too.") from error
    if not hasattr(found, attribute):
        raise LookupError(f"no `{attribute}` in `{module}`; `--encoder` is package.module:name.")
    chosen = getattr(found, attribute)
    return chosen if isinstance(chosen, nn.Module) else chosen() if callable(chosen) else chosen


def _ready(model: object) -> Callable[[Tensor], object]:
    if isinstance(model, nn.Module):
        return model.eval()
    if not callable(model):
        raise ValueError(f"`--encoder` must lead to a module or a function of tensors, got {type(model).__name__}.")
    return model
