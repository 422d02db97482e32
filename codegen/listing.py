"""IR and assembly as people read them.

Instructions are indented. Comments say of what an address is, which line of the source the next instructions are for,
and what leaves native code: the texts of these are not in the IR that is compiled, only their numbers.
"""

from __future__ import annotations

import builtins
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

__all__ = ["described", "listing"]

_ADDRESS = re.compile(r"inttoptr \(i64 (\d+) to ptr\)|\$(\d{6,})\b")  # in IR, in assembly
_NOTE = re.compile(r";(\d+)")  # as `BlockRef.text` writes them
_AT_MARGIN = re.compile(r"[@!}\s;]|declare |source_filename|target |attributes |\S+:|$")
_IS_IR = re.compile(r"^define ", re.MULTILINE)
_MOST_SHOWN = 40  # characters of a constant


def listing(text: str, names: Mapping[int, str], notes: Sequence[str] = ()) -> str:
    """Show IR or assembly. `names` by address, beside those of what every program has; `notes` by number.

    What comes out is IR or assembly still: comments begin with ``;`` or ``#``.
    """
    known, is_ir = {**_well_known(), **names}, _IS_IR.search(text) is not None
    show = _ir_line if is_ir else _assembly_line
    return "\n".join(show(line, known, notes) for line in text.splitlines()) + "\n"


def _ir_line(line: str, names: Mapping[int, str], notes: Sequence[str]) -> str:
    if note := _NOTE.fullmatch(line):
        return f"  ; {notes[int(note[1])]}"
    if line.startswith("define "):
        line = f"\n{line}"
    elif not _AT_MARGIN.match(line):
        line = f"  {line}"
    return _with_names(line, names, ";")


def _assembly_line(line: str, names: Mapping[int, str], _notes: Sequence[str]) -> str:
    return _with_names(line, names, "#")


def _with_names(line: str, names: Mapping[int, str], mark: str) -> str:
    found = [int(ir or assembly) for ir, assembly in _ADDRESS.findall(line)]
    about = ", ".join(dict.fromkeys(names[x] for x in found if x in names))
    return f"{line}  {mark} {about}" if about else line


def described(x: Any) -> str:
    """Say in some words what an object is. No code of the program's runs for it."""
    cls = type(x)
    if issubclass(cls, type):
        module, name = (type.__getattribute__(x, key) for key in ("__module__", "__name__"))
        return str(name) if module == "builtins" else f"{module}.{name}"
    if cls is types.ModuleType:
        return f"module {x.__name__}"
    if cls in (types.FunctionType, types.BuiltinFunctionType):
        return f"function {x.__name__}"
    if cls is dict and type(x.get("__name__")) is str:
        return f"variables of {x['__name__']}"
    if cls is np.ufunc:
        return f"numpy.{x.__name__}"
    if cls in (str, bytes, int, float, complex, bool, type(None)) or issubclass(cls, np.dtype):
        shown = repr(x)
        return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    return f"a {described(cls)}"


@cache
def _well_known() -> dict[int, str]:
    return {id(x): described(x) for x in _objects()}


def _objects() -> Iterator[object]:
    """Objects that live as long as the process."""
    yield from (x for x in vars(builtins).values() if not isinstance(x, str))
    yield from (x for x in vars(types).values() if isinstance(x, type))
    yield from (np.ndarray, np.dtype, np.ufunc)
    yield from set(np.sctypeDict.values())
    yield from (np.dtype(code) for code in np.typecodes["All"] if code not in "SUVMm")
