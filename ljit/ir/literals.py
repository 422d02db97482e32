"""Attribute values as text: what the printer writes between brackets and the parser reads back.

Python and NumPy scalars, strings, None, tuples, slices, ranges, dtypes and Types have a text of
their own; an object that can be imported is ``<module.qualname>``; any other is ``<@N>``, the N-th
entry of a list that both sides share.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import cast

import numpy as np

from ljit.types import NATIVE_KINDS, Type, is_native

__all__ = ["import_object", "object_path", "print_literal"]

_PLAIN = (bool, float, str, bytes, type(None), type(...))
_NATIVE_SCALARS = tuple(d.type for d in NATIVE_KINDS)


def print_literal(value: object, objects: list[object]) -> str:
    """Write one attribute value; objects without a text are appended to `objects`."""
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value, objects)
    if isinstance(value, Type):
        return str(value)
    text = _print_dtype(value) if isinstance(value, np.dtype) else None
    if text is None:
        path = object_path(value)
        text = f"<{path}>" if path is not None else f"<@{_index_of(value, objects)}>"
    return text


def _print_int(value: object, _objects: list[object]) -> str:
    number = cast(int, value)
    return str(number) if number.bit_length() < 256 else hex(number)  # str() refuses huge ints


def _print_complex(value: object, _objects: list[object]) -> str:
    number = cast(complex, value)
    return f"complex({number.real!r}, {number.imag!r})"  # repr() of -0j does not read back


def _print_tuple(value: object, objects: list[object]) -> str:
    inside = [print_literal(x, objects) for x in cast("tuple[object, ...]", value)]
    return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"


def _print_slice(value: object, objects: list[object]) -> str:
    part = cast(slice, value)
    inside = (print_literal(x, objects) for x in (part.start, part.stop, part.step))
    return f"slice({', '.join(inside)})"


def _print_range(value: object, objects: list[object]) -> str:
    part = cast(range, value)
    inside = (print_literal(x, objects) for x in (part.start, part.stop, part.step))
    return f"range({', '.join(inside)})"


def _print_scalar(value: object, _objects: list[object]) -> str:
    scalar = cast(np.generic, value)
    item = scalar.item()
    if isinstance(item, complex):
        return f"np.{scalar.dtype.name}({item.real!r}, {item.imag!r})"
    return f"np.{scalar.dtype.name}({item!r})"


def _print_plain(value: object, _objects: list[object]) -> str:
    return "..." if value is ... else repr(value)


_WRITERS: dict[type, Callable[[object, list[object]], str]] = {
    **dict.fromkeys(_PLAIN, _print_plain),
    **dict.fromkeys(_NATIVE_SCALARS, _print_scalar),
    int: _print_int,
    complex: _print_complex,
    tuple: _print_tuple,
    slice: _print_slice,
    range: _print_range,
}


def _print_dtype(dtype: np.dtype) -> str | None:
    return f"dtype({dtype.name!r})" if is_native(dtype) else None


def _index_of(value: object, objects: list[object]) -> int:
    for i, known in enumerate(objects):
        if known is value:
            return i
    objects.append(value)
    return len(objects) - 1


def object_path(value: object) -> str | None:
    """Give the dotted path under which `value` can be imported, or None.

    >>> import math
    >>> object_path(math.sqrt), object_path(np), object_path(np.sqrt), object_path(object())
    ('math.sqrt', 'numpy', 'numpy.sqrt', None)
    """
    if isinstance(value, type(sys)):
        path = value.__name__
    else:
        name = getattr(value, "__qualname__", None)
        module = getattr(value, "__module__", None)
        if isinstance(value, np.ufunc):
            name, module = value.__name__, "numpy"
        if not isinstance(name, str) or not isinstance(module, str):
            return None
        path = f"{module}.{name}"
    if not all(part.isidentifier() for part in path.split(".")):
        return None
    return path if _loaded_object(path) is value else None


def _loaded_object(path: str) -> object:
    """Look `path` up among the loaded modules; a fresh object if it is not there."""
    missing = object()
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        found: object = sys.modules.get(".".join(parts[:end]))
        if found is not None:
            for name in parts[end:]:
                found = getattr(found, name, missing)
            return found
    return missing


def import_object(path: str) -> object:
    """Import what `object_path` named; ImportError or AttributeError if it is not there."""
    parts = path.split(".")
    found: object = None
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            if end == 1:
                raise
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    return found
