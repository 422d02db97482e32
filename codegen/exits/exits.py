"""Exits: the values of a Snapshot, handed to the helper as Python objects.

They run once in a while, so they cost as little compile time as can be: one call of `PyObject_CallFunction`
an exit, whose format says how CPython boxes each value. What takes more than that is a function shared by
all exits, which LLVM does not optimise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.functions.context import Context
from ljit.codegen.functions.slow_path import support
from ljit.codegen.llvm.builder import FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.boxing import box
from ljit.ops.names import UNBOUND_VALUE
from ljit.types import BOOL, COMPLEX, FLOAT, INT, NONE, RANGE, UNBOUND, ArrayType

__all__ = ["call_exit"]

_COLD = "nounwind cold noinline optnone"
_BUILD = "PyObject_CallFunction"


def call_exit(
    f: FunctionBuilder, context: Context, index: int, site: Ref, values: Sequence[Native]
) -> Ref:
    """Call ``helper(index, site, values)``; gives its result, null if an error is set."""
    parts: list[tuple[str, Ref]] = []
    views: dict[object, Ref] = {}  # one view is one object
    for value in values:
        key = value.type, *[part.text for part in value.parts]
        if value.late is None and isinstance(value.type, ArrayType):
            parts.append(("O", views[key]) if key in views else _item(f, context, value))
            views[key] = parts[-1][1]
        else:
            parts.append(_item(f, context, value))
    units = f"ii({''.join(code for code, _ in parts)})"
    operands = (integer("i32", index), site, *(part for _, part in parts))
    result = _call(f, context.keep(context.options.helper), units, operands)
    return f.call("ptr", support("helper_result"), (result,))


def _call(f: FunctionBuilder, callee: Ref, units: str, operands: Sequence[Ref]) -> Ref:
    """Call an object with operands that CPython boxes."""
    f.module.declared[_BUILD] = f"declare ptr @{_BUILD}(ptr, ptr, ...) nounwind"
    typed = ", ".join(operand.typed for operand in (callee, f.module.string(units), *operands))
    return f.emit("ptr", f"call ptr (ptr, ptr, ...) @{_BUILD}({typed})")


def _item(f: FunctionBuilder, context: Context, value: Native) -> tuple[str, Ref]:
    """Give the unit of `Py_BuildValue` that boxes a value, and its operand.

    ``O`` takes a reference to an object, ``N`` an object with its reference; if one is null, the error that is
    set remains.
    """
    type_, keep = value.type, context.keep
    if value.late is not None:
        return "N", value.late()
    if type_.is_boxed or (
        isinstance(type_, ArrayType) and value.parts[0].text == value.parts[1].text
    ):
        return "O", value.parts[0]
    if type_ == INT:
        return "L", value.ref
    if type_ == FLOAT:
        return "d", value.ref
    if type_ == BOOL:
        return "O", f.select(value.ref, keep(True), keep(False))
    if type_ in (NONE, UNBOUND):
        return "O", keep(None if type_ == NONE else UNBOUND_VALUE)
    return "N", _box(f, context, value)


def _box(f: FunctionBuilder, context: Context, value: Native) -> Ref:
    if value.type == COMPLEX or not value.parts:
        return box(f, value, context.keep)
    if value.type == RANGE:
        return _call(f, context.keep(range), "LLL", value.parts)
    name = context.boxers.get(value.type)
    if name is None:
        name = context.boxers[value.type] = f"box.{len(context.boxers)}"
        llvm_types = [part.type for part in value.parts]
        inner = f.module.function(name, "ptr", llvm_types, "internal")
        inner.attributes = _COLD
        inner.ret(box(inner, Native(value.type, inner.params), context.keep))
    return f.call("ptr", name, value.parts)
