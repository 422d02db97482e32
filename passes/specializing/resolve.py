"""Find the op that a dynamic operation stands for, once operand types and constants are known.

The baseline graph calls everything as Python does: ``py::call(<numpy.sqrt>, %x)``, ``py::getattr[name='shape'](%a)``,
``py::add(%array, %x)``. `resolve` turns such a request into the op that declares to implement it, through the tables
that the declarations make up (`OpDef.callables`, `methods`, `attributes`, `numpy`). It knows no op but the
generic ones.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from ljit.characters import as_text
from ljit.ir import REGISTRY, OpDef, Value, get_op
from ljit.ir.registry import STANDS_FOR
from ljit.module_types import KnownModule
from ljit.ops.control import CONSTANT
from ljit.ops.members import METHOD
from ljit.ops.python.types import bound_function, class_of, fixed_method, is_c_method, numpy_decides
from ljit.passes.specializing.library import library_method, library_op, looks_up_as_known
from ljit.passes.specializing.requests import Constants, Request, bind
from ljit.passes.specializing.union_operands import plain_type
from ljit.record_types import RecordType, UnalignedType, has_records
from ljit.types import (
    ANY,
    UINT,
    ArrayType,
    ListType,
    ObjectType,
    RangeType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    is_number,
)
from ljit.value_types import type_of

__all__ = ["callable_op", "is_fixed", "method_op", "resolve", "stored_attribute", "stored_field"]


_FIXED = (  # names of dtypes can be set
    (np.dtype, frozenset("char itemsize kind num type".split())),
    (np.finfo, frozenset("bits dtype eps epsneg max min resolution smallest_normal tiny".split())),
    (np.iinfo, frozenset("bits dtype max min".split())),
)


def resolve(request: Request, constants: Constants) -> Request:
    """Apply the tables until nothing changes."""
    while True:
        rule = _rules().get(request.op)
        better = rule(request, constants) if rule is not None else None
        if better is None:
            better = _numpy_form(request, constants)
        if better is None:
            return request
        request = better


@cache
def _rules() -> dict[OpDef, Callable[[Request, Constants], Request | None]]:
    return {
        get_op("py::call"): _call,
        get_op("prim::iter_call"): _iter_call,
        get_op("py::call_method"): _call_method,
        get_op("py::getattr"): _getattr,
        get_op("prim::import_from"): _attribute_of_module,
        get_op("py::getitem"): _getitem,
        get_op("py::setitem"): _setitem,
    }


@cache
def _tables() -> Mapping[str, Mapping[object, list[str]]]:
    """By fields of declarations: the names of ops by the addresses of objects, or names of members, that are there."""
    tables: dict[str, dict[object, list[str]]] = {field: {} for field in STANDS_FOR}
    for field, value, op in REGISTRY.facts():
        key = value if isinstance(value, str) else id(value)
        tables[field].setdefault(key, []).append(op)
    return tables


def _ops_of(field: str, key: object) -> Iterator[OpDef]:
    """The ops that stand for something, each loaded only when those before it do not suit."""
    return map(get_op, _tables()[field].get(key, ()))


def callable_op(function: object, field: str) -> OpDef | None:
    """The op of a function, or of that in the head of a ``for`` ("iter_callables"), if there is one."""
    return next(_ops_of(field, id(function)), None)


def method_op(receiver: Type, name: str) -> OpDef | None:
    """The op of a method."""
    return next(_ops_of("methods", _member(receiver, name)), None)


def _member(receiver: Type, name: str) -> str:
    return f"{member_class(receiver)}.{name}"


def _call(request: Request, constants: Constants) -> Request | None:
    callee, *args = request.inputs
    kwnames = request.attrs.get("kwnames", ())
    if callee.is_constant:
        function = callee.constant
        bound = bound_function(function)
        if bound is not None and isinstance(type_of(bound[1]), ObjectType):
            function, receiver = bound
            args = [constants.constant(receiver), *args]
    elif (method := callee.made_by(METHOD)) is not None:
        (owner,) = method.inputs
        function = getattr(class_of(owner.type), str(method.attrs["name"]))
        args = [owner, *args]
    else:
        return _call_of_method(request)
    is_op = id(function) in _tables()["callables"]
    ops = _ops_of("callables", id(function)) if is_op else _methods(function, args, constants)
    for op in ops:
        found = bind(op, args, kwnames, constants)  # type: ignore[arg-type]
        if found is not None and not is_known(found):
            found = (
                _numpy_form(found, constants)
                or _form_of_items(found, constants)
                or _form_of_arrays(found, constants)
                or _form_of_constants(found)
                or _form_of_lists(found)
                or _form_of_numbers(found)
            )
        if found is not None:
            return found
    return None


def _form_of_items(request: Request, constants: Constants) -> Request | None:
    """The op with tuples for lists that are made for it, if native code knows it then."""
    op = request.op
    if not op.reads_items or not any(isinstance(v.type, ListType) for v in request.inputs):
        return None
    inputs = tuple(constants.items_of(value) or value for value in request.inputs)
    found = Request(op, inputs, request.attrs)
    types_ = [value.type for value in inputs]
    can_lower = op.lower is None or op.has_lowering(types_, request.attrs)
    return found if (can_lower or op.symbolic) and is_known(found) else None


def _form_of_lists(request: Request) -> Request | None:
    """The op as it is, of a list that only native code may turn out to see (`passes/unbox_lists.py`)."""
    use = request.op.list_use
    if use is None or not request.op.reads_items:
        return None
    return request if isinstance(request.inputs[use.operand].type, ListType) else None


def _form_of_numbers(request: Request) -> Request | None:
    """The op as it is, if it takes numbers of either class, Python's or NumPy's, as one type.

    See `OpDef.number_type` and `OpDef.ignores_class`.
    """
    types_ = [value.type for value in request.inputs]
    if not any(map(_is_union, types_)):
        return None
    if plain_type(request.op, request.inputs) is not None:
        return request
    find = request.op.number_type
    number = find(*types_) if find is not None else None
    if number is None:
        return None
    taken = [number if _is_union(t) else t for t in types_]
    return request if ANY not in request.op.infer_types(taken, request.attrs) else None


def _is_union(t: Type) -> bool:
    return isinstance(t, UnionType)


def _form_of_constants(request: Request) -> Request | None:
    """The op with ints of more than 64 bits, ``np.uint64(0x9E3779B97F4A7C15)``, if it can be folded."""
    has_long = any(_long_int(v) is not None for v in request.inputs)
    is_folded = has_long and all(v.is_constant for v in request.inputs)
    return request if is_folded and request.op.evaluate is not None else None


def _long_int(value: Value) -> int | None:
    """Give the constant, if it is an int that no native int holds."""
    constant = value.constant if value.is_constant else None
    return constant if type(constant) is int and value.type in (UINT, ANY) else None


def _methods(function: object, args: Sequence[Value], constants: Constants) -> Iterable[OpDef]:
    """The ops of a method that is called as a function of its receiver, if it is known what that does."""
    if not args:
        return []
    op = library_op(function, args[0])
    if op is not None:
        return [op] if looks_up_as_known(op, args[0], constants) else []
    if not is_c_method(function):
        return []
    name = str(function.__name__)  # type: ignore[attr-defined]
    if fixed_method(args[0].type, name) is not function:
        return []
    return _ops_of("methods", _member(args[0].type, name))


def _call_of_method(request: Request) -> Request | None:
    """``x.f(y)`` whose method was looked up before `y` ran: a method call if `x.f` cannot have changed."""
    callee, *args = request.inputs
    lookup = callee.made_by(get_op("py::getattr"))
    if lookup is None:
        return None
    (receiver,), name = lookup.inputs, str(lookup.attrs["name"])
    is_op = _member(receiver.type, name) in _tables()["methods"]
    if not is_op and not isinstance(fixed_method(receiver.type, name), types.MethodDescriptorType):
        return None
    attrs = {**_only_kwnames(request), "name": name}
    return Request(get_op("py::call_method"), (receiver, *args), attrs)


def _iter_call(request: Request, constants: Constants) -> Request | None:
    """``prim::iter_call`` of a known view maker; of anything else the specialiser expands it."""
    callee, *args = request.inputs
    if not callee.is_constant:
        return None
    for op in _ops_of("iter_callables", id(callee.constant)):
        found = bind(op, args, (), constants)
        if found is not None and is_known(found):
            return found
    return None


def _call_method(request: Request, constants: Constants) -> Request | None:
    receiver, *args = request.inputs
    name = request.attrs["name"]
    assert isinstance(name, str)
    module = _module_of(receiver)
    if module is not None:
        function = constants.module_attribute(module, name)
        if function is None:
            return None
        return Request(get_op("py::call"), (function, *args), _only_kwnames(request))
    if is_fixed(receiver, name):
        function = constants.constant(getattr(receiver.constant, name))
        return Request(get_op("py::call"), (function, *args), _only_kwnames(request))
    kwnames = request.attrs.get("kwnames", ())
    for op in _ops_of_method(receiver, name, constants):
        found = bind(op, request.inputs, kwnames, constants)  # type: ignore[arg-type]
        if found is not None and not is_known(found):
            found = _form_of_arrays(found, constants)
        if found is not None:
            return found
    return None


def _ops_of_method(receiver: Value, name: str, constants: Constants) -> Iterable[OpDef]:
    member = _member(receiver.type, name)
    if member in _tables()["methods"]:
        return _ops_of("methods", member)
    op = library_op(library_method(receiver, name, constants), receiver)
    return [op] if op is not None and looks_up_as_known(op, receiver, constants) else []


def _only_kwnames(request: Request) -> dict[str, object]:
    return {k: v for k, v in request.attrs.items() if k == "kwnames"}


def _getattr(request: Request, constants: Constants) -> Request | None:
    (receiver,) = request.inputs
    if _module_of(receiver) is not None:
        return _attribute_of_module(request, constants)
    name = str(request.attrs["name"])
    if is_fixed(receiver, name):
        return Request(CONSTANT, (), {"value": getattr(receiver.constant, name)})
    op = next(_ops_of("attributes", _member(receiver.type, name)), None)
    if op is None:
        is_hidden = constants.is_widened()  # an object had an attribute of its own
        if is_hidden or library_method(receiver, name, constants) is None:
            return None
        return Request(METHOD, (receiver,), {"name": name})
    member = Request(op, (receiver,), {})
    return member if is_known(member) else None


def stored_attribute(receiver: Value, name: str, value: Value) -> OpDef | None:
    """The op that gives the view to whose elements ``receiver.name = value`` stores."""
    op = next(_ops_of("attributes", _member(receiver.type, name)), None)
    accepts = op.stores_by_attribute if op is not None else None
    return op if accepts is not None and accepts(receiver.type, value.type) else None


def is_fixed(receiver: Value, name: str) -> bool:
    """Whether it is an attribute of a constant that is the same for ever, as ``x.dtype.type``."""
    if not receiver.is_constant:
        return False
    return any(isinstance(receiver.constant, cls) and name in names for cls, names in _FIXED)


def _module_of(x: Value) -> types.ModuleType | None:
    """The module that a value is known to be."""
    if isinstance(x.type, KnownModule):
        return x.type.module
    return x.constant if x.is_constant and isinstance(x.constant, types.ModuleType) else None


def _attribute_of_module(request: Request, constants: Constants) -> Request | None:
    module = _module_of(request.inputs[0])
    if module is None:
        return None
    found = constants.module_attribute(module, str(request.attrs["name"]))
    return None if found is None else Request(CONSTANT, (), {"value": found.constant})


def _getitem(request: Request, constants: Constants) -> Request | None:
    """An item of a tuple of known types at a constant index, or of an object that declarations name."""
    container, index = request.inputs
    ops = _ops_of("subscripted", id(container.constant)) if container.is_constant else ()
    for op in ops:
        found = Request(op, (index,), {})
        return found if is_known(found) else None
    if has_records(container.type) and isinstance(container.type, ArrayType):
        return _part_of_records(request)
    if isinstance(container.type, ArrayType):
        places = constants.places_of(index)
        return Request(request.op, (container, places), {}) if places is not None else None
    if not (isinstance(container.type, TupleType) and index.is_constant):
        return None
    position, length = index.constant, len(container.type.items)
    if type(position) is not int or not -length <= position < length:
        return None
    return Request(get_op("prim::TupleIndex"), (container,), {"index": position % length})


def _part_of_records(request: Request) -> Request | None:
    """A record of a structured array, some of these, or the field of either; an element of such a view."""
    x, index = request.inputs
    if index.is_constant and type(index.constant) is str:
        found = Request(get_op("np::field"), (x,), {"name": index.constant})
    else:
        op = "np::unaligned" if isinstance(x.type, UnalignedType) else "np::records"
        found = Request(get_op(op), (x, index), {})
    return found if is_known(found) else None


def stored_field(request: Request) -> Request | None:
    """The view of a structured array's field, if it is one to whose elements a value is stored."""
    x, index, value = request.inputs
    if not index.is_constant or type(index.constant) is not str or not has_records(x.type):
        return None
    view = Request(get_op("np::field"), (x,), {"name": index.constant})
    (type_,) = view.op.infer_types([x.type], view.attrs)
    is_stored = get_op("np::assign").has_lowering([type_, value.type])
    return view if isinstance(type_, ArrayType) and is_stored else None


def _stored_to_records(request: Request) -> Request | None:
    """A number that becomes the field of a record or an element of such a view, or a tuple that becomes a record."""
    x, part, values = request.inputs
    if isinstance(x.type, RecordType):
        if not part.is_constant:
            return None
        found = Request(get_op("np::store_field"), (x, values), {"name": part.constant})
    else:
        op = "np::store_unaligned" if isinstance(x.type, UnalignedType) else "np::store_record"
        found = Request(get_op(op), request.inputs, {})
    return found if is_known(found) else None


def _setitem(request: Request, constants: Constants) -> Request | None:
    """A list that is stored into a slice of a list, or into an array: there a tuple does as well. Or one of places."""
    x, part, values = request.inputs
    if isinstance(x.type, ArrayType) and has_records(x.type):
        return _stored_to_records(request)
    places = constants.places_of(part) if isinstance(x.type, ArrayType) else None
    if places is not None:
        return Request(request.op, (x, places, values), {})
    if not isinstance(values.type, ListType):
        return None
    if isinstance(x.type, ListType) and isinstance(part.type, SliceType):
        return Request(get_op("py::list_assign"), request.inputs, {})
    items = constants.items_of(values) if isinstance(x.type, ArrayType) else None
    if items is None or not get_op("np::setitem").has_lowering([x.type, part.type, items.type]):
        return None
    return Request(get_op("np::setitem"), (x, part, items), {})


def _numpy_form(request: Request, constants: Constants) -> Request | None:
    """The op that an operator is for NumPy operands."""
    name = request.op.numpy
    if name is None or not numpy_decides([value.type for value in request.inputs]):
        return None
    op = get_op(name)
    inputs = _as_uint64(request.inputs, constants) if op.elementwise else request.inputs
    found = Request(op, inputs, request.attrs)
    return found if is_known(found) else _form_of_arrays(found, constants)


def _form_of_arrays(request: Request, constants: Constants) -> Request | None:
    """The op with arrays for lists of numbers, if it makes these of them beside an array."""
    op, types_ = request.op, [v.type for v in request.inputs]
    has_array = any(isinstance(t, ArrayType) and t.ndim for t in types_)
    if not has_array or not (op.elementwise or op.takes_lists) or ListType not in map(type, types_):
        return None
    inputs = [v if v.uses else constants.array_of(v, _is_plain_number) or v for v in request.inputs]
    found = Request(op, tuple(inputs), request.attrs)
    return found if is_known(found) else None


def _is_plain_number(value: Value) -> bool:
    return is_number(value.type) or isinstance(value.type, ScalarType)


def _as_uint64(inputs: tuple[Value, ...], constants: Constants) -> tuple[Value, ...]:
    """Operands of an operator, with long ints beside np.uint64 as what NumPy takes them for."""
    long = {v: found for v in inputs if (found := _long_int(v)) is not None}
    if not long or not all(v in long or _is_uint64(v.type) for v in inputs):
        return inputs
    if not all(0 <= found < 2**64 for found in long.values()):
        return inputs
    return tuple(constants.constant(np.uint64(long[v])) if v in long else v for v in inputs)


def _is_uint64(t: Type) -> bool:
    return isinstance(t, ArrayType | ScalarType) and t.dtype == np.uint64


def is_known(request: Request) -> bool:
    """Whether the op's result type is known for the operand types."""
    types_ = [v.type for v in request.inputs]
    if request.op.gives_objects:
        return request.op.has_lowering(types_, request.attrs)
    return ANY not in request.op.infer_types(types_, request.attrs)


def member_class(t: Type) -> str:
    """The class name under which methods and attributes of a type are declared."""
    if t == UINT:
        return "int"
    if isinstance(t, ArrayType):
        return "ndarray"
    if isinstance(t, ScalarType):
        return "generic"
    if isinstance(t, ListType):
        return "list"
    if isinstance(t, TupleType):
        return "tuple"
    if isinstance(t, RangeType):
        return "range"
    if isinstance(t, ObjectType):
        return t.cls.__name__
    return str(as_text(t))
