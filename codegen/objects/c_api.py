"""What CPython's own C functions do at once, without a call of a Python object.

`C_FUNCTIONS` names, for callables that ops have as `evaluate`, the function of the C API that does the same with
objects. A method of a built-in class is called by the address of its C function, if the arguments fit how it takes
them; else through the method object.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import MethodDescriptorType
from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import borrow_object
from ljit.codegen.functions.support import support
from ljit.codegen.layouts.instances import reads_as_object
from ljit.codegen.layouts.layout import (
    METHOD_FASTCALL,
    METHOD_KEYWORDS,
    METHOD_NOARGS,
    METHOD_O,
    OB_TYPE,
    method_function,
)
from ljit.codegen.llvm.builder import NULL, Ref, address, integer
from ljit.codegen.llvm.forms import Native
from ljit.cpython.classes import is_open
from ljit.ir import Effect
from ljit.ops.containers.containers import extend_list, make_dict, make_set, update_dict
from ljit.ops.containers.iteration_views import new_cell, next_of
from ljit.ops.containers.membership import is_in, is_not_in
from ljit.ops.names import set_cell
from ljit.ops.objects import call_with
from ljit.ops.python.numbers import to_int
from ljit.ops.python.types import class_of
from ljit.records import Record
from ljit.source import depth_of
from ljit.types import ANY, BOOL, INT, NONE, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "C_FUNCTIONS",
    "DISPLAYS",
    "CFunction",
    "c_function_for",
    "call_c_function",
    "call_c_method",
    "inlined_frames",
    "method_of",
    "takes_names",
]


_RESULTS = {"object": "ptr", "size": "i64"}


class CFunction(Record):
    """A function of the C API on objects. Any result says by null or a negative number that it failed."""

    name: str
    gives: str = "object"  # a new reference; "truth": 0 or 1; "size": a number; "status": nothing
    is_swapped: bool = False  # takes the two operands in the other order
    is_negated: bool = False  # the truth is the opposite of what it gives
    extra: int | None = None  # a last argument, an int
    fits: Callable[..., bool] | None = None  # whether it does the same for operands of these types

    def call(self, e: Emitter, pointers: Sequence[Ref]) -> Ref:
        """Call it; the result is not checked yet."""
        args = list(reversed(pointers)) if self.is_swapped else list(pointers)
        if self.extra is not None:
            args.append(integer("i32", self.extra))
        return e.f.call_external(_RESULTS.get(self.gives, "i32"), self.name, args)


_ARITHMETIC = {
    "Add": (operator.add, operator.iadd),
    "Subtract": (operator.sub, operator.isub),
    "Multiply": (operator.mul, operator.imul),
    "TrueDivide": (operator.truediv, operator.itruediv),
    "FloorDivide": (operator.floordiv, operator.ifloordiv),
    "Remainder": (operator.mod, operator.imod),
    "Lshift": (operator.lshift, operator.ilshift),
    "Rshift": (operator.rshift, operator.irshift),
    "And": (operator.and_, operator.iand),
    "Or": (operator.or_, operator.ior),
    "Xor": (operator.xor, operator.ixor),
    "MatrixMultiply": (operator.matmul, operator.imatmul),
}
_UNARY = {"Negative": operator.neg, "Positive": operator.pos, "Invert": operator.invert}
_COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)

C_FUNCTIONS: dict[object, CFunction] = {
    operator.getitem: CFunction("PyObject_GetItem"),
    operator.setitem: CFunction("PyObject_SetItem", "status"),
    operator.delitem: CFunction("PyObject_DelItem", "status"),
    set_cell: CFunction("PyCell_Set", "status"),
    operator.truth: CFunction("PyObject_IsTrue", "truth"),
    operator.not_: CFunction("PyObject_Not", "truth"),
    is_in: CFunction("PySequence_Contains", "truth", is_swapped=True),
    is_not_in: CFunction("PySequence_Contains", "truth", is_swapped=True, is_negated=True),
    len: CFunction("PyObject_Size", "size"),
    isinstance: CFunction("PyObject_IsInstance", "truth"),
    format: CFunction("PyObject_Format"),
    str: CFunction("PyObject_Str"),
    repr: CFunction("PyObject_Repr"),
    to_int: CFunction("PyNumber_Long", fits=lambda *operands: len(operands) == 1),
    float: CFunction("PyNumber_Float", fits=lambda *operands: len(operands) == 1),
    set.add: CFunction("PySet_Add", "status"),
    iter: CFunction("PyObject_GetIter", fits=lambda *operands: len(operands) == 1),
    new_cell: CFunction("PyObject_GetIter"),
    next_of: CFunction("PyIter_Next"),
    list: CFunction("PySequence_List", fits=lambda *operands: len(operands) == 1),
    tuple: CFunction("PySequence_Tuple", fits=lambda *operands: len(operands) == 1),
    extend_list: CFunction(
        "_PyList_Extend", fits=lambda _, values: class_of(values) in (list, tuple)
    ),
    update_dict: CFunction(
        "PyDict_Update", "status", fits=lambda _, values: class_of(values) is dict
    ),
    **{plain: CFunction(f"PyNumber_{name}") for name, (plain, _) in _ARITHMETIC.items()},
    **{
        in_place: CFunction(f"PyNumber_InPlace{name}")
        for name, (_, in_place) in _ARITHMETIC.items()
    },
    **{function: CFunction(f"PyNumber_{name}") for name, function in _UNARY.items()},
    **{
        function: CFunction("PyObject_RichCompare", extra=number)
        for number, function in enumerate(_COMPARISONS)
    },
}


class Display(Record):
    """The functions that make an empty container and put things into it, so many at a time."""

    new: str
    new_args: tuple[Ref, ...]
    put: str
    count: int

    def make(self, e: Emitter, args: Sequence[Native]) -> Native:
        """Make one with boxed arguments in it."""
        made = e.owned_result(e.f.call_external("ptr", self.new, self.new_args))
        for start in range(0, len(args), self.count):
            boxes = [borrow_object(e, arg) for arg in args[start : start + self.count]]
            pointers = [made.ref, *(pointer for pointer, _ in boxes)]
            status = e.f.call_external("i32", self.put, pointers)
            _release(e, boxes)
            e.bailout.error_if(e.f.icmp("slt", status, 0))
        return made


DISPLAYS: dict[object, Display] = {
    make_set: Display("PySet_New", (NULL,), "PySet_Add", 1),
    make_dict: Display("PyDict_New", (), "PyDict_SetItem", 2),
}


class SpreadCall(Record):
    """``f(*args, **kwargs)`` with a list or tuple and a dict, or None."""

    def make(self, e: Emitter, operands: Sequence[Native]) -> Native:
        """Call with boxed operands."""
        f, args, kwargs = operands
        if class_of(args.type) is list:
            args = e.owned_result(e.f.call_external("ptr", "PyList_AsTuple", (args.ref,)))
        given = (f, args) if kwargs.type == NONE else (f, args, kwargs)
        boxes = [borrow_object(e, operand) for operand in given]
        pointers = [*(pointer for pointer, _ in boxes), NULL]
        with inlined_frames(e):
            result = e.f.call_external("ptr", "PyObject_Call", pointers[:3])
        _release(e, boxes)
        return e.owned_result(result)


def call_with_tuple(
    e: Emitter, with_objects: Callable[[], Native], f: Native, args: Native, kwargs: Native
) -> Native | None:
    """``f(*args)`` of an object that may be a tuple: it is given as it is."""
    if args.type != ANY or kwargs.type != NONE:
        return None
    class_ = e.f.load("ptr", e.f.gep("i8", args.ref, OB_TYPE))
    is_tuple = Native(BOOL, (e.f.icmp("eq", class_, e.context.keep(tuple)),))
    return e.branch(is_tuple, lambda: SpreadCall().make(e, (f, args, kwargs)), with_objects)


def c_function_for(
    function: object, types: Sequence[Type]
) -> CFunction | Display | SpreadCall | None:
    """Give what does the same as a callable with operands of these types."""
    if function is call_with:
        fits = class_of(types[1]) in (list, tuple) and (
            types[2] == NONE or class_of(types[2]) is dict
        )
        return SpreadCall() if fits else None
    known = C_FUNCTIONS.get(function)
    if known is not None and known.fits is not None and not known.fits(*types):
        return None
    return known or DISPLAYS.get(function)


@contextmanager
def inlined_frames(e: Emitter) -> Iterator[None]:
    """Let CPython count a frame for each function that a call was inlined into, while it runs unknown code."""
    node = e.bailout.node
    depth = depth_of(node.range) if node is not None and node.effects & Effect.CALL else 0
    if depth:
        e.f.call("void", support("count_frames"), (integer("i32", -depth),))
    yield
    if depth:
        e.f.call("void", support("count_frames"), (integer("i32", depth),))


def call_c_function(
    e: Emitter, function: CFunction | Display | SpreadCall, args: Sequence[Native]
) -> Native:
    """Call with boxed arguments: an owned object, a bool, an int, or Python's None if it gives nothing."""
    if not isinstance(function, CFunction):
        return function.make(e, args)
    boxes = [borrow_object(e, arg) for arg in args]
    with inlined_frames(e):
        result = function.call(e, [pointer for pointer, _ in boxes])
    _release(e, boxes)
    if function.gives == "object":
        return e.owned_result(result)
    e.bailout.error_if(e.f.icmp("slt", result, 0))
    if function.gives == "size":
        return Native(INT, (result,))
    if function.gives == "status":
        return Native(NONE, ())
    predicate = "eq" if function.is_negated else "ne"
    return Native(BOOL, (e.f.icmp(predicate, result, 0),))


def _release(e: Emitter, boxes: Sequence[tuple[Ref, Ref | None]]) -> None:
    for _, slot in boxes:
        if slot is not None:
            e.ownership.release_slot(slot)


def method_of(type_: Type, name: str) -> MethodDescriptorType | None:
    """Give the method that objects of the type have under the name, if nobody can change that."""
    cls = class_of(type_)
    if cls is None or is_open(cls) or not reads_as_object(cls):
        return None
    found = getattr(cls, name, None)
    return found if isinstance(found, MethodDescriptorType) else None


def takes_names(method: MethodDescriptorType) -> bool:
    """Whether arguments of a method can be given by their names."""
    return bool(method_function(method)[1] & METHOD_KEYWORDS)


def call_c_method(
    e: Emitter, method: MethodDescriptorType, x: Native, args: Sequence[Native]
) -> Native | None:
    """Call a method's C function; None: it takes its arguments in another way."""
    function, flags = method_function(method)
    count = len(args)
    fits = {METHOD_NOARGS: count == 0, METHOD_O: count == 1}
    is_fast = flags & ~METHOD_KEYWORDS == METHOD_FASTCALL
    if not fits.get(flags, is_fast):
        return None
    boxes = [borrow_object(e, arg) for arg in (x, *args)]
    receiver, *pointers = [pointer for pointer, _ in boxes]
    operands = [receiver]
    if is_fast:
        operands += [_array(e, pointers), integer("i64", count)]
        operands += [NULL] if flags & METHOD_KEYWORDS else []
    else:
        operands += pointers or [NULL]
    result = e.f.call("ptr", address(function).text, operands)
    _release(e, boxes)
    return e.owned_result(result)


def _array(e: Emitter, pointers: Sequence[Ref]) -> Ref:
    if not pointers:
        return NULL
    array = e.stack_array("ptr", len(pointers))
    for index, pointer in enumerate(pointers):
        e.f.store(pointer, e.f.gep("ptr", array, index))
    return array
