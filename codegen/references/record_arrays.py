"""Which arrays are those of records that native code takes: by their dtypes, of which others may be equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import BlockRef, FunctionBuilder, Ref, address, integer
from ljit.codegen.references.requirements import field, require, require_class, require_form
from ljit.types import ArrayType

__all__ = ["require_multiples", "require_records"]

#: the dtypes of records that code looks for, by their addresses, and their names: they stay, as the code may
_kept: dict[int, object] = {}


def require_records(
    f: FunctionBuilder, array: Ref, type_: ArrayType, wanted: Sequence[Ref], fail: BlockRef
) -> None:
    """Check class, dtype, flags and rank of an array of records; another dtype may be an equal one.

    The fields have to have the names that they had when the type was made.
    """
    usual, _, needed, ndim = wanted
    require_class(f, array, np.ndarray, fail)
    for dtype, names in type_.named:
        _kept.setdefault(id(dtype), dtype)
        _kept.setdefault(id(names), names)
        found = field(f, "ptr", address(id(dtype)), layout.DESCR_NAMES)
        require(f, f.icmp("eq", found, address(id(names))), fail)
    descriptor = field(f, "ptr", array, layout.ARRAY_DESCR)
    other, good = f.new_block("descr"), f.new_block("dtype")
    f.condbr(f.icmp("ne", descriptor, usual), other, good, unlikely=True)
    if f.start(other, cold=True):
        same = f.call_external(
            "i32", "PyObject_RichCompareBool", (descriptor, usual, integer("i32", _EQUAL))
        )
        require(f, f.icmp("eq", same, 1), fail)
        _require_classes(f, descriptor, type_.dtype, fail)
        f.br(good)
    f.start(good)
    require_form(f, array, needed, ndim, fail)


_EQUAL = 2  # Py_EQ


def _require_classes(f: FunctionBuilder, descriptor: Ref, dtype: np.dtype, fail: BlockRef) -> None:
    """Check that records of a dtype, which equals `dtype`, and those in them are of its classes: `np.record` equals."""
    found = field(f, "ptr", descriptor, layout.DESCR_CLASS)
    require(f, f.icmp("eq", found, address(id(dtype.type))), fail)
    for name in dtype.names or ():
        if dtype[name].names is not None:
            fields = field(f, "ptr", descriptor, layout.DESCR_FIELDS)
            _kept.setdefault(id(name), name)
            part = f.call_external("ptr", "PyDict_GetItem", (fields, address(id(name))))
            _require_classes(f, field(f, "ptr", part, layout.TUPLE_ITEMS), dtype[name], fail)


def require_multiples(f: FunctionBuilder, words: Sequence[Ref], unit: int, fail: BlockRef) -> None:
    """Check that addresses and strides are multiples of a power of two."""
    if unit == 1:
        return
    numbers = [f.convert("ptrtoint", x, "i64") if x.type == "ptr" else x for x in words]
    together = numbers[0]
    for number in numbers[1:]:
        together = f.binary("or", together, number)
    require(f, f.icmp("eq", f.binary("and", together, unit - 1), 0), fail)
