"""The Emitter's methods on Python objects: boxed calls, attributes, text, identity."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, MethodDescriptorType, TracebackType
from typing import TYPE_CHECKING, Any

import ljit.ops
from ljit.codegen.arrays.blocks import call_on_blocks
from ljit.codegen.exits.bailout import known_object
from ljit.codegen.exits.convert import borrow_object, unbox_or_bail
from ljit.codegen.layouts.instances import are_versions_known
from ljit.codegen.layouts.layout import TYPE_NEW, type_new
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, Ref, address, integer
from ljit.codegen.llvm.forms import Native, array_parts, components, undef_of
from ljit.codegen.objects.attribute_caches import read_cached
from ljit.codegen.objects.attributes import caller_of, getter_of, setter_of
from ljit.codegen.objects.c_api import (
    c_function_for,
    call_c_function,
    call_c_method,
    inlined_frames,
    method_of,
)
from ljit.codegen.objects.in_line import done_in_line
from ljit.codegen.objects.unpacking import is_unpacking, tuple_of_items
from ljit.codegen.references.boxing import unbox
from ljit.codegen.references.lifetimes import is_for_exits
from ljit.config import settings
from ljit.ir import Effect, Value, get_op
from ljit.ops.python.types import class_of
from ljit.types import ANY, BOOL, NEVER, NONE, ArrayType, ListType, ObjectType, TupleType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

#: tells the callee that it may write to the word before the arguments
ARGUMENTS_OFFSET = -(2**63)
#: where ops are declared: the functions of these files that native code calls leave no frame in tracebacks
_OPS = os.path.join(os.path.dirname(ljit.ops.__file__), "")


def object_const(e: Emitter, value: object) -> Native:
    return Native(ANY, (e.context.keep(value),))


def owned_result(e: Emitter, pointer: Ref) -> Native:
    """A new reference given by a call, or null: an error."""
    e.bailout.error_if_null(pointer)
    e.ownership.acquire(pointer)
    return Native(ANY, (pointer,))


def new_object(e: Emitter, cls: type) -> Native:
    """What `object.__new__` makes of a class; leave if it has another ``__new__`` by now."""
    f, keep = e.f, e.context.keep
    new = address(type_new(object))
    found = f.load("ptr", f.gep("i8", keep(cls), TYPE_NEW))
    e.bailout.bail_if(f.icmp("ne", found, new), f"{cls.__name__} has another __new__")
    made = f.call("ptr", new.text, (keep(cls), keep(()), NULL))
    return Native(ObjectType(cls), owned_result(e, made).parts)


def made_of(e: Emitter, x: Native, function: Callable[[object], object]) -> Native:
    """What a function gives for an object; it runs in exits if only these need it."""
    receiver, slot = borrow_object(e, x)
    operands = (e.context.keep(function), receiver)

    def call() -> Ref:
        return e.f.call_external("ptr", "PyObject_CallOneArg", operands)

    node = e.bailout.node
    if node is not None and x.type.is_boxed and is_for_exits(node):
        return Native(e.result_types[0], (NULL,), late=call)
    result = owned_result(e, call())
    if slot is not None:
        e.ownership.release_slot(slot)
    return result


def _vectorcall(
    e: Emitter, symbol: str, callee: Sequence[Ref], args: Sequence[Native], names: tuple[str, ...]
) -> Native:
    """Call with `callee[1:]` and the boxed `args`; word 0 of the argument array is scratch."""
    f = e.f
    boxes = [borrow_object(e, arg) for arg in args]
    pointers = [*callee[1:], *(pointer for pointer, _ in boxes)]
    array = e.stack_array("ptr", len(pointers) + 1)
    for index, pointer in enumerate(pointers):
        f.store(pointer, f.gep("ptr", array, index + 1))
    first = f.gep("ptr", array, 1)
    count = integer("i64", len(pointers) - len(names) + ARGUMENTS_OFFSET)
    keywords = e.context.keep(names) if names else NULL
    is_known = symbol.startswith("inttoptr") or symbol in f.module.sources
    call = f.call if is_known else f.call_external
    with inlined_frames(e):
        result = call("ptr", symbol, (callee[0], first, count, keywords))
    for _, slot in boxes:
        if slot is not None:
            e.ownership.release_slot(slot)
    return owned_result(e, result)


def call_object(
    e: Emitter, f: Native, args: Sequence[Native], kwnames: tuple[str, ...] = ()
) -> Native:
    callee, slot = borrow_object(e, f)
    result = _vectorcall(e, _symbol_for(e, args), (callee,), args, tuple(kwnames))
    if slot is not None:
        e.ownership.release_slot(slot)
    return result


def call_method(
    e: Emitter, name: str, x: Native, args: Sequence[Native], kwnames: tuple[str, ...] = ()
) -> Native:
    def call() -> Native:
        known = call_c_method(e, method, x, args) if method is not None else None
        return _call_method(e, name, x, args, kwnames) if known is None else known

    method = method_of(x.type, name) if not kwnames else None
    made = done_in_line(e, method, (x, *args), call) if method is not None else None
    return call() if made is None else made


def _call_method(
    e: Emitter, name: str, x: Native, args: Sequence[Native], kwnames: tuple[str, ...]
) -> Native:
    receiver, slot = borrow_object(e, x)
    kept = e.context.keep(name)
    caller = caller_of(e.f.module, class_of(x.type), kept, name, e.context.keep)
    symbol = caller or "PyObject_VectorcallMethod"
    result = _vectorcall(e, symbol, (kept, receiver), args, tuple(kwnames))
    if slot is not None:
        e.ownership.release_slot(slot)
    return result


def read_attribute(e: Emitter, x: Native, receiver: Ref, name: str) -> Ref:
    """A new reference to an attribute, null: an error; `receiver` is the object."""
    kept = e.context.keep(name)
    getter = getter_of(e.f.module, class_of(x.type), kept, name)
    if getter is not None:
        return e.f.call("ptr", getter, (receiver,))
    if x.type == ANY and are_versions_known():
        return read_cached(e.f, e.context.keep, receiver, name)
    return e.f.call_external("ptr", "PyObject_GetAttr", (receiver, kept))


def getattr_(e: Emitter, x: Native, name: str) -> Native:
    """``x.name``; a method that only exits need is looked up there."""
    node = e.bailout.node
    if node is not None and x.type.is_boxed and is_for_exits(node):
        return Native(e.result_types[0], (NULL,), late=lambda: read_attribute(e, x, x.ref, name))
    receiver, slot = borrow_object(e, x)
    result = read_attribute(e, x, receiver, name)
    if slot is not None:
        e.ownership.release_slot(slot)
    return owned_result(e, result)


def setattr_(e: Emitter, x: Native, value: Native, name: str) -> None:
    """``x.name = value``."""
    boxes = [borrow_object(e, operand) for operand in (x, value)]
    pointers = [pointer for pointer, _ in boxes]
    kept = e.context.keep(name)
    setter = setter_of(e.f.module, class_of(x.type), kept, name)
    if setter is not None:
        status = e.f.call("i32", setter, pointers)
    else:
        operands = (pointers[0], kept, pointers[1])
        status = e.f.call_external("i32", "PyObject_SetAttr", operands)
    for _, slot in boxes:
        if slot is not None:
            e.ownership.release_slot(slot)
    e.bailout.error_if(e.f.icmp("slt", status, 0))


def call_boxed(e: Emitter, function: object, args: Sequence[Native]) -> object:
    result = call_function(e, function, args)
    types = e.result_types
    if not types:
        return ()
    if result.type != ANY:
        return result
    if len(types) == 1:
        return call_result(e, result, types[0])
    return e.tuple_items(call_result(e, result, TupleType(types)))


def is_caught_by(e: Emitter, function: object, error: Native, classes: Native) -> object:
    """Whether an ``except`` clause takes an exception; `function` says what is wrong with classes that are none."""
    node, f = e.bailout.node, e.f
    wanted = _constants_in(node.inputs[1]) if node is not None else (None,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in wanted):
        return call_boxed(e, function, (error, classes))
    found = FALSE
    for cls in wanted:
        operands = (error.ref, e.context.keep(cls))
        matches = f.call_external("i32", "PyErr_GivenExceptionMatches", operands)
        found = f.binary("or", found, f.icmp("ne", matches, 0))
    return Native(BOOL, (found,))


def _constants_in(value: Value) -> tuple[object, ...]:
    """The items of a tuple of constants, or the constant; (None,): it is not known."""
    made = value.made_by(get_op("prim::TupleConstruct"))
    if made is not None:
        items = [v.constant for v in made.inputs if v.is_constant]
        return tuple(items) if len(items) == len(made.inputs) else (None,)
    known = value.constant if value.is_constant else None
    return known if isinstance(known, tuple) else (known,)


def call_function(e: Emitter, function: object, args: Sequence[Native]) -> Native:
    """Do what the function does in line, or call it, or what does the same in C; a bool may stay unboxed."""
    made = done_in_line(e, function, args, lambda: _call_function(e, function, args))
    return _call_function(e, function, args) if made is None else made


def _call_function(e: Emitter, function: object, args: Sequence[Native]) -> Native:
    known = c_function_for(function, [x.type for x in args])
    if known is not None:
        return call_c_function(e, known, args)
    if is_unpacking(function):
        callee = object_const(e, without_frames(function)).ref
        return owned_result(e, tuple_of_items(e, args[0], function, callee))
    function, values, names = _without_partial(function)
    args = [*args, *(object_const(e, value) for value in values)]
    symbol = _symbol_for(e, args)
    if isinstance(function, MethodDescriptorType) and not names and symbol == _PLAIN_CALL:
        if class_of(args[0].type) is function.__objclass__:
            made = call_c_method(e, function, args[0], args[1:])
            if made is not None:
                return made
    callee = object_const(e, without_frames(function)).ref
    return _vectorcall(e, symbol, (callee,), args, names)


_PLAIN_CALL = "PyObject_Vectorcall"


def _without_partial(function: object) -> tuple[object, tuple[object, ...], tuple[str, ...]]:
    """The function behind a partial one, its keyword arguments and their names.

    CPython makes a dict and a tuple for each call of a partial object. (Functions of ours are called by one that
    takes no keywords.)
    """
    if not isinstance(function, partial) or function.args or _is_ours(function.func):
        return function, (), ()
    return function.func, tuple(function.keywords.values()), tuple(function.keywords)


def _symbol_for(e: Emitter, args: Sequence[Native]) -> str:
    """How to call: a function of NumPy's, or of an op on arrays, gets memory that is kept for it."""
    node, symbol = e.bailout.node, None
    if node is not None and any(isinstance(x.type, _MAY_BE_LARGE) for x in args):
        types = [x.type for x in args] + [out.type for out in node.outputs]
        is_op = not node.effects & Effect.CALL and any(isinstance(t, ArrayType) for t in types)
        if is_op or _is_numpys(node.inputs[0]):
            symbol = call_on_blocks()
    return symbol or _PLAIN_CALL


_MAY_BE_LARGE = (ArrayType, TupleType, ListType)


def _is_numpys(callee: Value) -> bool:
    module = getattr(callee.constant, "__module__", None) if callee.is_constant else None
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


def _behind_ours(entry: TracebackType | None) -> TracebackType | None:
    """The part of a traceback behind the functions of ops and the one that calls them."""
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith((_OPS, __file__)):
        entry = entry.tb_next
    return entry


def _is_ours(function: object) -> bool:
    return isinstance(function, FunctionType) and function.__code__.co_filename.startswith(_OPS)


def without_frames(function: object) -> object:
    """The function; one of ours, which Python runs, without its frames in tracebacks.

    A bare ``raise`` adds no frame for the function that it stands in.
    """
    if not _is_ours(function.func if isinstance(function, partial) else function):
        return function
    run: Callable[..., Any] = function  # type: ignore[assignment]

    def call(*args: object) -> object:
        try:
            return run(*args)
        except BaseException as error:
            if not settings().full_traceback:
                error.__traceback__ = _behind_ours(error.__traceback__)
            raise

    return call


def call_result(e: Emitter, result: Native, type_: Type) -> Native:
    """Unbox what a call gave. A result of another type leaves for the interpreter, which calls again;
    if that must not be, it is an error: the op's `infer` is wrong then.
    """
    node = e.bailout.node
    if node is None or node.op.effects_of(node).is_repeatable:
        return unbox_or_bail(e, result, type_, "a Python call gave another type")
    if type_ == result.type or not e.f.is_reachable:
        return Native(type_, result.parts) if type_.is_boxed else undef_of(type_)
    fault = e.bailout.fault_block(f"{node.op.name} gave no {type_}")
    if type_ == NEVER:
        e.f.br(fault)
        return undef_of(type_)
    return unbox(e.f, result.ref, type_, fault, by_call=True)


# -- identity --------------------------------------------------------------------------------------


def same_object(e: Emitter, x: Native, y: Native) -> Native:
    f = e.f
    if x.type.is_boxed and y.type.is_boxed:
        return Native(BOOL, (f.icmp("eq", x.ref, y.ref),))
    if x.type.is_boxed:
        x, y = y, x
    if y.type.is_boxed and (x.type == NONE or x.type == BOOL):
        pointer, _ = borrow_object(e, x)
        return Native(BOOL, (f.icmp("eq", pointer, y.ref),))
    if y.type.is_boxed and isinstance(x.type, ArrayType):
        return Native(BOOL, (_is_object(e, x, y.ref),))
    if x.type == BOOL and y.type == BOOL:
        return Native(BOOL, (f.icmp("eq", x.ref, y.ref),))
    if not components(x.type) and not components(y.type):
        return Native(BOOL, (TRUE if x.type == y.type else FALSE,))
    if isinstance(x.type, ArrayType) and isinstance(y.type, ArrayType):
        return _same_array(e, x, y)
    if [p.text for p in x.parts] == [p.text for p in y.parts] and x.type == y.type:
        return Native(BOOL, (TRUE,))
    if not y.type.is_boxed and x.type != y.type:
        return Native(BOOL, (FALSE,))
    e.bailout.bail_if(TRUE, "identity of unboxed values")
    return Native(BOOL, (FALSE,))


def _is_object(e: Emitter, x: Native, wanted: Ref) -> Ref:
    """Whether an array is an object; one that is no object yet may become it, unless its slot says that it is none."""
    pointer = array_parts(known_object(e.f, x)).object
    if 0 not in x.memos:
        e.bailout.bail_if(e.f.icmp("eq", pointer, NULL), "identity of unboxed values")
    return e.f.icmp("eq", pointer, wanted)


def _same_array(e: Emitter, x: Native, y: Native) -> Native:
    """Arrays differ if their elements lie elsewhere; one that is no object yet may become the other.

    Of two views with slots of their own for their objects that is clear. One slot does not tell: two equal views
    that were made one after the other are computed once.
    """
    f = e.f
    slots = [value.memos.get(0) for value in (x, y)]
    first, second = array_parts(known_object(f, x)), array_parts(known_object(f, y))
    same_data = f.icmp("eq", first.data, second.data)
    lacks = [f.icmp("eq", parts.object, NULL) for parts in (first, second)]
    for lack, slot in zip(lacks, slots, strict=True):
        if slot is None or slots[0] is slots[1]:
            e.bailout.bail_if(f.binary("and", same_data, lack), "identity of unboxed values")
    same_object = f.icmp("eq", first.object, second.object)
    same = f.binary("and", same_object, f.bool_not(lacks[0]))
    return Native(BOOL, (f.binary("and", same, same_data),))
