"""Run one op in three ways: as Python, through its lowering on scalars, and as machine code."""

import copy
import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

import ljit.ops  # noqa: F401  # fills the registry
from ljit.characters import EMPTY, as_text
from ljit.codegen import CompileOptions, compile_unit
from ljit.interp.special import has_type
from ljit.ir import Graph
from ljit.ops.containers.iteration_views import VIEW_CLASSES, Cursor
from ljit.ops.control import CONSTANT, RETURN, SNAPSHOT
from ljit.packed_types import packed_item_type
from ljit.runtime.vectorcall import make_function_type, set_vectorcall
from ljit.testing.scalar_emitter import Bailed, Number, ScalarEmitter, to_number, to_object
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    INT,
    NEVER,
    NONE,
    RANGE,
    UINT,
    ListType,
    SliceType,
    TupleType,
    UnionType,
    ViewType,
)
from ljit.value_types import type_of


@dataclass(frozen=True)
class Outcome:
    """What a call came to: a result and what it left in its operands, or an exception."""

    result: object = None
    operands: tuple = ()
    error: Exception | None = None

    @property
    def text(self):
        if self.error is not None:
            return f"{type(self.error).__name__}: {self.error}"
        return describe((self.result, self.operands))


def describe(value):
    """A text that is equal for values of equal types and bits; all NaNs are equal."""
    match value:
        case Cursor():
            return "Cursor"
        case np.ndarray():
            items = ",".join(describe(x) for x in value.ravel())
            return f"array[{value.dtype}, {value.shape}]({items})"
        case complex():
            return f"{type(value).__name__}({describe(value.real)}, {describe(value.imag)})"
        case float() | np.floating():
            return f"{type(value).__name__}({float(value)!r})"
        case tuple() | list() | enumerate() | zip() | product() | np.ndindex() | np.ndenumerate():
            return f"{type(value).__name__}({', '.join(map(describe, value))})"
    return f"{type(value).__name__}({value!r})"


def attempt(function, operands, attrs=None):
    """Call with copies of the operands."""
    operands = copy.deepcopy(operands)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(*operands, **(attrs or {}))
    except Exception as error:  # noqa: BLE001  # compared by the caller
        return Outcome(error=error)
    return Outcome(result, operands)


def fits(value, t):
    """Whether a value belongs to an inferred type; an int too large for INT does: that bails out."""
    match t:
        case TupleType(items):
            return (
                type(value) is tuple and len(value) == len(items) and all(map(fits, value, items))
            )
        case UnionType(members):
            return any(fits(value, m) for m in members)
        case ListType(item):
            return type(value) is list and all(fits(x, item) for x in value)
        case ViewType(kind, parts):
            return type(value) is VIEW_CLASSES[kind] and all(map(fits, value, parts))
    return t == ANY or (t == INT and type(value) is int) or has_type(value, t)


# -- the lowering on scalars -----------------------------------------------------------------------


class PythonEmitter(ScalarEmitter):
    """The scalar emitter with lists, ranges, views, unions and None."""

    def const(self, type_, value):
        return Number(NONE, None) if type_ == NONE else super().const(type_, value)

    def retype(self, x, type_):
        return Number(type_, x.value) if isinstance(type_, ListType) else super().retype(x, type_)

    def select(self, condition, x, y):
        return super().select(condition, x, y)

    def widen(self, x, type_):
        if type_ == x.type:
            return x
        if type_ in (ANY, as_text(x.type)):
            return Number(type_, plain(x))
        assert isinstance(type_, UnionType)
        members = x.type.members if isinstance(x.type, UnionType) else (x.type,)
        assert set(members) <= set(type_.members)
        return Number(type_, x)

    def range_make(self, start, stop, step):
        return Number(RANGE, (start, stop, step))

    def range_parts(self, x):
        if isinstance(x.value, range):
            return tuple(to_number(v, INT) for v in (x.value.start, x.value.stop, x.value.step))
        return x.value

    def slice_make(self, *parts):
        return Number(SliceType(*(p.type for p in parts)), slice(*map(plain, parts)))

    def view_make(self, type_, parts):
        assert isinstance(type_, ViewType)
        assert type_.parts == tuple(p.type for p in parts)
        return Number(type_, VIEW_CLASSES[type_.kind](map(plain, parts)))

    def view_parts(self, x):
        return [wrap(v, t) for v, t in zip(x.value, x.type.parts, strict=True)]

    def list_size(self, x):
        return to_number(len(x.value), INT)

    def list_load(self, x, index):
        assert 0 <= index.value < len(x.value)
        item = x.value[int(index.value)]
        if not fits(item, x.type.item):
            raise Bailed("another type")
        if isinstance(x.type.item, UnionType):
            return Number(x.type.item, wrap(item, type_of(item)))
        return wrap(item, x.type.item)

    def list_store(self, x, index, value):
        assert 0 <= index.value < len(x.value)
        x.value[int(index.value)] = plain(value)

    def repeat(self, start, is_more, body):
        while is_more(start).value:
            start = body(start)
        return start

    def list_swap(self, x, i, j):
        x.value[i.value], x.value[j.value] = x.value[j.value], x.value[i.value]

    def list_append(self, x, value):
        x.value.append(plain(value))

    def list_pop(self, x):
        if not x.value:
            raise Bailed("pop from an empty list")
        last = self.list_load(x, to_number(len(x.value) - 1, INT))
        x.value.pop()
        return last

    def list_drop(self, x):
        x.value.pop()

    def list_pop_at(self, x, index):
        item = self.list_load(x, index)
        x.value.pop(int(index.value))
        return item

    def list_order(self, keys, *, is_falling):
        places = sorted(range(len(keys.value)), key=keys.value.__getitem__, reverse=is_falling)
        return Number(ListType(INT, is_private=True), places)

    def list_make(self, items, type_):
        return Number(type_, [plain(x) for x in items])

    def str_size(self, x):
        return to_number(len(x.value), INT)

    def str_code(self, x, index):
        assert 0 <= index.value < len(x.value)
        return to_number(ord(x.value[int(index.value)]), INT)

    def str_char(self, code):
        return Number(CHARACTER, chr(code.value))

    def text_code(self, x):
        code = -2 if len(x.value) > 1 else ord(x.value) if x.value else EMPTY
        return to_number(code, INT)

    def str_join(self, parts, otherwise):
        return otherwise()

    def str_compare(self, x, y):
        return to_number((x.value > y.value) - (x.value < y.value), INT)

    def str_equal(self, x, y):
        return to_number(x.value == y.value, BOOL)

    def str_is_among(self, x, characters, otherwise):
        is_character = len(x.value) == 1 and x.value.isascii()
        return to_number(x.value in characters, BOOL) if is_character else otherwise()

    def str_number(self, x):
        is_read = x.value.isdecimal() and len(x.value) < 19
        return to_number(int(x.value) if is_read else 0, INT), to_number(is_read, BOOL)

    def packed_size(self, x):
        return to_number(len(x.value), INT)

    def packed_load(self, x, index):
        assert 0 <= index.value < len(x.value)
        return to_number(x.value[int(index.value)], packed_item_type(x.type))

    def packed_store(self, x, index, value):
        assert 0 <= index.value < len(x.value)
        x.value[int(index.value)] = value.value.item()

    def call_object(self, f, args, kwnames=()):
        assert not kwnames
        return Number(ANY, plain(f)(*map(plain, args)))

    def call_boxed(self, function, args):
        try:
            made = to_number(function(*map(plain, args)))
        except ValueError as error:
            raise Bailed(str(error)) from error
        if made.type in (ANY, UINT):
            raise Bailed("another type")
        return made

    def object_const(self, value):
        return Number(ANY, value)

    def same_object(self, x, y):
        if x is not y and not (x.type.is_boxed or y.type.is_boxed or x.type != y.type):
            raise Bailed("identity of unboxed values")
        return to_number(x is y or plain(x) is plain(y), BOOL)

    def intrinsic(self, name, *xs):
        if name == "fma":
            x, y, z = (float(v.value) for v in xs)
            exact = all(map(math.isfinite, (x, y, z)))
            result = float(Fraction(x) * Fraction(y) + Fraction(z)) if exact else x * y + z
            return self.const(xs[0].type, result)
        return super().intrinsic(name, *xs)


def wrap(value, t):
    return Number(t, value) if isinstance(t, ViewType) else to_number(value, t)


def plain(x):
    """The Python object of an emitter's value."""
    if isinstance(x.type, UnionType):
        return plain(x.value)
    if isinstance(x.type, TupleType):
        return tuple(map(plain, x.value))
    if x.type == RANGE and isinstance(x.value, tuple):
        return range(*map(plain, x.value))
    return to_object(x)


def run_lowering(op, *operands, type_of=type_of, **attrs):
    """Evaluate an op's `lower` at once."""
    types = op.operand_types([type_of(x) for x in operands])
    inferred = op.infer_types(types, attrs)
    inputs = [wrap(x, t) for x, t in zip(operands, types, strict=True)]
    result = op.lower(PythonEmitter(inferred), *inputs, **attrs)
    results = result if isinstance(result, tuple) else (result,)
    assert tuple(r.type for r in results) == inferred, f"{results} instead of {inferred}"
    objects = tuple(map(plain, results))
    return objects if isinstance(result, tuple) else objects[0]


# -- machine code ----------------------------------------------------------------------------------


class NativeBailed(Exception):
    """Machine code left for the interpreter."""


class Mismatch(Exception):
    """The entry did not take the operands."""


class _Base:
    def __call__(self, *_args):
        raise Mismatch

    def _slow_call(self, _args, _kwargs):
        raise Mismatch


_Function = make_function_type(_Base)


def _helper(_exit, _site, _values):
    raise NativeBailed


def graph_of(op, types, attrs):
    """A graph that returns the op's result, or all as a tuple."""
    graph = Graph("op")
    params = [graph.block.add_param(f"x{i}", t) for i, t in enumerate(types)]
    names = tuple(p.key for p in params)
    graph.block.create(SNAPSHOT, params, {"at": "before:0", "names": names}, outputs=())
    node = graph.create(op, params, attrs)
    graph.block.append(node)
    if len(node.outputs) == 1:
        result = node.output
    else:
        made = graph.create(CONSTANT, (), {"value": None})
        if node.outputs:
            made = graph.create(ljit.ir.get_op("prim::TupleConstruct"), node.outputs)
        graph.block.append(made)
        result = made.output
    graph.block.create(RETURN, [result], outputs=())
    return graph


def compile_op(op, types, attrs=None):
    """Machine code of one op for operand types, as a function."""
    return compile_graph(graph_of(op, types, attrs or {}))


def compile_graph(graph):
    """Machine code of a graph as a function that keeps its code alive."""
    code = compile_unit(
        graph, name="op", options=CompileOptions(helper=_helper, takes_all_layouts=True)
    )
    function = _Function()
    set_vectorcall(function, code.address)
    return lambda *args: (function(*args), code)[0]


def is_native_type(t):
    """Whether machine code can take a parameter of the type."""
    return not isinstance(t, ViewType) and t != NEVER


__all__ = [
    "Bailed",
    "Mismatch",
    "NativeBailed",
    "Outcome",
    "attempt",
    "compile_graph",
    "compile_op",
    "describe",
    "fits",
    "graph_of",
    "is_native_type",
    "run_lowering",
]
