"""Whole powers of complex numbers: the products that NumPy makes, in its order; results are the same to the bit."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.rules import elementwise_result, kinds_of
from ljit.ops.python.numbers import complex_product
from ljit.types import ANY, ArrayType, Type

__all__: list[str] = []


def _is_plain() -> bool:
    """Whether NumPy's loop rounds each product; compiled with fused multiply-add it would not."""
    x = np.array([complex(1 + 2**-30, 1 - 2**-31)])
    a, b = x.real, x.imag
    return bool(np.power(x, 2).real[0] == (a * a - b * b)[0])


_IS_PLAIN = _is_plain()


def _infer(z: Type, *, exponent: object) -> Type:
    kinds = kinds_of((z,))
    if kinds is None or type(exponent) is not int or not _IS_PLAIN:
        return ANY
    dtype = np.dtype(kinds[0])
    return elementwise_result((z,), dtype) if dtype.kind == "c" else ANY


def _effects(z: Type, *, exponent: object) -> Effect:
    if _infer(z, exponent=exponent) == ANY:
        return Effect.CALL
    if not isinstance(z, ArrayType):
        return Effect.PURE
    return Effect.READ | Effect.ALLOC if z.ndim else Effect.READ


def _product(e: Emitter, x: V, y: V) -> V:
    return e.complex(*complex_product(e, x, y), x.type)


def _number(e: Emitter, z: V, real: float, imag: float = 0.0) -> V:
    part = e.real(z).type
    return e.complex(e.const(part, real), e.const(part, imag), z.type)


def _lower(e: Emitter, z: V, *, exponent: int) -> V:
    z = e.retype(z, _infer(z.type, exponent=exponent))
    if exponent == 0:
        return _number(e, z, 1.0)
    if 0 < exponent <= 3:
        result = reduce(lambda x, _: _product(e, z, x), range(exponent - 1), z)
    else:
        result = _power(e, z, abs(exponent))
    of_zero = _number(e, z, 0.0)
    if exponent < 0:
        divide = get_op("np::divide").lower
        assert divide is not None
        result = divide(e, _number(e, z, 1.0), result)
        of_zero = _number(e, z, float("nan"), float("nan"))
    is_zero = e.bit_and(e.compare("eq", e.real(z), 0.0), e.compare("eq", e.imag(z), 0.0))
    real, imag = (e.select(is_zero, part(of_zero), part(result)) for part in (e.real, e.imag))
    return e.complex(real, imag, z.type)


def _power(e: Emitter, z: V, exponent: int) -> V:
    """Multiply the squares that the exponent's bits choose."""
    result, square = _number(e, z, 1.0), z
    while True:
        if exponent & 1:
            result = _product(e, result, square)
        exponent >>= 1
        if not exponent:
            return result
        square = _product(e, square, square)


def _evaluate(z: Any, *, exponent: int) -> Any:
    return np.power(z, exponent)


declare(
    OpDef(
        "np::whole_power",
        Schema("(z, *, exponent)"),
        "``z ** exponent`` of complex numbers by products.",
        infer=_infer,
        evaluate=_evaluate,
        lower=_lower,
        effects=_effects,
        elementwise=True,
    )
)
