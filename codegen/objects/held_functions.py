"""Functions that variables and attributes hold, and methods: which ones they are, and what they give in front."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from ljit.codegen.layouts.callable_layout import (
    DICT_USED,
    FUNCTION_CLOSURE,
    FUNCTION_GLOBALS,
    METHOD_FUNCTION,
    METHOD_SELF,
    PARTIAL_ARGUMENTS,
    PARTIAL_FUNCTION,
    PARTIAL_KEYWORDS,
)
from ljit.codegen.layouts.layout import (
    CELL_CONTENT,
    FUNCTION_CODE,
    FUNCTION_DEFAULTS,
    OB_TYPE,
    TUPLE_ITEMS,
    VAR_SIZE,
)
from ljit.codegen.llvm.builder import NULL, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.attributes import method_test, own_getter_of
from ljit.held import BoundMethods, HeldKind, MadeFunctions, Partials
from ljit.ops.python_types import class_of
from ljit.types import ANY

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "check_function",
    "check_kind",
    "check_method",
    "check_super",
    "given_value",
    "own_attribute",
]

_WORD = 8


def check_method(e: Emitter, x: Native, name: str, function: object) -> None:
    """Leave unless ``x.name`` is the function as a method of `x`."""
    _check_method(e, x, name, function, None)


def check_super(e: Emitter, x: Native, above: type, name: str, function: object) -> None:
    """Leave unless ``super(above, x).name`` is the function as a method of `x`."""
    _check_method(e, x, name, function, above)


def _check_method(e: Emitter, x: Native, name: str, function: object, above: type | None) -> None:
    keep = e.context.keep
    test = method_test(e.f.module, class_of(x.type), keep(name), (name, function, above), keep)
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


def check_kind(e: Emitter, x: Native, kind: HeldKind) -> None:
    """Leave unless the object is a callable of the kind."""
    _CHECKS[type(kind)](e, x, kind)


def _check_made(e: Emitter, x: Native, kind: MadeFunctions) -> None:
    _check_class(e, x, FunctionType)
    _check_word(e, x.ref, FUNCTION_CODE, kind.code, "a function with other code")
    _check_word(e, x.ref, FUNCTION_GLOBALS, kind.variables, "a function of another module")


def _check_bound(e: Emitter, x: Native, kind: BoundMethods) -> None:
    _check_class(e, x, MethodType)
    _check_word(e, x.ref, METHOD_FUNCTION, kind.function, "another method")


def _check_partial(e: Emitter, x: Native, kind: Partials) -> None:
    f = e.f
    _check_class(e, x, partial)
    _check_word(e, x.ref, PARTIAL_FUNCTION, kind.function, "another function")
    count = f.load("i64", f.gep("i8", _pointer_at(e, x.ref, PARTIAL_ARGUMENTS), VAR_SIZE))
    e.bailout.bail_if(f.icmp("ne", count, len(kind.given)), "another number of arguments")
    named = f.load("i64", f.gep("i8", _pointer_at(e, x.ref, PARTIAL_KEYWORDS), DICT_USED))
    e.bailout.bail_if(f.icmp("ne", named, 0), "keywords")


_CHECKS: dict[type, Callable[[Emitter, Native, Any], None]] = {
    MadeFunctions: _check_made,
    BoundMethods: _check_bound,
    Partials: _check_partial,
}


def given_value(e: Emitter, x: Native, kind: HeldKind, index: int) -> Native:
    """What a callable of the kind gives in front of arguments; leave if it is a variable that is not bound."""
    found = _GIVEN[type(kind)](e, x.ref, index, kind)
    e.ownership.retain(found)
    e.ownership.acquire(found)
    return Native(ANY, (found,))


def _of_made(e: Emitter, function: Ref, index: int, kind: MadeFunctions) -> Ref:
    """What is in a cell, or a default."""
    f = e.f
    if index < len(kind.given):
        cell = _item_at(e, function, FUNCTION_CLOSURE, index)
        found = _pointer_at(e, cell, CELL_CONTENT)
        e.bailout.bail_if(f.icmp("eq", found, NULL), "a variable that is not bound")
        return found
    defaults = _pointer_at(e, function, FUNCTION_DEFAULTS)
    e.bailout.bail_if(f.icmp("eq", defaults, NULL), "no defaults")
    count = f.load("i64", f.gep("i8", defaults, VAR_SIZE))
    e.bailout.bail_if(f.icmp("ne", count, len(kind.defaults)), "another number of defaults")
    return _item_at(e, function, FUNCTION_DEFAULTS, index - len(kind.given))


_GIVEN: dict[type, Callable[[Emitter, Ref, int, Any], Ref]] = {
    MadeFunctions: _of_made,
    BoundMethods: lambda e, method, *_: _pointer_at(e, method, METHOD_SELF),
    Partials: lambda e, fixed, index, _: _item_at(e, fixed, PARTIAL_ARGUMENTS, index),
}


def _check_class(e: Emitter, x: Native, cls: type) -> None:
    if class_of(x.type) is not cls:
        _check_word(e, x.ref, OB_TYPE, cls, f"no {cls.__name__}")


def _check_word(e: Emitter, object_: Ref, offset: int, wanted: object, reason: str) -> None:
    differs = e.f.icmp("ne", _pointer_at(e, object_, offset), e.context.keep(wanted))
    e.bailout.bail_if(differs, reason)


def _item_at(e: Emitter, object_: Ref, offset: int, index: int) -> Ref:
    """An item of a tuple that an object has."""
    return _pointer_at(e, _pointer_at(e, object_, offset), TUPLE_ITEMS + _WORD * index)


def _pointer_at(e: Emitter, object_: Ref, offset: int) -> Ref:
    return e.f.load("ptr", e.f.gep("i8", object_, offset))
