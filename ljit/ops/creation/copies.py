"""Arrays of existing objects: ``array``, ``asarray``, ``ascontiguousarray`` and ``copy``.

The result is a fresh array or the operand itself, and the effects say which: a write to one is seen
through the other only in the second case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.list_uses import ListUse
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import chosen_dtype, declare_function, sharing_effects
from ljit.ops.arrays.convert import can_store, store_scalar
from ljit.ops.arrays.flat import as_vector, product_of, viewed
from ljit.ops.arrays.rules import (
    array_of,
    dtype_of,
    element_of,
    flat_scalars,
    layout_like,
    result_dtype,
)
from ljit.ops.ranges.array_ranges import LIKE_FIRST
from ljit.sizes import is_small, small_shape
from ljit.types import ANY, INT, UINT, ArrayType, ListType, ScalarType, TupleType, Type

__all__: list[str] = []

_INT64 = np.dtype(np.int64)
_CUBE = 3  # axes
_TILES = 128  # elements of two axes that are worth a function's call


def _promoted(scalars: Sequence[Type]) -> np.dtype | None:
    """The dtype of an array of scalars; Python's count as int64, float64, complex128."""
    return result_dtype(tuple(dtype_of(t) or _INT64 for t in scalars))


def _infer_array(
    a: Type, *, dtype: object = None, copy: object = True, order: object = "K"
) -> Type:
    if order not in ("K", "C") or not (copy is True or copy is None):
        return ANY
    if isinstance(a, ArrayType):
        return _infer_array_of_array(a, chosen_dtype(dtype, a.dtype), copy, order)
    if isinstance(a, ListType):
        return _type_of_rows(a, dtype)
    found = flat_scalars(a) or _equal_arrays(a)
    if found is None and _is_stack(a) and dtype is None:
        (stacked,) = get_op("np::stack").infer_types([a], {})
        return stacked
    if found is None:
        return ANY
    scalars, shape = found
    return array_of(chosen_dtype(dtype, _promoted(scalars)), shape)


def _equal_arrays(a: Type) -> tuple[tuple[Type, ...], tuple[int, ...]] | None:
    """Give the element types of a tuple of small arrays, and the shape of the whole, if theirs are the same."""
    items = a.items if isinstance(a, TupleType) else ()
    if not items or not all(map(is_small, items)):
        return None
    shapes = {small_shape(t) for t in items}
    if len(shapes) > 1:
        return None
    return tuple(map(element_of, items)), (len(items), *shapes.pop())


def _is_stack(a: Type) -> bool:
    """Whether it is a tuple of arrays of one rank that native code stacks."""
    items = a.items if isinstance(a, TupleType) else ()
    arrays = [t for t in items if isinstance(t, ArrayType)]
    if not items or len(arrays) < len(items) or len({t.ndim for t in arrays}) > 1:
        return False
    can_lower = get_op("np::stack").can_lower
    assert can_lower is not None
    return arrays[0].ndim > 0 and bool(can_lower(a))  # else np.stack's errors would be seen


def _stacked(parts: Parts, a: Value, **attrs: object) -> Value | None:
    """``np.array([x, y])`` of arrays: ``np.stack``."""
    if flat_scalars(a.type) or _equal_arrays(a.type) or not _is_stack(a.type):
        return None
    return None if attrs.get("dtype") is not None else parts.apply("np::stack", a)


def _type_of_rows(x: Type, dtype: object) -> Type:
    """The type of an array of the items of a list that only native code sees; Any: NumPy makes it.

    Items are numbers, or tuples of these. Each must fit the dtype that is asked for.
    """
    item = x.item if isinstance(x, ListType) and x.is_private else ANY
    found = flat_scalars(item)
    if found is None or item == UINT:
        return ANY
    scalars, shape = found
    made = _promoted(scalars)
    chosen = chosen_dtype(dtype, made)
    if UINT in scalars or made is None or chosen is None or not np.can_cast(made, chosen):
        return ANY
    return array_of(chosen, (None,) * (1 + len(shape)))


def _lower_rows(e: Emitter, x: V, result: ArrayType, dtype: object) -> V:
    """Store the items side by side; of none NumPy makes a vector of floats."""
    found = flat_scalars(x.type.item)
    assert found is not None
    count, sizes = e.list_size(x), [e.const(INT, n) for n in found[1]]
    if sizes or (dtype is None and result.dtype != np.float64):
        e.bail_if(e.compare("eq", count, 0), "an array of nothing")
    array = e.array_new(result, [count, *sizes], None)

    def store(k: V) -> None:
        for at, value in _leaves(e, e.list_load(x, k)):
            place = [k, *(e.const(INT, i) for i in at)]
            e.array_store(array, place, store_scalar(e, value, result.dtype))

    e.loop(count, store)
    return array


def _infer_array_of_array(
    a: ArrayType, dtype: np.dtype | None, copy: object, order: object
) -> Type:
    if dtype is None:
        return ANY
    layout = "C" if order == "C" else a.layout if copy is None else layout_like((a,), a.ndim)
    may_alias = copy is None and dtype == a.dtype
    return ArrayType(dtype, a.shape, layout, a.writeable or not may_alias)


def _is_same(a: Type, result: Type) -> bool:
    """Whether ``asarray`` gives the array itself."""
    return isinstance(a, ArrayType) and a == result


def _shares(a: Type, *, copy: object, order: object, dtype: object = None) -> bool | None:
    """Whether the result is the array itself; None if that depends on how it lies in memory."""
    if copy is not None or not isinstance(a, ArrayType):
        return False
    if chosen_dtype(dtype, a.dtype) != a.dtype:
        return False
    return True if order == "K" or a.layout == "C" else None


def _can_lower_array(a: Type, **attrs: Any) -> bool:
    result = _infer_array(a, **attrs)
    if attrs.get("copy", True) is None and _is_same(a, result):
        return True
    if isinstance(a, ListType):
        return result != ANY
    found = flat_scalars(a)
    if found is None or not isinstance(result, ArrayType):
        return False
    return all(can_store(t, result.dtype) for t in found[0])


def _lower_array(e: Emitter, a: V, **attrs: Any) -> V:
    result = _infer_array(a.type, **attrs)
    assert isinstance(result, ArrayType)
    if isinstance(a.type, ArrayType):
        return a
    if isinstance(a.type, ListType):
        return _lower_rows(e, a, result, attrs.get("dtype"))
    leaves = list(_leaves(e, a))
    values = [(at, store_scalar(e, x, result.dtype)) for at, x in leaves]
    array = e.array_new(result, [e.const(INT, n) for n in result.shape], None)
    for at, value in values:
        e.array_store(array, [e.const(INT, i) for i in at], value)
    return array


def _leaves(e: Emitter, a: V) -> list[tuple[tuple[int, ...], V]]:
    if not isinstance(a.type, TupleType):
        return [((), a)]
    items = enumerate(e.tuple_items(a))
    return [((i, *at), x) for i, item in items for at, x in _leaves(e, item)]


_array_effects = sharing_effects(_infer_array, _shares)


def _with(copy: object, order: object) -> dict[str, Any]:
    """The rules of a function with the given defaults."""

    def complete(attrs: dict[str, Any]) -> dict[str, Any]:
        return {"copy": copy, "order": order, **attrs}

    return {
        "infer": lambda a, **attrs: _infer_array(a, **complete(attrs)),
        "effects": lambda a, **attrs: _array_effects(a, **complete(attrs)),
        "lower": lambda e, a, **attrs: _lower_array(e, a, **complete(attrs)),
        "can_lower": lambda a, **attrs: _can_lower_array(a, **complete(attrs)),
        "decompose": _stacked,
    }


_SAMPLES: tuple[tuple[object, ...], ...] = (
    *((np.arange(3),), ((1, 2.5),), (((1, 2), (3, 4)),), (2,)),
    *(([1, 2],), ([],), ([0.5, -0.0],), ([(1, 2.5)],), (["a"],)),
)
declare_function(
    "array",
    "(object, *, dtype=None, copy=True, order='K')",
    function=np.array,
    copies=True,
    reads_items=True,
    list_use=ListUse(combines=True),
    symbolic=True,
    parameters=("object", "dtype", "*", "copy", "order"),
    is_profiled=True,
    samples=_SAMPLES,
    **_with(copy=True, order="K"),
)
for _function in (np.asarray, np.asanyarray):
    declare_function(
        _function.__name__,
        "(a, *, dtype=None, order='K', copy=None)",
        function=_function,
        copies=True,
        reads_items=True,
        list_use=ListUse(combines=True),
        parameters=("a", "dtype", "order", "*", "copy"),
        is_profiled=True,
        samples=_SAMPLES,
        **_with(copy=None, order="K"),
    )


def _infer_ascontiguous(a: Type, *, dtype: object = None) -> Type:
    result = _infer_array(a, dtype=dtype, copy=None, order="C")
    if isinstance(result, ArrayType) and not result.shape:
        return ArrayType(result.dtype, (1,))
    return result


def _shares_contiguous(a: Type, *, dtype: object = None) -> bool | None:
    if isinstance(a, ArrayType) and not a.ndim:
        return None
    return _shares(a, copy=None, order="C", dtype=dtype)


declare_function(
    "ascontiguousarray",
    "(a, *, dtype=None)",
    _infer_ascontiguous,
    np.ascontiguousarray,
    lower=lambda e, a, **_attrs: a,
    can_lower=lambda a, **attrs: _is_same(a, _infer_ascontiguous(a, **attrs)),
    effects=sharing_effects(_infer_ascontiguous, _shares_contiguous),
    is_profiled=True,
    samples=((np.arange(6).reshape(2, 3).T,), (np.arange(3),)),
)


def _infer_copy(a: Type, *, order: object = "K") -> Type:
    return _infer_array(a, copy=True, order=order) if isinstance(a, ArrayType) else ANY


def _infer_copy_method(a: Type, *, order: object = "C") -> Type:
    return a if isinstance(a, ScalarType) else _infer_copy(a, order=order)


def _can_lower_copy(a: Type, *, order: object) -> bool:
    """Whether the result is in C order, of up to three axes. NumPy is better at more axes in other orders."""
    result = _infer_copy(a, order=order)
    if not isinstance(a, ArrayType) or not isinstance(result, ArrayType):
        return False
    return result.layout == "C" and (a.layout == "C" or a.ndim <= _CUBE)


def _lower_copy(e: Emitter, a: V, *, order: object) -> V:
    result = _infer_copy(a.type, order=order)
    assert isinstance(result, ArrayType)
    made = e.array_new(result, list(e.array_sizes(a)), None)
    _fill_in_order(e, made, a)
    return made


def _fill_in_order(e: Emitter, made: V, a: V) -> None:
    """Fill a new array in C order with as many elements, whatever its rank."""
    sizes, zero = e.array_sizes(a), e.const(INT, 0)
    if a.type.layout != "C":
        target = made if made.type.ndim == len(sizes) else viewed(e, made, sizes)
        target, a = _with_near_rows(e, target, a)
        e.array_assign(target, a, lambda x: x, may_bail=False, is_apart=True)
        return
    e.array_move(as_vector(e, made), zero, as_vector(e, a), zero, product_of(e, sizes))


def _with_near_rows(e: Emitter, target: V, source: V) -> tuple[V, V]:
    """Both, with the first two of three axes changed if the source's elements lie side by side along the first one.

    Then the last two axes are turned around in tiles.
    """
    if source.type.ndim != _CUBE:
        return target, source
    first, _, last = e.array_sizes(source)
    is_near = e.compare("eq", e.array_strides(source)[0], source.type.dtype.itemsize)
    is_large = e.compare("ge", e.mul(first, last), _TILES)
    is_near = e.bit_and(is_near, is_large)

    def changed(x: V) -> V:
        def turned(parts: Sequence[V]) -> list[V]:
            first, second, last = parts
            return [e.select(is_near, second, first), e.select(is_near, first, second), last]

        type_ = ArrayType(x.type.dtype, (None,) * _CUBE, "strided")
        sizes, strides = (turned(parts) for parts in (e.array_sizes(x), e.array_strides(x)))
        return e.array_view(x, type_, e.const(INT, 0), sizes, strides)

    return changed(target), changed(source)


def _declare_copy(name: str, order: str, evaluate: Callable[..., Any], **fields: Any) -> None:
    infer = _infer_copy_method if "methods" in fields else _infer_copy
    declare_function(
        name,
        f"(a, *, order={order!r})",
        infer,
        evaluate,
        lower=lambda e, a, *, order=order: _lower_copy(e, a, order=order),
        can_lower=lambda a, *, order=order: _can_lower_copy(a, order=order),
        ranges=LIKE_FIRST,
        symbolic=True,
        copies=True,
        samples=((np.arange(3),), (np.arange(6.0).reshape(2, 3),), (np.array(2.5),)),
        **fields,
    )


_declare_copy("copy", "K", np.copy)
_declare_copy(
    "copy_method",
    "C",
    lambda a, **attrs: a.copy(**attrs),
    doc="``a.copy()``",
    callables=(),
    methods=("ndarray.copy", "generic.copy"),
)


def _lower_flatten(e: Emitter, a: V) -> V:
    total = product_of(e, e.array_sizes(a))
    made = e.array_new(ArrayType(a.type.dtype, (None,)), [total], None)
    _fill_in_order(e, made, a)
    return made


declare_function(
    "flatten",
    "(a)",
    lambda a: ArrayType(a.dtype, (None,)) if isinstance(a, ArrayType) else ANY,
    np.ndarray.flatten,
    lower=_lower_flatten,
    can_lower=lambda a: _can_lower_copy(a, order="C"),
    callables=(),
    methods=("ndarray.flatten",),
    symbolic=True,
    samples=((np.arange(6).reshape(2, 3),), (np.arange(6.0)[::-2],), (np.array(1.5),)),
)
