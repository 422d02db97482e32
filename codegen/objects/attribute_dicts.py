"""Attributes of objects that have a dict instead of values, read and written where it keeps them.

CPython gives objects dicts whose classes have had many objects before these got the attribute, whose ``__dict__``
somebody has asked for, or that have more attributes than a class shares. The functions here do what `PyDict_GetItem`
and `PyDict_SetItem` do, and call them where only these can tell. They are compiled once in a process.
"""

from __future__ import annotations

import ctypes

from ljit.codegen.layouts.hash_layout import WATCHERS
from ljit.codegen.layouts.layout import DICT_VERSION
from ljit.codegen.llvm.builder import (
    FALSE,
    NULL,
    FunctionBuilder,
    ModuleBuilder,
    Ref,
    address,
    integer,
)
from ljit.codegen.llvm.shared_code import shared_function
from ljit.codegen.objects.hash_tables import UNKNOWN, finder_of_names
from ljit.codegen.references.refcounts import counter

__all__ = ["is_watched", "reader_of_dict", "renew_version", "writer_of_dict"]

_READ, _WRITE = "PyDict_GetItem", "PyDict_SetItem"
_GC_NEXT = -16  # word; 0: the collector does not know of the object

#: The version that a dict got last here: larger than any that CPython gives, as all have to be different. The lower
#: bits of a version say who wants to hear of changes (3.12).
_last_version = ctypes.c_uint64(2**63)
_VERSION_STEP = 1 << 12


def is_watched(f: FunctionBuilder, table: Ref) -> Ref:
    """Whether somebody wants to be told of a change of a dict."""
    if WATCHERS is None:
        return FALSE
    offset, bits = WATCHERS
    return f.icmp("ne", f.binary("and", f.load("i64", f.gep("i8", table, offset)), bits), 0)


def renew_version(f: FunctionBuilder, table: Ref) -> None:
    """Note that a value of a dict has changed: who has noted its version looks again."""
    place = address(ctypes.addressof(_last_version))
    version = f.binary("add", f.load("i64", place), integer("i64", _VERSION_STEP))
    f.store(version, place)
    noted = f.gep("i8", table, DICT_VERSION)
    if WATCHERS is not None:
        below = f.binary("and", f.load("i64", noted), integer("i64", _VERSION_STEP - 1))
        version = f.binary("or", version, below)
    f.store(version, noted)


def reader_of_dict(module: ModuleBuilder) -> str:
    """The function that takes a dict and a name, and gives what it has there, no new reference; null: nothing."""
    finder = finder_of_names()
    if finder is None:
        return "@" + module.declare(_READ, "ptr", ["ptr", "ptr"])
    return shared_function(_OF_DICT, lambda shared: _write_reader(shared, finder))


def writer_of_dict(module: ModuleBuilder) -> str:
    """The function that takes a dict, a name and what it is to have there; -1: an error."""
    finder = finder_of_names()
    if finder is None:
        return "@" + module.declare(_WRITE, "i32", ["ptr", "ptr", "ptr"])
    return shared_function(_TO_DICT, lambda shared: _write_writer(shared, finder))


_OF_DICT, _TO_DICT = "attribute.of.dict", "attribute.to.dict"


def _write_reader(module: ModuleBuilder, finder: str) -> None:
    f = module.function(_OF_DICT, "ptr", ("ptr", "ptr"))
    table, name = f.params
    place = f.call("ptr", finder, (table, name))
    there, other, unknown, missing = (
        f.new_block(hint) for hint in ("there", "other", "unknown", "missing")
    )
    f.condbr(f.icmp("ugt", place, UNKNOWN), there, other)
    f.start(there)
    f.ret(f.load("ptr", place))
    f.start(other)
    f.condbr(f.icmp("eq", place, UNKNOWN), unknown, missing)
    f.start(unknown)
    f.ret(f.call_external("ptr", _READ, (table, name)))
    f.start(missing)
    f.ret(NULL)


def _write_writer(module: ModuleBuilder, finder: str) -> None:
    """A dict that the collector does not know of has to be told to it if it gets an object that may be in a cycle."""
    f = module.function(_TO_DICT, "i32", ("ptr", "ptr", "ptr"))
    table, name, value = f.params
    place = f.call("ptr", finder, (table, name))
    there, known, plain, slow = (f.new_block(hint) for hint in ("there", "known", "plain", "slow"))
    f.condbr(f.icmp("ugt", place, UNKNOWN), there, slow, likely=True)
    f.start(there)
    next_ = f.load("i64", f.gep("i8", table, _GC_NEXT))
    f.condbr(f.icmp("ne", next_, 0), known, slow, likely=True)
    f.start(known)
    f.condbr(is_watched(f, table), slow, plain, unlikely=True)
    f.start(plain)
    old = f.load("ptr", place)
    f.call("void", counter(module, "retain"), (value,))
    f.store(value, place)
    renew_version(f, table)
    f.call("void", counter(module, "release"), (old,))
    f.ret(integer("i32", 0))
    f.start(slow)
    f.ret(f.call_external("i32", _WRITE, (table, name, value)))
