"""``argwhere``, ``isin``, ``unravel_index`` and ``fill_diagonal``: made of other ops, or a store to a view.

What does not fit stays a call of NumPy.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.convert import can_store, store_scalar
from ljit.ops.arrays.rules import array_of, is_scalar
from ljit.ops.indexing.selections import places_along
from ljit.ops.python.numbers import at_most
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_INT64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_SEARCHED = (_INT64, np.dtype(np.float64))
_MATRIX = np.arange(6).reshape(2, 3) % 2 > 0


# -- argwhere ----------------------------------------------------------------------------------------


def _infer_argwhere(a: Type) -> Type:
    if not isinstance(a, ArrayType) or not a.ndim:
        return ANY
    (result,) = get_op("np::transpose").infer_types([ArrayType(_INT64, (a.ndim, None))], {})
    return result


def _argwhere_of(parts: Parts, a: Value) -> Value | None:
    if _infer_argwhere(a.type) == ANY:
        return None
    assert isinstance(a.type, ArrayType)
    if a.type.dtype.kind in "iufc":
        return parts.apply("np::argwhere", parts.apply("np::not_equal", a, parts.constant(0)))
    places = places_along(parts, a)
    if places is None:
        return None
    if len(places) == 1:
        rows = parts.apply("np::expand_dims", places[0], axis=0)
    else:
        rows = parts.apply("np::stack", parts.apply("prim::TupleConstruct", *places))
    return parts.apply("np::transpose", rows)


declare_function(
    "argwhere",
    "(a)",
    _infer_argwhere,
    np.argwhere,
    decompose=_argwhere_of,
    samples=((_MATRIX,), (np.arange(4) > 1,), (np.arange(4),)),
)


# -- isin --------------------------------------------------------------------------------------------


def _infer_isin(element: Type, test_elements: Type, *, invert: object = False) -> Type:
    if not isinstance(element, ArrayType) or not isinstance(test_elements, ArrayType):
        return ANY
    if not element.ndim or not test_elements.ndim or type(invert) is not bool:
        return ANY
    return array_of(_BOOL, element.shape, "C")


def _can_search(element: Type, test_elements: Type) -> bool:
    """Whether places among sorted elements tell it: numbers that are compared as those of the other array."""
    assert isinstance(element, ArrayType)
    assert isinstance(test_elements, ArrayType)
    if element.layout != "C" and element.ndim > 1:
        return False
    dtype = test_elements.dtype
    if dtype not in _SEARCHED or element.dtype.kind not in "iuf" or test_elements.ndim != 1:
        return False
    return np.result_type(element.dtype, dtype) == dtype


def _isin_of(
    parts: Parts, element: Value, test_elements: Value, *, invert: bool = False
) -> Value | None:
    """Whether what stands where an element would be sorted in is that element: NaN is none."""
    types_ = element.type, test_elements.type
    if _infer_isin(*types_, invert=invert) == ANY or not _can_search(*types_):
        return None
    one, count = parts.constant(1), parts.apply("py::len", test_elements)
    parts.apply("np::unless", parts.constant(1.0), parts.apply("py::lt", count, one))
    ordered = parts.apply("np::sort", test_elements)
    place = parts.apply("np::searchsorted", ordered, element)
    place = parts.apply("np::minimum", place, parts.apply("py::sub", count, one))
    found = parts.apply("np::getitem", ordered, place)
    return parts.apply("np::not_equal" if invert else "np::equal", element, found)


declare_function(
    "isin",
    "(element, test_elements, *, invert=False)",
    _infer_isin,
    np.isin,
    decompose=_isin_of,
    parameters=("element", "test_elements", "assume_unique", "invert"),
    takes_lists=True,
    samples=((np.arange(5), np.array([1, 3])), (np.arange(3.0), np.array([2.0]))),
)


# -- unravel_index -----------------------------------------------------------------------------------


def _infer_unravel(indices: Type, shape: Type) -> Type:
    if indices not in (INT, ScalarType(_INT64)) or not isinstance(shape, TupleType):
        return ANY
    if not shape.items or any(size != INT for size in shape.items):
        return ANY
    return TupleType((ScalarType(_INT64),) * len(shape.items))


def _unravel_of(parts: Parts, indices: Value, shape: Value) -> Value | None:
    """A place along each axis; native code is left if there is none."""
    if _infer_unravel(indices.type, shape.type) == ANY:
        return None
    assert isinstance(shape.type, TupleType)
    zero, number = parts.constant(0), parts.constant(1.0)
    rest, found = parts.apply("np::int64", indices), list[Value]()
    parts.apply("np::unless", number, parts.apply("np::less", rest, zero))
    for i in reversed(range(len(shape.type.items))):
        size = parts.apply("prim::TupleIndex", shape, index=i)
        parts.apply("np::unless", number, parts.apply("py::le", size, zero))
        found.append(parts.apply("np::remainder", rest, size))
        rest = parts.apply("np::floor_divide", rest, size)
    parts.apply("np::unless", number, parts.apply("np::greater", rest, zero))
    return parts.apply("prim::TupleConstruct", *reversed(found))


declare_function(
    "unravel_index",
    "(indices, shape)",
    _infer_unravel,
    np.unravel_index,
    decompose=_unravel_of,
    samples=((5, (2, 3)), (np.int64(3), (4,))),
)


# -- fill_diagonal -----------------------------------------------------------------------------------


def _infer_fill_diagonal(a: Type, val: Type) -> Type:
    if not isinstance(a, ArrayType) or a.ndim != 2 or not a.writeable or not is_scalar(val):
        return ANY
    return NONE if can_store(val, a.dtype) else ANY


def _lower_fill_diagonal(e: Emitter, a: V, val: V) -> V:
    assert isinstance(a.type, ArrayType)
    (height, width), (down, right) = e.array_sizes(a), e.array_strides(a)
    number = store_scalar(e, val, a.type.dtype)
    type_ = ArrayType(a.type.dtype, (None,), "strided", a.type.writeable)
    count, step = at_most(e, height, width), e.add(down, right)
    diagonal = e.array_view(a, type_, e.const(INT, 0), [count], [step])
    e.array_assign(diagonal, number, lambda x: x, may_bail=False)
    return e.const(NONE, None)


declare_function(
    "fill_diagonal",
    "(a!, val)",
    _infer_fill_diagonal,
    np.fill_diagonal,
    lower=_lower_fill_diagonal,
    can_lower=lambda a, val: _infer_fill_diagonal(a, val) == NONE,
    effect=Effect.READ | Effect.WRITE | Effect.RAISE,
    samples=((np.ones((2, 3)), 0.0), (np.ones((3, 2)), 2), (np.zeros((3, 3), np.uint8), 7)),
)
