"""Pickles of arrays, read without running them."""

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .cache import Damaged

NUMBERS = "biuf"  # kinds of dtypes whose bytes mean nothing but numbers


def load_arrays(path: Path) -> Any:
    """What a pickle of arrays, numbers, strings, lists, tuples and dictionaries holds; refused if it names more.

    A pickle is a program: read by `pickle.load`, a file from elsewhere can do whatever its reader may. What this one
    names is made by the few functions below, never by NumPy's own, which trust the state that they are given: bytes
    taken for objects would be as good as code. Written by any version of NumPy and any protocol.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no file `{path}`; name the one that was downloaded.")
    with open(path, "rb") as file:
        try:
            # Latin 1: the strings of Python 2, in which older files hold their bytes.
            return _plain(_ArraysOnly(file, encoding="latin1").load())
        except _Refused as error:
            raise Damaged(
                f"`{path}` must hold arrays only, but names {error}: it was not run. Do not trust it."
            ) from error
        except Exception as error:  # whatever a damaged stream of instructions comes to
            raise Damaged(f"`{path}` must be a whole pickle, got {error}. Download it again.") from error


class _Refused(Exception):
    pass


def _refuse(what: str) -> Any:
    raise _Refused(what)


class _DType:
    """Kind, size and byte order of numbers; or "O" for lists of anything."""

    __slots__ = ("dtype",)

    def __init__(self, text: Any, *_: Any) -> None:
        self.dtype = np.dtype(text) if isinstance(text, str) else _refuse("a dtype that is no string")
        if self.dtype.kind not in NUMBERS and self.dtype != object:
            _refuse(f"the dtype {text!r}")

    def __setstate__(self, state: Any) -> None:
        self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
    """An array whose content is still to come."""

    __slots__ = ("content", "shape")

    def __setstate__(self, state: Any) -> None:
        _, self.shape, dtype, fortran, content = state
        if dtype.dtype == object:
            self.content: Any = content if isinstance(content, list) else _refuse("objects made of bytes")
        else:
            content = content.encode("latin1") if isinstance(content, str) else content
            self.content = _from_buffer(content, dtype, self.shape, "F" if fortran else "C")


def _from_buffer(content: Any, dtype: _DType, shape: Any, order: str) -> np.ndarray:
    if dtype.dtype.kind not in NUMBERS:
        _refuse("objects made of bytes")
    return np.frombuffer(content, dtype.dtype, math.prod(shape)).reshape(shape, order="F" if order == "F" else "C")


def _scalar(dtype: _DType, content: Any) -> Any:
    content = content.encode("latin1") if isinstance(content, str) else content
    return _from_buffer(content, dtype, (1,), "C")[0]


def _bytes(text: str, encoding: str) -> bytes:
    """What `_codecs.encode` is for in pickles: bytes, written as text by old protocols."""
    return text.encode("latin1") if encoding in ("latin1", "latin-1") else _refuse(f"the encoding {encoding}")


def _plain(value: Any) -> Any:
    """With lists in the place of arrays of objects."""
    if isinstance(value, _Array):
        return _plain(value.content)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


class _Named:
    """What a pickle may name; it can be called, and nothing else can be done to it."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make

    def __call__(self, *arguments: Any) -> Any:
        return self.make(*arguments)

    def __setstate__(self, state: Any) -> None:
        _refuse("a change of what it is read with")


_NAMED = {
    "numpy.ndarray": lambda *_: _refuse("a bare `numpy.ndarray`"),
    "numpy.dtype": _DType,
    "_codecs.encode": _bytes,
    "__builtin__.bytes": lambda: b"",  # so old protocols write no bytes
    **{f"{core}.multiarray._reconstruct": lambda *_: _Array() for core in ("numpy.core", "numpy._core")},
    **{f"{core}.multiarray.scalar": _scalar for core in ("numpy.core", "numpy._core")},
    **{f"{core}.numeric._frombuffer": _from_buffer for core in ("numpy.core", "numpy._core")},
}


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"
        return _Named(_NAMED[full]) if full in _NAMED else _refuse(f"`{full}`")
