"""Exits: the values of a Snapshot, handed to the helper as Python objects.

They run once in a while, so they cost as little compile time as can be: one call of `leave` (`support.py`) an exit,
with a format of `Py_BuildValue` that says how CPython boxes each number. What values consist of is put together from
these by the interpreter's side (`codegen/functions/handed_over.py`). What takes more than that, as a view, is a
function shared by all exits, which LLVM does not optimise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.functions.context import Context
from ljit.codegen.functions.handed_over import Known, Parts, Recipe
from ljit.codegen.functions.support import support
from ljit.codegen.llvm.builder import FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native, dtype_of, is_scalar, items_of, split
from ljit.codegen.references.boxing import box
from ljit.ops.names import UNBOUND_VALUE
from ljit.types import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    UINT,
    UNBOUND,
    ArrayType,
    ItemsType,
    RangeType,
    SliceType,
    Type,
    ViewType,
)

__all__ = ["call_exit"]

_COLD = "nounwind cold noinline optnone"
_OF_ITEMS = (ItemsType, ViewType, RangeType, SliceType)

# By dtype: the unit of `Py_BuildValue` for each of its numbers, and how and to what these are converted before.
_UNITS = {
    "b1": ("i", "zext", "i32"),
    "i1": ("i", "sext", "i32"),
    "u1": ("i", "zext", "i32"),
    "i2": ("i", "sext", "i32"),
    "u2": ("i", "zext", "i32"),
    "i4": ("i", "", ""),
    "u4": ("I", "", ""),
    "i8": ("L", "", ""),
    "u8": ("K", "", ""),
    "f2": ("i", "bitcast", "i16"),  # as bits: a NaN that signals does not outlive a conversion
    "f4": ("I", "bitcast", "i32"),
    "f8": ("d", "", ""),
    "c8": ("I", "bitcast", "i32"),
    "c16": ("d", "", ""),
}


def call_exit(
    f: FunctionBuilder,
    context: Context,
    index: int,
    site: Ref,
    values: Sequence[Native],
    *,
    is_counted: bool,
) -> Ref:
    """Call ``helper(index, site, values)``; gives the result of the function.

    `is_counted`: CPython has counted the function's frame.
    """
    given = _HandedOver(f, context)
    recipes = tuple(map(given.recipe, values))
    context.exits[index] = context.exits[index].with_changes(recipes=recipes)
    units = f.module.string(f"ii({given.units})")
    helper = context.keep(context.options.helper)
    operands = (helper, units, integer("i32", index), site, *given.operands)
    typed = ", ".join(operand.typed for operand in operands)
    leave = support("leave" if is_counted else "leave_entry")
    return f.emit("ptr", f"call ptr (ptr, ptr, ...) {leave}({typed})")


class _HandedOver:
    """The operands of an exit, and their units of `Py_BuildValue`.

    ``O`` takes a reference to an object, ``N`` an object with its reference; if one is null, the error that is
    set remains.
    """

    def __init__(self, f: FunctionBuilder, context: Context) -> None:
        self.f, self.context = f, context
        self.units = ""
        self.operands: list[Ref] = []
        self._places: dict[object, int] = {}  # by the value

    def recipe(self, value: Native) -> Recipe:
        """Hand a value over, as far as it was not yet: one view is one object."""
        type_ = value.type
        if value.late is not None:
            return self._add("N", value.late())
        if type_.is_boxed or (
            isinstance(type_, ArrayType) and value.parts[0].text == value.parts[1].text
        ):
            return self._once("O", value.parts[0])
        if type_ in (NONE, UNBOUND):
            return Known(None if type_ == NONE else UNBOUND_VALUE)
        if is_scalar(type_):
            return self._number(value)
        if _is_put_together(type_):
            return Parts(type_, tuple(map(self.recipe, split(value))))
        key = type_, *[part.text for part in value.parts]
        if key not in self._places:
            self._places[key] = self._add("N", _box(self.f, self.context, value))
        return self._places[key]

    def _number(self, value: Native) -> Recipe:
        type_, dtype = value.type, dtype_of(value.type)
        if type_ in (INT, UINT, BOOL) and value.ref.constant is not None:
            number = value.ref.constant
            if type_ == UINT:
                number %= 2**64
            return Known(bool(number) if type_ == BOOL else number)
        unit, opcode, wide = _UNITS[f"{dtype.kind}{dtype.itemsize}"]
        numbers = [self.f.convert(opcode, x, wide) if opcode else x for x in value.parts]
        if wide == "i16":
            numbers = [self.f.convert("zext", x, "i32") for x in numbers]
        places = tuple(self._once(unit, number) for number in numbers)
        return places[0] if type_ in (INT, UINT, FLOAT) else Parts(type_, places)

    def _once(self, unit: str, operand: Ref) -> int:
        key = unit, operand.text
        if key not in self._places:
            self._places[key] = self._add(unit, operand)
        return self._places[key]

    def _add(self, unit: str, operand: Ref) -> int:
        self.units += unit
        self.operands.append(operand)
        return len(self.operands) - 1


def _is_put_together(type_: Type) -> bool:
    """Whether values of the type consist of numbers and objects, in whatever depth."""
    if not isinstance(type_, _OF_ITEMS):
        return type_.is_boxed or type_ in (NONE, UNBOUND) or is_scalar(type_)
    return all(map(_is_put_together, items_of(type_)))


def _box(f: FunctionBuilder, context: Context, value: Native) -> Ref:
    if not value.parts:
        return box(f, value, context.keep)
    name = context.boxers.get(value.type)
    if name is None:
        name = context.boxers[value.type] = f"box.{len(context.boxers)}"
        llvm_types = [part.type for part in value.parts]
        inner = f.module.function(name, "ptr", llvm_types, "internal")
        inner.attributes = _COLD
        inner.ret(box(inner, Native(value.type, inner.params), context.keep))
    return f.call("ptr", name, value.parts)
