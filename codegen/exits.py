"""Exits: the values of a Snapshot, handed to the helper as Python objects.

They run once in a while, so they cost as little compile time as can be: one call of `PyObject_CallFunction`
an exit, whose format says how CPython boxes each value. What takes more than that is a function shared by
all exits, which LLVM does not optimise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.boxing import box
from ljit.codegen.builder import NULL, FunctionBuilder, Ref, integer
from ljit.codegen.context import Context
from ljit.codegen.forms import Native
from ljit.codegen.layout import OB_TYPE, TUPLE_ITEMS
from ljit.errors import Raised
from ljit.ops.objects import UNBOUND_VALUE
from ljit.types import BOOL, COMPLEX, FLOAT, INT, NONE, UNBOUND, ArrayType

__all__ = ["call_exit"]

_COLD = "nounwind cold noinline optnone"
_BUILD = "PyObject_CallFunction"
_RESULT = "helper_result"


def call_exit(
    f: FunctionBuilder, context: Context, index: int, site: Ref, values: Sequence[Native]
) -> Ref:
    """Call ``helper(index, site, values)``; gives its result, null if an error is set."""
    _define_result(f, context)
    parts = [_item(f, context, value) for value in values]
    pattern = f.module.string(f"ii({''.join(code for code, _ in parts)})")
    helper = context.keep(context.options.helper)
    operands = (helper, pattern, integer("i32", index), site, *(part for _, part in parts))
    typed = ", ".join(operand.typed for operand in operands)
    result = f.emit("ptr", f"call ptr (ptr, ptr, ...) @{_BUILD}({typed})")
    return f.call("ptr", _RESULT, (result,))


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
    name = context.boxers.get(value.type)
    if name is None:
        name = context.boxers[value.type] = f"box.{len(context.boxers)}"
        llvm_types = [part.type for part in value.parts]
        inner = f.module.function(name, "ptr", llvm_types, "internal")
        inner.attributes = _COLD
        inner.ret(box(inner, Native(value.type, inner.params), context.keep))
    return f.call("ptr", name, value.parts)


def _define_result(f: FunctionBuilder, context: Context) -> None:
    """``helper_result(result)``: a `Raised` becomes the error that it holds, all else stays."""
    module = f.module
    if _RESULT in module.sources:
        return
    for name, result, params in (
        ("Py_IncRef", "void", ("ptr",)),
        ("Py_DecRef", "void", ("ptr",)),
        ("PyErr_Restore", "void", ("ptr", "ptr", "ptr")),
    ):
        module.declare(name, result, params)
    module.declared[_BUILD] = f"declare ptr @{_BUILD}(ptr, ptr, ...) nounwind"
    keep = context.keep
    module.define(
        _RESULT,
        f"""define internal ptr @{_RESULT}(ptr %result) {_COLD} {{
  %none = icmp eq ptr %result, {NULL}
  br i1 %none, label %done, label %check
check:
  %class.at = getelementptr i8, ptr %result, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is.raised = icmp eq ptr %class, {keep(Raised)}
  br i1 %is.raised, label %raise, label %done
raise:
  %value.at = getelementptr i8, ptr %result, i64 {TUPLE_ITEMS}
  %value = load ptr, ptr %value.at
  %trace.at = getelementptr i8, ptr %result, i64 {TUPLE_ITEMS + 8}
  %trace = load ptr, ptr %trace.at
  %no.trace = icmp eq ptr %trace, {keep(None)}
  %traceback = select i1 %no.trace, ptr {NULL}, ptr %trace
  %kind.at = getelementptr i8, ptr %value, i64 {OB_TYPE}
  %kind = load ptr, ptr %kind.at
  call void @Py_IncRef(ptr %kind)
  call void @Py_IncRef(ptr %value)
  call void @Py_IncRef(ptr %traceback)
  call void @Py_DecRef(ptr %result)
  call void @PyErr_Restore(ptr %kind, ptr %value, ptr %traceback)
  ret ptr {NULL}
done:
  ret ptr %result
}}""",
    )
