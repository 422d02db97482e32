"""Functions of NumPy that are formulas on each element: round, isclose, nan_to_num, sinc.

They compute what NumPy computes, in its order. Native code takes float32 and float64 alone, and options that are
constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.convert import as_numpy_bool, convert
from ljit.ops.arrays.rules import (
    Kind,
    element_of,
    elementwise_result,
    kinds_of,
    layout_like,
    strong_kind,
)
from ljit.records import Record
from ljit.types import ANY, ArrayType, ScalarType, Type

__all__: list[str] = []

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_BOOL = np.dtype(bool)
_MOST_DECIMALS = 22  # whose power of ten is exact


class Formula(Record):
    """Operands are converted to one dtype; both rules give None where they do not know."""

    operand: Callable[[tuple[Kind, ...]], np.dtype | None]
    result: Callable[[np.dtype], np.dtype]
    body: Callable[..., V]
    takes: Callable[..., bool]  # whether native code knows the attributes

    def dtype(self, types: tuple[Type, ...], attrs: dict[str, Any]) -> np.dtype | None:
        kinds = kinds_of(types)
        if kinds is None or not self.takes(**attrs):
            return None
        return self.operand(kinds)

    def infer(self, *types: Type, **attrs: Any) -> Type:
        dtype = self.dtype(types, attrs)
        return ANY if dtype is None else elementwise_result(types, self.result(dtype))

    def effects(self, *types: Type, **attrs: Any) -> Effect:
        if self.infer(*types, **attrs) == ANY:
            return Effect.CALL
        arrays = [t for t in types if isinstance(t, ArrayType)]
        effect = Effect.READ if arrays else Effect.PURE
        if any(t.ndim for t in arrays):
            effect |= Effect.ALLOC
        return effect | Effect.RAISE if len(arrays) > 1 else effect

    def can_lower(self, *types: Type, **attrs: Any) -> bool:
        return self.infer(*types, **attrs) != ANY

    def lower(self, e: Emitter, *xs: V, **attrs: Any) -> V:
        types = tuple(element_of(x.type) for x in xs)
        dtype = self.dtype(types, attrs)
        assert dtype is not None
        return self.body(e, *(convert(e, x, dtype) for x in xs), **attrs)


def _declare(function: Callable[..., Any], schema: str, formula: Formula, **fields: Any) -> None:
    declare(
        OpDef(
            f"np::{function.__name__}",
            Schema(schema),
            f"``np.{function.__name__}``",
            infer=formula.infer,
            evaluate=function,
            lower=formula.lower,
            can_lower=formula.can_lower,
            effects=formula.effects,
            callables=(function,),
            elementwise=True,
            **fields,
        )
    )


def _common_float(kinds: tuple[Kind, ...]) -> np.dtype | None:
    """The operands' dtype if all are NumPy's floats of one size, or all are doubles and Python's numbers."""
    dtypes = {strong_kind(kind) for kind in kinds if isinstance(kind, np.dtype)}
    if len(dtypes) > 1 or not dtypes <= set(_FLOATS):
        return None
    weak = {kind for kind in kinds if not isinstance(kind, np.dtype)}
    dtype = dtypes.pop() if dtypes else _FLOATS[1]
    if weak - {float} or (weak and dtype != _FLOATS[1]):
        return None
    return dtype


def _same(dtype: np.dtype) -> np.dtype:
    return dtype


def _is_number(x: object) -> bool:
    """Whether a constant is one of Python's numbers that NumPy does not take as an object."""
    return type(x) is float or (type(x) is int and -(2**63) <= x < 2**64)


# -- np.isclose --------------------------------------------------------------------------------------


def _takes_tolerances(*, rtol: object = 0, atol: object = 0, equal_nan: object = False) -> bool:
    finite = all(_is_number(x) and math.isfinite(x) for x in (rtol, atol))  # type: ignore[arg-type]
    return finite and type(equal_nan) is bool


def _is_close(
    e: Emitter, x: V, y: V, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> V:
    size = e.intrinsic("fabs", y)
    limit = e.add(float(atol), e.mul(float(rtol), size))
    near = e.compare("le", e.intrinsic("fabs", e.sub(x, y)), limit)
    is_finite = e.compare("lt", size, math.inf)
    result = e.bit_or(e.bit_and(near, is_finite), e.compare("eq", x, y))
    if equal_nan:
        result = e.bit_or(result, e.bit_and(e.compare("ne", x, x), e.compare("ne", y, y)))
    return as_numpy_bool(e, result)


_declare(
    np.isclose,
    "(a, b, *, rtol=1e-05, atol=1e-08, equal_nan=False)",
    Formula(_common_float, lambda _: _BOOL, _is_close, _takes_tolerances),
    samples=((np.array([1.0, 2.0]), 1.0), (np.float64(1.5), np.float64(1.5))),
)

# -- np.nan_to_num -----------------------------------------------------------------------------------


def _float_or_int(kinds: tuple[Kind, ...]) -> np.dtype | None:
    """The dtype of ints and bools, too: they are copied."""
    (kind,) = kinds
    if isinstance(kind, np.dtype) and kind.kind in "biu":
        return kind
    return _common_float(kinds)


def _takes_replacements(
    *, copy: object = True, nan: object = 0, posinf: object = None, neginf: object = None
) -> bool:
    ends = all(x is None or _is_number(x) for x in (posinf, neginf))
    return copy is True and _is_number(nan) and ends


def _nan_to_num(
    e: Emitter,
    x: V,
    *,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> V:
    assert copy and isinstance(x.type, ScalarType)
    if x.type.dtype.kind != "f":
        return x
    largest = float(np.finfo(x.type.dtype).max)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    result = x
    for end, replacement in ((math.inf, high), (-math.inf, low)):
        is_end = e.compare("eq", x, end)
        result = e.select(is_end, float(replacement), result)
    return e.select(e.compare("ne", x, x), float(nan), result)


_declare(
    np.nan_to_num,
    "(x, *, copy=True, nan=0.0, posinf=None, neginf=None)",
    Formula(_float_or_int, _same, _nan_to_num, _takes_replacements),
    samples=((np.array([1.0, np.nan, np.inf]),), (np.float64(-np.inf),)),
)

# -- np.sinc -----------------------------------------------------------------------------------------


def _sinc(e: Emitter, x: V) -> V:
    assert isinstance(x.type, ScalarType)
    eps = e.const(x.type, float(np.finfo(x.type.dtype).eps))
    angle = e.mul(math.pi, x)
    angle = e.select(e.compare("eq", angle, 0.0), eps, angle)
    return e.div(e.elementary("sin", angle), angle)


_declare(
    np.sinc,
    "(x)",
    Formula(_common_float, _same, _sinc, lambda: True),
    samples=((np.array([0.0, 0.5, -2.25]),), (np.float64(0.75),)),
)

# -- np.round ----------------------------------------------------------------------------------------


def _infer_round(a: Type, *, decimals: object = 0) -> Type:
    if not isinstance(a, ArrayType | ScalarType) or a.dtype.kind not in "iufc":
        return ANY
    if not isinstance(decimals, int | np.integer):  # the method and the function have other errors
        return ANY
    if isinstance(a, ScalarType):
        return a
    return ArrayType(a.dtype, a.shape, layout_like((a,), a.ndim)) if a.ndim else ANY


def _can_round(a: Type, *, decimals: object = 0) -> bool:
    known = type(decimals) is int and abs(decimals) <= _MOST_DECIMALS
    return known and _infer_round(a) != ANY and a.dtype in _FLOATS  # type: ignore[attr-defined]


def _lower_round(e: Emitter, x: V, *, decimals: int = 0) -> V:
    if not decimals:
        return e.intrinsic("rint", x)
    power = e.const(x.type, float(10 ** abs(decimals)))
    if decimals > 0:
        return e.div(e.intrinsic("rint", e.mul(x, power)), power)
    return e.mul(e.intrinsic("rint", e.div(x, power)), power)


def _round_effects(a: Type, *, decimals: object = 0) -> Effect:
    if _infer_round(a, decimals=decimals) == ANY:
        return Effect.CALL
    if _can_round(a, decimals=decimals):
        return Effect.READ | Effect.ALLOC if isinstance(a, ArrayType) else Effect.PURE
    return Effect.READ | Effect.RAISE | (Effect.ALLOC if isinstance(a, ArrayType) else Effect.PURE)


for _name in ("round", "around"):
    declare(
        OpDef(
            f"np::{_name}",
            Schema("(a, *, decimals=0)"),
            f"``np.{_name}``",
            infer=_infer_round,
            evaluate=getattr(np, _name),
            lower=_lower_round,
            can_lower=_can_round,
            effects=_round_effects,
            callables=(getattr(np, _name),),
            methods=("ndarray.round", "generic.round") if _name == "round" else (),
            elementwise=True,
            instructions=5,
            samples=((np.array([[1, 2], [3, 4]]) / 7,),),
        )
    )
