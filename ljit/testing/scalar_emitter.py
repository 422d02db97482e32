"""An Emitter that computes at once, on NumPy scalars: lowerings are tested without any compiler.

It implements the scalar part of the protocol, tuples, slices and plain array access. Each operation checks what the
protocol asks of its operands (equal types, shift counts in range): AssertionError. `bail_if` raises `Bailed`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ljit.ir import OpDef, Scan, get_op
from ljit.records import Record
from ljit.testing import numpy_loops
from ljit.testing.exact_arithmetic import BIT_COUNTS, fused_multiply_add
from ljit.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UINT,
    ArrayType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
)
from ljit.value_types import type_of

__all__ = ["Bailed", "Number", "ScalarEmitter", "run_lowering"]


class Bailed(Exception):  # noqa: N818  # not an error: native code left for the interpreter
    """Native code would have gone back to the interpreter."""


class Number(Record):
    """A value inside the emitter: numbers as NumPy scalars of the machine's dtype, others as they are."""

    type: Type
    value: Any


_MACHINE: dict[Type, np.dtype] = {
    BOOL: np.dtype(bool),
    INT: np.dtype(np.int64),
    UINT: np.dtype(np.uint64),
    FLOAT: np.dtype(np.float64),
    COMPLEX: np.dtype(np.complex128),
}
_C_LIBRARY = ctypes.CDLL("libm.so.6")


def machine_dtype(t: Type) -> np.dtype | None:
    """Give the dtype that stands for a scalar type's machine type; None for other types."""
    return t.dtype if isinstance(t, ScalarType) else _MACHINE.get(t)


def _dtype(t: Type) -> np.dtype:
    """That of a type that has one."""
    dtype = machine_dtype(t)
    assert dtype is not None
    return dtype


def to_number(value: object, t: Type | None = None) -> Number:
    """Wrap a Python object as an operand."""
    type_ = type_of(value) if t is None else t
    if isinstance(type_, TupleType):
        assert isinstance(value, tuple) and len(value) == len(type_.items)
        return Number(type_, tuple(map(to_number, value, type_.items)))
    dtype = machine_dtype(type_)
    return Number(type_, value if dtype is None else dtype.type(value))


def to_object(x: Number) -> object:
    """Give the Python object that a result stands for."""
    if isinstance(x.type, TupleType):
        return tuple(map(to_object, x.value))
    if isinstance(x.type, ScalarType | ArrayType):
        return x.value
    return x.value.item() if isinstance(x.value, np.generic) else x.value


def run_lowering(op: OpDef, *operands: object, **attrs: object) -> object:
    """Run an op's `lower` on operands and give the result as a Python object.

    Results of an elementwise op that is given scalars only are those of its scalar body.
    """
    assert op.lower is not None
    inputs = [to_number(x) for x in operands]
    types = op.infer_types([x.type for x in inputs], attrs)
    with np.errstate(all="ignore"):
        result = op.lower(ScalarEmitter(types), *inputs, **attrs)
    if result is None:
        return None
    assert result.type == types[0], f"{op.name} gives {result.type}, not {types[0]}"
    return to_object(result)


class ScalarEmitter:
    """The scalar part of `ljit.ir.Emitter`, and arrays as NumPy arrays."""

    fastmath = is_quick = has_vectors = has_long_casts = False

    def __init__(self, result_types: tuple[Type, ...] = ()) -> None:
        self.result_types = result_types
        self._viewed: list[Any] = []  # arrays whose memory views need

    def once(self, rule: Callable[..., Any], *values: Number) -> Any:
        return rule(self, *values)

    def is_proven(self, _check: str) -> bool:
        return False

    # -- scalars -----------------------------------------------------------------------------------

    def const(self, type_: Type, value: object) -> Number:
        return to_number(value, type_)

    def constant_of(self, _x: Number) -> int | None:
        return None

    def float_constant_of(self, x: Number) -> float | None:
        return float(x.value)

    def cast(self, x: Number, type_: Type, *, fits: bool = False) -> Number:
        return Number(type_, np.array(x.value).astype(_dtype(type_))[()])

    def retype(self, x: Number, type_: Type) -> Number:
        return Number(type_, np.array(x.value).view(_dtype(type_))[()])

    def _pair(self, x: Number | float, y: Number | float) -> tuple[Number, Number]:
        """Two operands: a Python number beside a value is a constant of its type."""
        if not isinstance(x, Number):
            assert isinstance(y, Number), "which type?"
            x = self.const(y.type, x)
        y = y if isinstance(y, Number) else self.const(x.type, y)
        assert x.type == y.type, f"{x.type} and {y.type} in one operation"
        return x, y

    def _arithmetic(self, function: Callable[..., Any], x: Number, *others: Number) -> Number:
        for y in others:
            assert x.type == y.type, f"{x.type} and {y.type} in one operation"
        return Number(x.type, _dtype(x.type).type(function(x.value, *(y.value for y in others))))

    def add(self, x: Number | float, y: Number | float, *, fits: bool = False) -> Number:
        return self._arithmetic(np.add, *self._pair(x, y))

    def sub(self, x: Number | float, y: Number | float, *, fits: bool = False) -> Number:
        return self._arithmetic(np.subtract, *self._pair(x, y))

    def mul(self, x: Number | float, y: Number | float, *, fits: bool = False) -> Number:
        return self._arithmetic(np.multiply, *self._pair(x, y))

    def div(self, x: Number | float, y: Number | float) -> Number:
        x, y = self._pair(x, y)
        if x.value.dtype.kind in "fc":
            return self._arithmetic(np.divide, x, y)
        _assert_divisible(x, y)
        quotient = abs(int(x.value)) // abs(int(y.value))
        return to_number(quotient if (x.value < 0) == (y.value < 0) else -quotient, x.type)

    def floored_quotient(self, *_: Number) -> None: ...

    def rem(self, x: Number | float, y: Number | float) -> Number:
        x, y = self._pair(x, y)
        if x.value.dtype.kind != "f":
            _assert_divisible(x, y)
        return self._arithmetic(np.fmod, x, y)

    def neg(self, x: Number) -> Number:
        return self._arithmetic(np.negative, x)

    def _overflow(self, exact: int, wrapped: Number) -> tuple[Number, Number]:
        return wrapped, to_number(exact != int(wrapped.value), BOOL)

    def add_overflow(self, x: Number, y: Number) -> tuple[Number, Number]:
        return self._overflow(int(x.value) + int(y.value), self.add(x, y))

    def sub_overflow(self, x: Number, y: Number) -> tuple[Number, Number]:
        return self._overflow(int(x.value) - int(y.value), self.sub(x, y))

    def mul_overflow(self, x: Number, y: Number) -> tuple[Number, Number]:
        return self._overflow(int(x.value) * int(y.value), self.mul(x, y))

    def bit_and(self, x: Number | float, y: Number | float) -> Number:
        return self._arithmetic(np.bitwise_and, *self._pair(x, y))

    def bit_or(self, x: Number | float, y: Number | float) -> Number:
        return self._arithmetic(np.bitwise_or, *self._pair(x, y))

    def bit_xor(self, x: Number | float, y: Number | float) -> Number:
        return self._arithmetic(np.bitwise_xor, *self._pair(x, y))

    def bit_not(self, x: Number) -> Number:
        return self._arithmetic(np.invert, x)

    def shl(self, x: Number | float, y: Number | float) -> Number:
        x, y = self._pair(x, y)
        assert 0 <= y.value < x.value.dtype.itemsize * 8
        return self._arithmetic(np.left_shift, x, y)

    def shr(self, x: Number | float, y: Number | float) -> Number:
        x, y = self._pair(x, y)
        assert 0 <= y.value < x.value.dtype.itemsize * 8
        return self._arithmetic(np.right_shift, x, y)

    def compare(self, predicate: str, x: Number | float, y: Number | float) -> Number:
        x, y = self._pair(x, y)
        function = getattr(x.value, f"__{predicate}__")
        return to_number(bool(function(y.value)), BOOL)

    def select(self, condition: Number, x: Number | float, y: Number | float) -> Number:
        assert condition.type == BOOL
        x, y = self._pair(x, y)
        return x if condition.value else y

    def item_at(self, items: Sequence[Number], index: Number) -> Number:
        assert all(item.type == items[0].type for item in items)
        return items[int(index.value)]

    def branch(
        self,
        condition: Number,
        then: Callable[[], Number],
        otherwise: Callable[[], Number],
        *,
        unlikely: bool = False,  # changes no result
    ) -> Number:
        assert condition.type == BOOL
        return then() if condition.value else otherwise()

    def real(self, x: Number) -> Number:
        return to_number(x.value.real, _part(x.type))

    def imag(self, x: Number) -> Number:
        return to_number(x.value.imag, _part(x.type))

    def complex(self, real: Number, imag: Number, type_: Type) -> Number:
        assert real.type == imag.type == _part(type_)
        return Number(type_, np.array([real.value, imag.value]).view(_dtype(type_))[0])

    def intrinsic(self, name: str, *xs: Number) -> Number:
        if name == "fma":
            return self._arithmetic(fused_multiply_add, *xs)
        function = BIT_COUNTS.get(name) or getattr(np, name)
        return self._arithmetic(function, *xs)

    def math(self, name: str, *xs: Number) -> Number:
        if xs[0].value.dtype.kind == "c":
            function = getattr(np, name[1:].replace("a", "arc", name[1] == "a"))
            return self._arithmetic(function, *xs)
        is_single = xs[0].value.dtype == np.float32
        function = getattr(_C_LIBRARY, name + "f" * is_single)
        number = ctypes.c_float if is_single else ctypes.c_double
        function.restype, function.argtypes = number, [number] * len(xs)
        return self._arithmetic(lambda *values: function(*map(float, values)), *xs)

    elementary = math

    def bail_if(
        self,
        condition: Number,
        reason: str,
        *,
        also: Callable[[], Number] | None = None,
        may_wait: bool = False,
    ) -> None:
        assert condition.type == BOOL
        if condition.value and (also is None or also().value):
            raise Bailed(reason)

    def bail(self, reason: str) -> None:
        raise Bailed(reason)

    # -- tuples and slices -------------------------------------------------------------------------

    def tuple_make(self, items: Sequence[Number]) -> Number:
        return Number(TupleType(tuple(x.type for x in items)), tuple(items))

    def tuple_items(self, x: Number) -> Sequence[Number]:
        return x.value  # type: ignore[no-any-return]

    def slice_parts(self, x: Number) -> tuple[Number, Number, Number]:
        assert isinstance(x.type, SliceType)
        parts = (x.value.start, x.value.stop, x.value.step)
        start, stop, step = (to_number(part) for part in parts)
        return start, stop, step

    # -- arrays ------------------------------------------------------------------------------------

    def array_sizes(self, a: Number) -> Sequence[Number]:
        return [to_number(n, INT) for n in a.value.shape]

    def array_strides(self, a: Number) -> Sequence[Number]:
        return [to_number(n, INT) for n in a.value.strides]

    def array_load(
        self, a: Number, indices: Sequence[Number], *, is_aligned: bool = True
    ) -> Number:
        assert all(0 <= i.value < n for i, n in zip(indices, a.value.shape, strict=True))
        return to_number(a.value[tuple(i.value for i in indices)], a.type.element)  # type: ignore[attr-defined]

    def array_store(
        self, a: Number, indices: Sequence[Number], value: Number, *, is_aligned: bool = True
    ) -> None:
        assert all(0 <= i.value < n for i, n in zip(indices, a.value.shape, strict=True))
        assert value.type == ScalarType(a.value.dtype), f"{value.type} stored into {a.type}"
        a.value[tuple(i.value for i in indices)] = value.value

    def array_move(self, target: Number, to: Number, source: Number, at: Number, n: Number) -> None:
        target.value[to.value :][: n.value] = source.value[at.value :][: n.value]

    def array_roll(
        self, target: Number, source: Number, block: Number, head: Number, times: Number
    ) -> None:
        into, values = (x.value.reshape(times.value, block.value) for x in (target, source))
        into[:] = np.roll(values, head.value, axis=1)

    def array_new(self, type_: Type, sizes: Sequence[Number], fill: Number | None) -> Number:
        assert isinstance(type_, ArrayType)
        if any(size.value < 0 for size in sizes):
            raise Bailed("negative size")
        shape = tuple(int(size.value) for size in sizes)
        if fill is None:
            return Number(type_, np.empty(shape, type_.dtype))
        assert fill.type == ScalarType(type_.dtype)
        return Number(type_, np.full(shape, fill.value, type_.dtype))

    def array_fill(self, a: Number, value: Callable[[Number], Number]) -> None:
        self.loop(self.array_sizes(a)[0], lambda k: self.array_store(a, [k], value(k)))

    def array_view(
        self,
        a: Number,
        type_: Type,
        offset: Number,
        sizes: Sequence[Number],
        strides: Sequence[Number],
        *,
        is_read_only: bool = False,
    ) -> Number:
        assert isinstance(type_, ArrayType)
        shape, steps = (tuple(int(x.value) for x in xs) for xs in (sizes, strides))
        base = a.value
        self._viewed.append(base)
        address = base.__array_interface__["data"][0] + int(offset.value)
        if base.size == 0 or 0 in shape:
            view = np.empty(shape, type_.dtype)
        else:
            memory = (ctypes.c_char * type_.dtype.itemsize).from_address(address)
            start = np.ctypeslib.as_array(memory).view(type_.dtype)
            _assert_inside(base, address, shape, steps, type_.dtype.itemsize)
            view = as_strided(start, shape, steps)
        if is_read_only or not type_.writeable:
            view.flags.writeable = False
        return Number(type_, view)

    def array_assign(
        self,
        target: Number,
        value: Number,
        convert: Callable[[Number], Number],
        *,
        may_bail: bool,
        is_apart: bool = False,
    ) -> None:
        if isinstance(value.type, ArrayType):
            try:
                given = np.broadcast_to(value.value, target.value.shape)
            except ValueError as error:
                raise Bailed(str(error)) from None
            elements = [convert(Number(value.type.element, x)) for x in given.flat]
        else:
            elements = [convert(value)] * target.value.size
        for at, x in zip(np.ndindex(target.value.shape), elements, strict=True):
            target.value[at] = x.value

    def array_overlap(self, a: Number, b: Number) -> Number:
        return to_number(bool(np.may_share_memory(a.value, b.value)), BOOL)

    def array_same(self, a: Number, b: Number) -> Number:
        address_a, address_b = (x.value.__array_interface__["data"][0] for x in (a, b))
        is_same = address_a == address_b and a.value.shape == b.value.shape
        return to_number(is_same and a.value.strides == b.value.strides, BOOL)

    def array_position(self, a: Number, key: Number, *, after: bool) -> Number:
        side = "right" if after else "left"
        return to_number(int(np.searchsorted(a.value, key.value, side)), INT)  # type: ignore[call-overload]

    def array_interval(self, a: Number, key: Number) -> Number:
        found = int(np.searchsorted(a.value, key.value, "right")) - 1
        return to_number(len(a.value) if key.value > a.value[-1] else found, INT)

    def array_positions(self, a: Number, keys: Number, into: Number, *, after: bool) -> Number:
        into.value[...] = np.searchsorted(a.value, keys.value, "right" if after else "left")
        return to_number(bool((a.value[1:] >= a.value[:-1]).all()), BOOL)

    def array_combine(
        self, a: Number, first: Number, count: Number, scan: Scan, type_: Type
    ) -> Number:
        elements = a.value[first.value : first.value + count.value]  # type: ignore[misc]
        assert isinstance(type_, ScalarType)
        combine: Any = get_op(scan.combine).evaluate
        return to_number(combine.reduce(elements, dtype=type_.dtype), type_)

    def array_place(self, a: Number, *, greatest: bool) -> Number:
        return to_number(int((np.argmax if greatest else np.argmin)(a.value)), INT)

    def array_places(self, a: Number, into: Number, *, greatest: bool) -> None:
        into.value[...] = (np.argmax if greatest else np.argmin)(a.value, axis=0)

    def array_gather(self, a: Number, index: Number, into: Number) -> Number:
        is_good = self.are_inside(a, index)
        if is_good.value:
            into.value[...] = a.value[index.value]
        return is_good

    def array_compress(self, a: Number, mask: Number, into: Number) -> None:
        into.value[...] = a.value[mask.value]

    def array_expand(self, a: Number, mask: Number, values: Number) -> None:
        a.value[mask.value] = values.value

    def are_inside(self, a: Number, index: Number) -> Number:
        good = np.arange(-len(a.value), len(a.value))
        return to_number(bool(np.isin(index.value, good).all()), BOOL)

    def array_scatter(self, a: Number, index: Number, values: Number) -> None:
        a.value[index.value] = values.value

    def mask_count(self, mask: Number) -> Number:
        return to_number(int(np.count_nonzero(mask.value)), INT)

    def mask_places(self, mask: Number, into: Number) -> None:
        into.value[...] = np.flatnonzero(mask.value)

    def array_check(self, x: Number) -> None:
        pass  # arrays here are objects: nothing of them is kept elsewhere

    def loop(self, trip: Number, body: Callable[[Number], None]) -> None:
        for k in range(int(trip.value)):
            body(to_number(k, INT))

    def fold(
        self, trip: Number, start: Number, body: Callable[[Number, Number], Number], length: int
    ) -> Number:
        for k in range(int(trip.value)):
            start = body(to_number(k, INT), start)
        return start

    def repeat(
        self, start: Number, is_more: Callable[[Number], Number], body: Callable[[Number], Number]
    ) -> Number:
        while is_more(start).value:
            start = body(start)
        return start

    inner_loop = numpy_loops.inner_loop
    products = numpy_loops.products
    array_order = numpy_loops.array_order
    array_orders = numpy_loops.array_orders
    array_correlate = numpy_loops.array_correlate

    def object_const(self, value: object) -> Number:
        return Number(type_of(value), value)


def _part(t: Type) -> Type:
    if t == COMPLEX:
        return FLOAT
    assert isinstance(t, ScalarType)
    assert t.dtype.kind == "c"
    return ScalarType(np.empty(0, t.dtype).real.dtype)


def _assert_divisible(x: Number, y: Number) -> None:
    assert y.value != 0, "division by zero is undefined"
    may_fit = y.value != -1 or x.value.dtype.kind == "u"
    assert may_fit or x.value != np.iinfo(x.value.dtype).min, "division overflow is undefined"


def _assert_inside(
    base: np.ndarray, address: int, shape: Sequence[int], strides: Sequence[int], itemsize: int
) -> None:
    """Check that a view stays in the memory of the array that it is made of."""
    low, high = np.lib.array_utils.byte_bounds(base)
    extents = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    first = address + sum(min(x, 0) for x in extents)
    last = address + sum(max(x, 0) for x in extents) + itemsize
    assert low <= first, "view starts before its array"
    assert last <= high, "view ends behind its array"
    assert math.prod(shape) > 0
