"""The functions behind exits: they box the values of a Snapshot and call the helper.

They run once in a while, so they cost as little compile time as can be: LLVM does not optimise them, and the
function that has the exits stays small.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.boxing import box
from ljit.codegen.builder import NULL, FunctionBuilder, Ref, integer
from ljit.codegen.context import Context
from ljit.codegen.forms import Native
from ljit.codegen.layout import OB_TYPE, TUPLE_ITEMS
from ljit.errors import Raised
from ljit.types import BOOL, COMPLEX, FLOAT, INT, ArrayType

__all__ = ["call_exit"]

_COLD = "nounwind cold noinline optnone"
_LEAVE = "leave"
_SHORT = (BOOL, INT, FLOAT, COMPLEX)  # one call boxes these


def call_exit(
    f: FunctionBuilder, context: Context, index: int, site: Ref, values: Sequence[Native]
) -> Ref:
    """Call the function of exit `index`, written now; gives the result of the helper."""
    passed: dict[str, Ref] = {}
    for value in values:
        passed |= {part.text: part for part in value.parts if part.text.startswith("%")}
    llvm_types = [part.type for part in passed.values()]
    inner = f.module.function(f"exit.{index}", "ptr", ["i32", *llvm_types], "internal")
    inner.attributes = _COLD
    received = dict(zip(passed, inner.params[1:], strict=True))
    inside = [
        Native(value.type, [received.get(part.text, part) for part in value.parts])
        for value in values
    ]
    boxed = _boxed_tuple(inner, context, inside)
    _define_leave(f, context)
    number = integer("i32", index)
    inner.ret(inner.call("ptr", _LEAVE, (number, inner.params[0], boxed)))
    return f.call("ptr", inner.name, (site, *passed.values()))


def _boxed_tuple(f: FunctionBuilder, context: Context, values: Sequence[Native]) -> Ref:
    """A new tuple of the values; an item is null (and an error set) if one could not be made."""
    result = f.call_external("ptr", "PyTuple_New", (integer("i64", len(values)),))
    f.module.declare("PyTuple_SetItem", "i32", ("ptr", "i64", "ptr"))
    for index, value in enumerate(values):
        item = _box(f, context, value)
        f.call("i32", "PyTuple_SetItem", (result, integer("i64", index), item))
    return result


def _box(f: FunctionBuilder, context: Context, value: Native) -> Ref:
    """Box in few lines: what takes many is a function of its own, shared by all exits."""
    has_object = isinstance(value.type, ArrayType) and value.parts[0].text == value.parts[1].text
    if value.type.is_boxed or value.type in _SHORT or not value.parts or has_object:
        return box(f, value, context.keep)
    name = context.boxers.get(value.type)
    if name is None:
        name = context.boxers[value.type] = f"box.{len(context.boxers)}"
        llvm_types = [part.type for part in value.parts]
        inner = f.module.function(name, "ptr", llvm_types, "internal")
        inner.attributes = _COLD
        inner.ret(box(inner, Native(value.type, inner.params), context.keep))
    return f.call("ptr", name, value.parts)


def _define_leave(f: FunctionBuilder, context: Context) -> None:
    """``leave(exit, site, values)`` calls the helper; a `Raised` becomes the error that it holds."""
    module = f.module
    if _LEAVE in module.sources:
        return
    for name, result, params in (
        ("PyErr_Occurred", "ptr", ()),
        ("Py_IncRef", "void", ("ptr",)),
        ("Py_DecRef", "void", ("ptr",)),
        ("PyErr_Restore", "void", ("ptr", "ptr", "ptr")),
    ):
        module.declare(name, result, params)
    keep = context.keep
    module.declared["PyObject_CallFunction"] = (
        "declare ptr @PyObject_CallFunction(ptr, ptr, ...) nounwind"
    )
    helper, pattern = keep(context.options.helper), module.string("iiN")
    module.define(
        _LEAVE,
        f"""define internal ptr @leave(i32 %exit, i32 %site, ptr %values) {_COLD} {{
  %error = call ptr @PyErr_Occurred()
  %good = icmp eq ptr %error, {NULL}
  br i1 %good, label %resume, label %failed
resume:
  %result = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr {helper}, ptr {pattern}, """
        f"""i32 %exit, i32 %site, ptr %values)
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
failed:
  call void @Py_DecRef(ptr %values)
  ret ptr {NULL}
done:
  ret ptr %result
}}""",
    )
