"""Operands whose types are Unions: what an op is emitted for, once for each member or once for all.

An operation on a Union is a branch on its tag, with the operation for each member. So it is for items of an index,
`a[i, j]`. Where the class of a number makes no difference to an op, there is no branch: all members are taken as
one type of NumPy's numbers (`prim::guard` becomes `np::number`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.ir import OpDef, Value, get_op
from ljit.ops.arrays.rules import dtype_of, is_scalar
from ljit.ops.python.numbers import is_held_by
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.types import FLOAT, INT, ArrayType, ScalarType, Type, UnionType

__all__ = ["first_union", "keeps_unions", "number_type", "numpys_type", "plain_type", "with_member"]

_INDEX = ScalarType(np.dtype(np.int64))
_MOST_EXACT = 2**53  # ints up to here are floats


def first_union(op: OpDef, inputs: Sequence[Value]) -> Value | None:
    """Give the first operand, or item of an index of elements, that is of a Union type."""
    if op.keeps_unions:
        return None
    operands = (*_index_items(op, inputs), *inputs)
    return next((v for v in operands if isinstance(v.type, UnionType)), None)


def keeps_unions(op: OpDef, inputs: Sequence[Value]) -> bool:
    """Whether an op takes these operands as they are, although some are of Union types."""
    keeps = op.keeps_these_unions
    return keeps is not None and keeps(*(v.type for v in inputs))


def number_type(op: OpDef, inputs: Sequence[Value], union: Value) -> ScalarType | None:
    """Give the type as which the op takes any number of the Union, if there is one."""
    wanted = None
    if _is_of_part(op, inputs) and union not in inputs[2:]:
        wanted = _INDEX
    elif op.number_type is not None:
        wanted = op.number_type(*(v.type for v in inputs))
    assert isinstance(union.type, UnionType)
    members = union.type.members
    if wanted is None or not all(map(is_scalar, members)):
        return None
    dtypes = [dtype_of(m) for m in members]
    return wanted if all(d is not None and is_held_by(wanted.dtype, d) for d in dtypes) else None


def plain_type(op: OpDef, inputs: Sequence[Value]) -> Type | None:
    """Give Python's class of numbers as which the op takes all operands, of whichever class of the dtype they are.

    Beside floats ints stay what they are, where either class makes the same floats of them.
    """
    for plain in op.ignores_class:
        classes = {plain, numpys_type(plain)}
        others = [v for v in inputs if not classes.issuperset(_members(v))]
        if not others or (plain == FLOAT and all(_is_float_of(v, op) for v in others)):
            return plain
    return None


def _is_float_of(value: Value, op: OpDef) -> bool:
    """Whether an op does to an int what it does to the float next to it."""
    if value.is_constant and type(value.constant) is int:
        return abs(value.constant) <= _MOST_EXACT
    return value.type == INT and op.makes_floats


def numpys_type(plain: Type) -> ScalarType:
    """Give NumPy's numbers of the same dtype."""
    dtype = dtype_of(plain)
    assert dtype is not None
    return ScalarType(dtype)


def _members(value: Value) -> tuple[Type, ...]:
    return value.type.members if isinstance(value.type, UnionType) else (value.type,)


def with_member(
    out: GraphWriter, op: OpDef, inputs: Sequence[Value], union: Value, member: Value
) -> tuple[Value, ...]:
    """Give the operands with another value for a Union."""
    items = _index_items(op, inputs)
    narrowed = [member if value is union else value for value in inputs]
    if union in items:
        index = inputs[1].node
        assert index is not None
        narrow = [member if item is union else item for item in items]
        narrowed[1] = out.append(index.op, narrow, like=index).output
    return tuple(narrowed)


def _is_of_part(op: OpDef, inputs: Sequence[Value]) -> bool:
    """Whether operand 1 says which elements of an array the op is about."""
    if not inputs or not isinstance(inputs[0].type, ArrayType):
        return False
    of_arrays = get_op(op.numpy) if op.numpy is not None else op
    return of_arrays.reads_part or of_arrays.writes_part


def _index_items(op: OpDef, inputs: Sequence[Value]) -> Sequence[Value]:
    index = inputs[1].node if _is_of_part(op, inputs) else None
    return index.inputs if index is not None and index.op is get_op("prim::TupleConstruct") else ()
