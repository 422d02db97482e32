"""What code takes for granted of variables and functions, looked at where it is entered."""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Callable, Sequence

from ljit.analysis.assumptions import MISSING, Assumption
from ljit.codegen.functions.support import support
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import FALSE, NULL, BlockRef, FunctionBuilder, Ref, address, integer

__all__ = ["emit_assumptions", "field_of", "wanted_by"]

#: where functions have what an assumption can be about
_ATTRIBUTES = {
    "__code__": layout.FUNCTION_CODE,
    "__defaults__": layout.FUNCTION_DEFAULTS,
    "__kwdefaults__": layout.FUNCTION_KEYWORD_DEFAULTS,
}

#: keeps an object alive as long as the code, and gives its address
_Keep = Callable[[object], Ref]


def emit_assumptions(
    f: FunctionBuilder, assumptions: Sequence[Assumption], reject: BlockRef, keep: _Keep
) -> None:
    """Go to `reject` unless the variables still are what the code takes them for.

    The dicts are looked into only when their version tag is not that of the last look.
    """
    _check_fields(f, assumptions, reject, keep)
    in_dicts = [a for a in assumptions if isinstance(a.holder, dict)]
    if not in_dicts:
        return
    look, good = f.new_block("look"), f.new_block("globals")
    tags: list[tuple[Ref, Ref]] = []
    if layout.has_dict_versions():
        tags = _load_tags(f, [a.holder for a in in_dicts if isinstance(a.holder, dict)], keep)
        changed = FALSE
        for tag, seen in tags:
            differs = f.icmp("ne", tag, f.load("i64", seen))
            changed = f.binary("or", changed, differs)
        f.condbr(changed, look, good, unlikely=True)
    else:
        f.br(look)
    f.start(look)
    _look_up(f, in_dicts, reject, keep)
    for tag, seen in tags:
        f.store(tag, seen)
    f.br(good)
    f.start(good)


def _check_fields(
    f: FunctionBuilder, assumptions: Sequence[Assumption], reject: BlockRef, keep: _Keep
) -> None:
    for assumption in assumptions:
        if not isinstance(assumption.holder, dict):
            found = field_of(f, assumption, keep)
            following = f.new_block("same")
            is_other = f.icmp("ne", found, wanted_by(assumption, keep))
            f.condbr(is_other, reject, following, unlikely=True)
            f.start(following)


def field_of(f: FunctionBuilder, assumption: Assumption, keep: _Keep) -> Ref:
    """What a cell or function has now for the assumption."""
    is_cell = isinstance(assumption.holder, types.CellType)
    offset = layout.CELL_CONTENT if is_cell else _ATTRIBUTES[assumption.key]
    return f.load("ptr", f.gep("i8", keep(assumption.holder), offset))


def wanted_by(assumption: Assumption, keep: _Keep) -> Ref:
    """The pointer that is wanted."""
    return keep(assumption.value) if _wants_object(assumption) else NULL


def _wants_object(assumption: Assumption) -> bool:
    is_none = assumption.value is None and isinstance(assumption.holder, types.FunctionType)
    return not is_none and assumption.value is not MISSING


def _load_tags(
    f: FunctionBuilder, dicts: Sequence[dict[str, object]], keep: _Keep
) -> list[tuple[Ref, Ref]]:
    """For each dict: its version tag, and the place of the tag at the last look."""
    tags: list[tuple[Ref, Ref]] = []
    for namespace in {id(d): d for d in dicts}.values():
        place = f.gep("i8", keep(namespace), layout.DICT_VERSION)
        seen = f.module.global_variable(f"{f.name}.seen{len(tags)}", "i64", "0")
        tags.append((f.load("i64", place), seen))
    return tags


def _look_up(
    f: FunctionBuilder, assumptions: Sequence[Assumption], reject: BlockRef, keep: _Keep
) -> None:
    """Look all variables up, by a function that all units share: it reads them from a table."""
    words: list[int] = []
    for assumption in assumptions:
        key = sys.intern(assumption.key)
        objects: list[object] = [assumption.holder, key]
        if _wants_object(assumption):
            objects.append(assumption.value)
        for value in objects:
            keep(value)
        words += [*map(id, objects), *[0] * (3 - len(objects))]
    table = (ctypes.c_uint64 * len(words))(*words)
    keep(table)
    count = integer("i64", len(assumptions))
    following = f.new_block("same")
    are_same = f.call("i1", support("are_same"), (address(ctypes.addressof(table)), count))
    f.condbr(are_same, following, reject, likely=True)
    f.start(following)
