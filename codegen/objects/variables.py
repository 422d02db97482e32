"""Global, closure and shared variables that change: read where they lie, without a call of Python while they exist."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType
from typing import TYPE_CHECKING

from ljit.codegen.layouts.layout import CELL_CONTENT
from ljit.codegen.llvm.builder import ModuleBuilder, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.attribute_dicts import reader_of_dict
from ljit.codegen.objects.objects import owned_result, without_frames
from ljit.codegen.references.refcounts import counter

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["load_cell", "load_global", "load_shared"]


def load_global(
    e: Emitter, variables: dict[str, object], name: str, load: Callable[[], object]
) -> Native:
    """The variable in a module's dict; if there is none, what `load` gives or raises."""
    holder, key = e.context.keep(variables), e.context.keep(name)
    find = f"%item = call ptr {reader_of_dict(e.f.module)}({holder.typed}, {key.typed})"
    symbol = e.f.module.symbol("global", holder.text, key.text)
    return _loaded(e, symbol, find, e.context.keep(without_frames(load)))


def load_cell(e: Emitter, cell: CellType, load: Callable[[], object]) -> Native:
    """What is in the cell; if it is empty, what `load` raises."""
    holder = e.context.keep(cell)
    find = f"""%place = getelementptr i8, {holder.typed}, i64 {CELL_CONTENT}
  %item = load ptr, ptr %place"""
    return _loaded(
        e, e.f.module.symbol("cell", holder.text), find, e.context.keep(without_frames(load))
    )


def load_shared(e: Emitter, cell: Native, load: Callable[[object], object]) -> Native:
    """What is in a cell that the function has made; if it is empty, what `load` raises of it."""
    slow = e.context.keep(without_frames(load))
    find = f"""%place = getelementptr i8, ptr %cell, i64 {CELL_CONTENT}
  %item = load ptr, ptr %place"""
    symbol = e.f.module.symbol("shared", slow.text)
    getter = _getter(e.f.module, symbol, find, slow, "ptr %cell")
    return owned_result(e, e.f.call("ptr", getter, (cell.ref,)))


def _loaded(e: Emitter, symbol: str, find: str, load: Ref) -> Native:
    getter = _getter(e.f.module, symbol, find, load)
    return owned_result(e, e.f.call("ptr", getter, ()))


def _getter(module: ModuleBuilder, symbol: str, find: str, load: Ref, parameter: str = "") -> str:
    """The function that gives a new reference to ``%item`` of `find`, or what `load` gives; null: an error."""
    call = "PyObject_CallOneArg" if parameter else "PyObject_CallNoArgs"
    operands = f"{load.typed}, {parameter}" if parameter else load.typed
    module.declare(call, "ptr", ["ptr", "ptr"] if parameter else ["ptr"])
    source = f"""define internal ptr @{symbol}({parameter}) noinline nounwind {{
  {find}
  %missing = icmp eq ptr %item, null
  br i1 %missing, label %slow, label %take
take:
  call void @{counter(module, "retain")}(ptr %item)
  ret ptr %item
slow:
  %made = call ptr @{call}({operands})
  ret ptr %made
}}"""
    return module.define(symbol, source)
