"""NumPy's scalar classes as functions, ``np.float32(x)``, and ``astype``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import Effect, Node, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Bounds, RangeRules, Symbolic
from ljit.ops.arrays.boxed import chosen_dtype, sharing_effects
from ljit.ops.arrays.convert import can_store, store_can_bail, store_convert, store_scalar
from ljit.ops.arrays.rules import dtype_of, element_of, is_scalar, layout_like
from ljit.ops.python.types import class_of
from ljit.ops.ranges import float_bounds
from ljit.ops.ranges.int_bounds import UNKNOWN, is_either_int, is_int
from ljit.types import ANY, INT, NATIVE_KINDS, ArrayType, ScalarType, Type, join

__all__: list[str] = []


class _Constructor:
    """The rules of one scalar class; a number that does not fit bails."""

    def __init__(self, dtype: np.dtype) -> None:
        self.type = ScalarType(dtype)

    def infer(self, *x: Type) -> Type:
        return self.type if all(map(is_scalar, x)) else ANY

    def effects(self, *x: Type) -> Effect:
        if self.infer(*x) == ANY:
            return Effect.CALL
        return Effect.PURE if self._is_total(x) else Effect.RAISE

    def _is_total(self, x: tuple[Type, ...]) -> bool:
        if not self.can_lower(*x):
            return False
        is_narrowing = isinstance(x[0], ScalarType) and not np.can_cast(x[0].dtype, self.type.dtype)
        return not (is_narrowing or store_can_bail(x[0], self.type.dtype))

    def can_lower(self, *x: Type) -> bool:
        return len(x) == 1 and is_scalar(x[0]) and can_store(x[0], self.type.dtype)

    def lower(self, e: Emitter, x: V) -> V:
        return store_scalar(e, x, self.type.dtype)


def _declare_constructor(dtype: np.dtype) -> None:
    rules = _Constructor(dtype)
    one = dtype.type(1)
    declare(
        OpDef(
            f"np::{dtype.name}",
            Schema("(x=0, /)"),
            f"``np.{dtype.name}(x)``",
            infer=rules.infer,
            evaluate=dtype.type,
            lower=rules.lower,
            can_lower=rules.can_lower,
            effects=rules.effects,
            callables=(dtype.type,),
            samples=((True,), (1,), (np.int8(1),), (one,)),
        )
    )


for _dtype in sorted(NATIVE_KINDS, key=lambda d: d.num):
    _declare_constructor(_dtype)


# -- astype ----------------------------------------------------------------------------------------


def _infer_astype(
    a: Type, *, dtype: object, order: object = "K", casting: object = "unsafe", copy: object = True
) -> Type:
    chosen = None if dtype is None else chosen_dtype(dtype, None)
    if chosen is None or order not in ("K", "C") or casting != "unsafe":
        return ANY
    if isinstance(a, ScalarType):
        return ScalarType(chosen)
    if not isinstance(a, ArrayType):
        return ANY
    if copy is True:
        layout = "C" if order == "C" else layout_like((a,), a.ndim)
        return ArrayType(chosen, a.shape, layout)
    return ArrayType(chosen, a.shape, a.layout, a.writeable)


def _can_lower_astype(a: Type, *, copy: object = True, **attrs: Any) -> bool:
    result = _infer_astype(a, copy=copy, **attrs)
    if copy is not True or not isinstance(result, ArrayType | ScalarType):
        return False
    if isinstance(a, ArrayType) and not a.ndim:
        return False  # gives an array of rank 0, not a scalar
    return can_store(element_of(a), result.dtype)


def _lower_astype(e: Emitter, a: V, *, dtype: object, **_attrs: object) -> V:
    chosen = chosen_dtype(dtype, None)
    assert chosen is not None
    return store_convert(e, a, chosen)


def _keeps_elements(a: Type, *, dtype: object, **_attrs: object) -> bool:
    return isinstance(a, ScalarType) and chosen_dtype(dtype, None) == a.dtype


def _shares(
    a: Type, *, dtype: object, copy: object = True, order: object = "K", **_: object
) -> bool | None:
    """Whether ``astype`` gives the array itself."""
    if copy is True or not isinstance(a, ArrayType) or chosen_dtype(dtype, None) != a.dtype:
        return False
    return True if order == "K" or a.layout == "C" else None


def _astype_effects(a: Type, **attrs: Any) -> Effect:
    result = _infer_astype(a, **attrs)
    if isinstance(a, ScalarType) and isinstance(result, ScalarType):
        bails = not can_store(a, result.dtype) or store_can_bail(a, result.dtype)
        return Effect.RAISE if bails else Effect.PURE
    return sharing_effects(_infer_astype, _shares)(a, **attrs)


declare(
    OpDef(
        "np::astype",
        Schema("(a, *, dtype, order='K', casting='unsafe', copy=True)"),
        "``a.astype(dtype)``; a float that does not fit an integer dtype bails.",
        infer=_infer_astype,
        evaluate=lambda a, **attrs: a.astype(**attrs),
        lower=_lower_astype,
        can_lower=_can_lower_astype,
        effects=_astype_effects,
        methods=("ndarray.astype", "generic.astype"),
        keeps=_keeps_elements,
        parameters=("a", "dtype", "order", "casting"),
        elementwise=True,
        is_cheap=True,
    )
)


# -- the class of a number ---------------------------------------------------------------------------


def _as_number(x: object, *, type: Type) -> object:
    cls = class_of(type)
    assert cls is not None
    return cls(x)


def _same_int(s: Symbolic, node: Node, _index: int) -> Linear | None:
    x = node.inputs[0]
    return s.value(x) if x.type == INT or is_either_int(x.type) else None


def _same_bounds(s: Symbolic, node: Node) -> Bounds:
    x = node.inputs[0]
    return s.bounds(x) if is_int(x.type) or is_either_int(x.type) else UNKNOWN


def _numpys(x: Type) -> Type:
    dtype = dtype_of(x)
    return ANY if dtype is None else ScalarType(dtype)


def _lower_classed(e: Emitter, x: V, is_plain: V) -> V:
    other = _numpys(x.type)
    either = join(x.type, other)
    return e.select(is_plain, e.widen(x, either), e.widen(e.retype(x, other), either))


declare(
    OpDef(
        "np::number",
        Schema("(x, *, type)"),
        "A number, one of NumPy's or Python's own, as one of a class that holds it (`OpDef.number_type`).",
        infer=lambda x, *, type: type,
        evaluate=_as_number,
        lower=lambda e, x, *, type: e.cast(x, type),
        ranges=RangeRules(
            value=_same_int,
            bounds=_same_bounds,
            floats=float_bounds.of_first,
            is_complete=lambda node: True,
        ),
        keeps_unions=True,
    )
)
declare(
    OpDef(
        "np::member",
        Schema("(x, *, type)"),
        "A number of a Union as one of the member `type`: the number if it is one, else any.",
        infer=lambda x, *, type: type,
        evaluate=lambda x, *, type: x,
        lower=lambda e, x, *, type: e.member(x, type),
        keeps=lambda x, *, type: x == type,
        ranges=RangeRules(floats=float_bounds.of_first, is_complete=lambda node: True),
        keeps_unions=True,
    )
)
declare(
    OpDef(
        "np::classed",
        Schema("(x, is_plain)"),
        "One of Python's numbers; unless it `is_plain`, as NumPy's of the same dtype (`OpDef.ignores_class`).",
        infer=lambda x, is_plain: join(x, _numpys(x)),
        evaluate=lambda x, is_plain: x if is_plain else np.asarray(x)[()],
        lower=_lower_classed,
        ranges=RangeRules(value=_same_int, bounds=_same_bounds, floats=float_bounds.of_first),
        samples=((1, True), (-1, False), (2.5, True), (2.5, False), (True, True), (True, False)),
    )
)
