"""Functions that variables and attributes hold, and methods: which ones they are, and what their closures have."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ljit.codegen.layouts.layout import (
    CELL_CONTENT,
    FUNCTION_CLOSURE,
    FUNCTION_CODE,
    FUNCTION_GLOBALS,
    OB_TYPE,
    TUPLE_ITEMS,
)
from ljit.codegen.llvm.builder import NULL, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.attributes import method_test, own_getter_of
from ljit.ops.python_types import class_of
from ljit.types import ANY

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["check_code", "check_function", "check_method", "closure_value", "own_attribute"]

_WORD = 8


def check_method(e: Emitter, x: Native, name: str, function: object) -> None:
    """Leave unless ``x.name`` is the function as a method of `x`."""
    keep = e.context.keep
    test = method_test(e.f.module, class_of(x.type), keep(name), name, function, keep)
    same = e.f.call("i1", test, (x.ref,))
    e.bailout.bail_if(e.f.bool_not(same), f"{name} is another method")


def own_attribute(e: Emitter, x: Native, name: str) -> Native:
    """``x.name`` that the object itself has; leave if it has none."""
    keep = e.context.keep
    getter = own_getter_of(e.f.module, class_of(x.type), keep(name), name, keep)
    found = e.f.call("ptr", getter, (x.ref,))
    e.bailout.bail_if(e.f.icmp("eq", found, NULL), f"{name} is no attribute of the object itself")
    e.ownership.acquire(found)
    return Native(ANY, (found,))


def check_function(e: Emitter, x: Native, function: object) -> None:
    """Leave unless the object is the function."""
    e.bailout.bail_if(e.f.icmp("ne", x.ref, e.context.keep(function)), "another function")


def check_code(e: Emitter, x: Native, code: CodeType, variables: dict[str, Any]) -> None:
    """Leave unless the object is a function with the code and the global variables."""
    if class_of(x.type) is not FunctionType:
        _check_word(e, x, OB_TYPE, FunctionType, "no function")
    _check_word(e, x, FUNCTION_CODE, code, "a function with other code")
    _check_word(e, x, FUNCTION_GLOBALS, variables, "a function of another module")


def _check_word(e: Emitter, x: Native, offset: int, wanted: object, reason: str) -> None:
    differs = e.f.icmp("ne", _pointer_at(e, x.ref, offset), e.context.keep(wanted))
    e.bailout.bail_if(differs, reason)


def _pointer_at(e: Emitter, object_: Ref, offset: int) -> Ref:
    return e.f.load("ptr", e.f.gep("i8", object_, offset))


def closure_value(e: Emitter, x: Native, index: int) -> Native:
    """What is in a cell of a function; leave if nothing is."""
    closure = _pointer_at(e, x.ref, FUNCTION_CLOSURE)
    cell = _pointer_at(e, closure, TUPLE_ITEMS + _WORD * index)
    found = _pointer_at(e, cell, CELL_CONTENT)
    e.bailout.bail_if(e.f.icmp("eq", found, NULL), "a variable that is not bound")
    e.ownership.retain(found)
    e.ownership.acquire(found)
    return Native(ANY, (found,))
