"""Running an op on stand-ins for arrays, to learn what NumPy makes of them: sizes, and where elements go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ljit.sizes import MAX_ELEMENTS, is_small, small_shape
from ljit.types import INT, ArrayType, Type

if TYPE_CHECKING:
    from ljit.ir.graph import Value
    from ljit.ir.opdef import OpDef

__all__ = ["ExpansionError", "evaluate_symbolically", "with_known_sizes"]


class ExpansionError(Exception):
    """An operation is not one on the elements alone."""


def evaluate_symbolically(
    op: OpDef, operands: Sequence[object], attrs: Mapping[str, object]
) -> Any:
    """Run an op on symbols; ExpansionError if that is not possible."""
    if not op.symbolic:
        raise ExpansionError(op.name)
    function = op.symbolic if callable(op.symbolic) else op.evaluate
    assert function is not None
    kept = dict(attrs)
    if kept.get("dtype") is not None and any(map(_has_symbols, operands)):
        kept["dtype"] = object
    try:
        return function(*operands, **kept)
    except ExpansionError:
        raise
    except Exception as error:  # whatever NumPy says of symbols
        raise ExpansionError(str(error)) from error


def _has_symbols(operand: object) -> bool:
    if isinstance(operand, tuple):
        return any(map(_has_symbols, operand))
    is_array = isinstance(operand, np.ndarray) and operand.dtype == object
    return is_array or getattr(operand, "is_symbol", False)


def with_known_sizes(
    op: OpDef, operands: Sequence[Value], attrs: Mapping[str, object], result: Type
) -> Type:
    """Give the type of a result with the sizes that follow from constants and small arrays.

    NumPy says what they are: the operation is tried on an array of the same sizes. Of rows of a few elements, whose
    number is not known, views have the sizes of the slices that they take of them.
    """
    if not op.symbolic or not isinstance(result, ArrayType) or None not in result.shape:
        return result
    if op.reads_part and len(operands) == 2:
        result = _with_sizes_of_slices(operands[0], operands[1], result)
    try:
        tried = evaluate_symbolically(op, [_stand_in(v) for v in operands], attrs)
    except ExpansionError:
        return result
    if not isinstance(tried, np.ndarray) or tried.ndim != result.ndim:
        return result
    if not 0 < tried.size <= MAX_ELEMENTS:
        return result
    return ArrayType(result.dtype, tried.shape, result.layout, result.writeable)


def _with_sizes_of_slices(a: Value, index: Value, result: ArrayType) -> ArrayType:
    """Give the type of a view with the sizes of constant slices of short axes: ``a[:, 1:]`` of (n, 3) is (n, 2)."""
    if not isinstance(a.type, ArrayType) or set(a.type.shape) <= {None, 1}:
        return result
    items = _items_of(index)
    taken = sum(item is not None for item in items)
    if any(item is ... for item in items) or taken > a.type.ndim:
        return result
    sizes, shape = iter(a.type.shape), list[int | None]()
    for item in (*items, *[slice(None)] * (a.type.ndim - taken)):
        size = 1 if item is None else next(sizes)
        if isinstance(item, slice) and item.step != 0:
            shape.append(None if size is None else len(range(size)[item]))
        elif item is None:
            shape.append(1)
        elif type(item) is not int:
            return result
    if len(shape) != result.ndim or 0 in shape or any((n or 1) > MAX_ELEMENTS for n in shape):
        return result
    known = zip(result.shape, shape, strict=True)
    sizes_known = tuple(own if own is not None else found for own, found in known)
    return ArrayType(result.dtype, sizes_known, result.layout, result.writeable)


def _items_of(index: Value) -> tuple[object, ...]:
    """The constant items of an index; 0 for another int, its type for all else."""
    from ljit.ir.registry import get_op  # imports this module

    if index.is_constant:
        return index.constant if isinstance(index.constant, tuple) else (index.constant,)
    maker = index.made_by(get_op("prim::TupleConstruct"))
    values = [index] if maker is None else maker.inputs
    return tuple([v.constant if v.is_constant else 0 if v.type == INT else v.type for v in values])


def _stand_in(value: Value) -> object:
    """An operand with the same sizes."""
    if value.is_constant:
        if _is_large(value.constant):
            raise ExpansionError("large")
        return value.constant
    if is_small(value.type):
        return np.full(small_shape(value.type), 1, object)
    from ljit.ir.registry import get_op  # imports this module

    maker = value.made_by(get_op("prim::TupleConstruct"))
    if maker is not None:
        return tuple(map(_stand_in, maker.inputs))
    raise ExpansionError("not known")


def _is_large(constant: object) -> bool:
    if isinstance(constant, tuple):
        return len(constant) > MAX_ELEMENTS or any(map(_is_large, constant))
    if isinstance(constant, slice):
        return any(map(_is_large, (constant.start, constant.stop, constant.step)))
    if isinstance(constant, int | float):
        return not abs(constant) <= MAX_ELEMENTS
    return not (constant is None or constant is ...)
