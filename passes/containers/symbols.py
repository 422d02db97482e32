"""Symbols: stand-ins for the elements of small arrays.

NumPy's own functions work on object arrays of symbols: they index, transpose, stack and multiply them, and what they
do is noted as nodes of the graph. So no shape rule of NumPy is written a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ljit.ir import UNKNOWN, Node, OpDef, Value, get_op
from ljit.ir.trials import ExpansionError
from ljit.passes.rewriting import insert_constant
from ljit.types import ANY, ScalarType, Type
from ljit.unique import forgets_classes

__all__ = ["Symbol", "emit"]


class Symbol:
    """One element. Arithmetic makes nodes in front of `before`; `read` makes the value when it is needed."""

    __slots__ = ("_read", "_value", "before", "type")
    is_symbol = True

    def __init__(self, before: Node, type_: Type, read: Value | Callable[[], Value]) -> None:
        self.before = before
        self.type = type_
        self._value = read if isinstance(read, Value) else None
        self._read = read

    @property
    def value(self) -> Value:
        if self._value is None:
            assert not isinstance(self._read, Value)
            self._value = self._read()
        return self._value

    def apply(self, op: str, *others: object, **attrs: object) -> Symbol:
        """Give the result of an op on this element and others (symbols or numbers)."""
        operands = [self.value, *(_as_value(x, self.before) for x in others)]
        made = emit(get_op(op), operands, attrs, self.before)
        return Symbol(self.before, made.type, made)

    def as_dtype(self, dtype: np.dtype, *, wraps: bool = True) -> Symbol:
        """Give the element as one of another dtype; `wraps`: as ``astype`` does."""
        if self.type == ScalarType(dtype):
            return self
        return self.apply("np::as_element", dtype=dtype, wraps=wraps)

    def __add__(self, other: object) -> Symbol:
        return self.apply("np::add", other)

    def __radd__(self, other: object) -> Symbol:
        return Symbol(self.before, ANY, _as_value(other, self.before)).apply("np::add", self)

    def __sub__(self, other: object) -> Symbol:
        return self.apply("np::subtract", other)

    def __mul__(self, other: object) -> Symbol:
        return self.apply("np::multiply", other)

    def __truediv__(self, other: object) -> Symbol:
        return self.apply("np::divide", other)

    def __neg__(self) -> Symbol:
        return self.apply("np::negative")

    def __bool__(self) -> bool:
        raise ExpansionError("whether an element is true is not known")

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ExpansionError("whether elements are equal is not known")


def _as_value(x: object, before: Node) -> Value:
    if isinstance(x, Symbol):
        return x.value
    if isinstance(x, Value):
        return x
    return insert_constant(x, before)


def emit(op: OpDef, operands: Sequence[Value], attrs: Mapping[str, object], before: Node) -> Value:
    """Make a node on scalars; ExpansionError if native code does not know it."""
    types = tuple([v.type for v in operands])
    result = _known_result(op, types) if not attrs else _result(op, types, attrs)
    if result is None:
        raise ExpansionError(op.name)
    folded = _folded(op, operands, attrs)
    if folded is not UNKNOWN:
        return insert_constant(folded, before, result)
    made = before.graph.create(op, operands, attrs, outputs=[result], like=before)
    return made.insert_before(before).output


@forgets_classes
@lru_cache(maxsize=4096)
def _known_result(op: OpDef, types: tuple[Type, ...]) -> Type | None:
    return _result(op, types, {})


def _result(op: OpDef, types: tuple[Type, ...], attrs: Mapping[str, object]) -> Type | None:
    """The type of an op's result; None if native code does not compute it."""
    if not op.has_lowering(types, attrs):
        return None
    results = op.infer_types(types, attrs)
    return results[0] if len(results) == 1 and results[0] != ANY else None


def _folded(op: OpDef, operands: Sequence[Value], attrs: Mapping[str, object]) -> object:
    """Convert constants now; arithmetic is left to `constant_propagation`."""
    if op is not get_op("np::as_element") or not operands[0].is_constant:
        return UNKNOWN
    assert op.evaluate is not None
    try:
        return op.evaluate(operands[0].constant, **attrs)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
