"""Decorated functions in pickles: by name, as functions are, or by value, where `cloudpickle` takes functions so.

`cloudpickle`, with which joblib, Dask and others send work to processes, writes the code of functions that no other
process can import: those of ``__main__``, and those made within functions. An object is not told who writes it. So
what is written is a plain function, which either pickler takes as it takes any: a copy of the decorated one, named
after the place where it is found, an attribute of the decorated function. The text of a notebook's cell, which no
other process has, goes with it.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from operator import attrgetter
from types import FunctionType

__all__ = ["COPY", "PROTOCOL_OF_PATHS", "copied", "find", "give_text", "keep_text"]

COPY = "_plain_copy"  # the attribute
PROTOCOL_OF_PATHS = 4  # the first one that writes `f._plain_copy` without writing `f`


def copied(
    plain: FunctionType, shown: dict[str, object], copy: FunctionType | None, *, is_found: bool
) -> FunctionType:
    """Copy a plain function as it is now, into `copy` if there was one.

    `shown`: the attributes of the decorated function. `is_found`: it is where its name says, and so is the copy.
    Otherwise the copy has the plain function's name, for the error of who takes no functions by value.
    """
    if copy is None:
        copy = FunctionType(plain.__code__, plain.__globals__, closure=plain.__closure__)
    copy.__code__ = plain.__code__
    copy.__defaults__, copy.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
    for name in set(functools.WRAPPER_ASSIGNMENTS) - {"__qualname__"}:
        if hasattr(plain, name):
            setattr(copy, name, getattr(plain, name))
    copy.__qualname__ = f"{plain.__qualname__}.{COPY}" if is_found else plain.__qualname__
    known = {*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"}
    copy.__dict__.update((name, value) for name, value in shown.items() if name not in known)
    return copy


def find(module: str, name: str) -> object | None:
    """Give what a module that is loaded has under a name; None: nothing."""
    try:
        found: object = attrgetter(name)(sys.modules.get(module))
    except AttributeError:  # of a function's variables, too
        return None
    return found


def give_text(file: str) -> list[str]:
    """Give the lines of what is no file."""
    return [] if os.path.isfile(file) else linecache.getlines(file)


def keep_text(file: str, lines: list[str]) -> None:
    """Have the lines of what is no file, if nothing else has that name: code is looked for in them."""
    if lines and not linecache.getlines(file):
        linecache.cache[file] = sum(map(len, lines)), None, lines, file
