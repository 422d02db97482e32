"""Rounding, roots and the transcendental ufuncs.

Transcendentals are correct to one unit in the last place, as NumPy's own code is; the last bit may differ between the
two. Those of complex numbers are made of real ones, or the C library's own, as in NumPy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ir.range_rules import RangeRules
from ljit.ops.arrays.versions import INVERSES_OF_C_LIBRARY
from ljit.ops.ranges import float_bounds
from ljit.ops.ufuncs import complex_numbers
from ljit.ops.ufuncs.ufuncs import Blocks, Limits, declare_ufunc, scalar_type_of

__all__: list[str] = []


def _rounding(name: str) -> Callable[..., V]:
    def body(e: Emitter, x: V) -> V:
        return e.intrinsic(name, x) if scalar_type_of(x).dtype.kind == "f" else x

    return body


def _library(name: str) -> Callable[..., V]:
    """The function of the C library, which NumPy itself calls for complex numbers."""

    def body(e: Emitter, *xs: V) -> V:
        if scalar_type_of(xs[0]).dtype.kind == "c":
            return e.math("c" + name, *xs)
        return e.elementary(name, *xs)

    return body


def _sqrt(e: Emitter, x: V) -> V:
    if scalar_type_of(x).dtype.kind == "c":
        return complex_numbers.sqrt(e, x)
    return e.intrinsic("sqrt", x)


def _exp(e: Emitter, x: V) -> V:
    if scalar_type_of(x).dtype.kind == "c":
        return complex_numbers.exp(e, x)
    return e.elementary("exp", x)


def _log(e: Emitter, x: V) -> V:
    if scalar_type_of(x).dtype.kind == "c":
        return complex_numbers.log(e, x)
    return e.elementary("log", x)


def _logaddexp(e: Emitter, x: V, y: V) -> V:
    """The logarithm of ``exp(x) + exp(y)``."""
    return _log_of_sum(
        e, x, y, lambda d: e.elementary("log1p", e.elementary("exp", d)), np.log(2.0)
    )


def _logaddexp2(e: Emitter, x: V, y: V) -> V:
    """The same to base 2."""

    def rest(d: V) -> V:
        scale = e.const(d.type, float(1 / np.log(2.0)))
        return e.mul(scale, e.elementary("log1p", e.elementary("exp2", d)))

    return _log_of_sum(e, x, y, rest, 1.0)


def _log_of_sum(e: Emitter, x: V, y: V, rest: Callable[[V], V], log2: float) -> V:
    """The larger operand and what `rest` makes of their negative distance; equal infinities have no distance."""
    difference = e.sub(x, y)
    larger = e.select(e.compare("gt", difference, 0.0), x, y)
    total = e.add(larger, rest(e.neg(e.intrinsic("fabs", difference))))
    is_nan = e.compare("ne", difference, difference)
    same = e.add(x, float(log2))
    return e.select(e.compare("eq", x, y), same, e.select(is_nan, difference, total))


_ROUNDINGS: dict[np.ufunc, Callable[[float], float]] = {
    np.floor: math.floor,
    np.ceil: math.ceil,
    np.trunc: math.trunc,
    np.rint: round,
}
for _function, _on_float in _ROUNDINGS.items():
    declare_ufunc(
        _function,
        _rounding(_function.__name__),
        "f" if _function is np.rint else "biuf",
        instructions=1,
        ranges=RangeRules(floats=float_bounds.monotone(_on_float)),
    )
declare_ufunc(
    np.sqrt, _sqrt, "fc", instructions=4, ranges=RangeRules(floats=float_bounds.root(raises=False))
)

_C_NAMES: dict[np.ufunc, str] = {
    np.cbrt: "cbrt",
    np.exp2: "exp2",
    np.expm1: "expm1",
    np.log2: "log2",
    np.log10: "log10",
    np.log1p: "log1p",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arcsin: "asin",
    np.arccos: "acos",
    np.arctan: "atan",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.arcsinh: "asinh",
    np.arccosh: "acosh",
    np.arctanh: "atanh",
    np.arctan2: "atan2",
    np.hypot: "hypot",
}
_INVERSES = (np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh)
#: what NumPy has no vectors for in float64, or as slow ones as ljit
_ONLY_SHORT = (np.sin, np.cos, np.arctan2)
_LARGEST = float(np.finfo("f").max)
_BELOW_ONE = {char: float(np.nextafter(np.ones((), char), np.zeros((), char))) for char in "fd"}
_UNIT: Limits = ((-1.0, 1.0),)
_POSITIVE: Limits = ((float(np.finfo("f").tiny), _LARGEST),)
#: the dtypes for which ljit's own function of rows takes at most 0.9 of the time of NumPy's loop with such vectors, by
#: C's name (measured on a Cascade Lake)
_ROWS: dict[str, str] = {
    **dict.fromkeys(("cbrt", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh"), "d"),
    "exp": "fd",
    "cos": "f",
    "sin": "f",
}
#: where loops with vectors of 64 bytes take at most about 0.8 of the time of ljit's functions for one vector: NumPy's,
#: and the operands for which they do, as all others are done one by one; or the name of ljit's own.
#: benchmarks/elementary_functions.py measures NumPy's (these: on a Zen 5); no machine without such vectors is asked
#: (`has_wide_vectors`)
_BLOCKS: dict[np.ufunc, Blocks] = {
    np.arccos: {"f": _UNIT},
    np.arccosh: {"f": ((1.0001, _LARGEST),)},
    np.arcsin: {"f": _UNIT},
    np.arcsinh: {"f": (), "d": ()},
    np.arctan: {"f": ()},
    np.arctan2: {"f": ((-_LARGEST, _LARGEST),) * 2},
    np.arctanh: {char: ((-one, one),) for char, one in _BELOW_ONE.items()},
    np.cbrt: {"f": (), "d": "cbrt"},
    np.cosh: {"f": ((-86.0, 86.0),)},
    np.exp2: {"f": ((-126.0, 126.0),)},
    np.expm1: {"f": ((-86.0, 86.0),)},
    np.log10: {"f": _POSITIVE},
    np.log1p: {"f": ((-_BELOW_ONE["f"], 1e30),)},
    np.log2: {"f": _POSITIVE},
    np.sinh: {"f": ((-86.0, 86.0),)},
    np.tan: {"f": ((-1024.0, 1024.0),)},
    np.tanh: {"f": (), "d": "tanh"},
}
_COMPLEX: dict[np.ufunc, Callable[..., V]] = {
    np.exp2: complex_numbers.exp2,
    np.expm1: complex_numbers.expm1,
    np.log2: complex_numbers.log2,
    np.log10: complex_numbers.log10,
    np.log1p: complex_numbers.log1p,
}


def _rows(name: str) -> dict[str, str]:
    return dict.fromkeys(_ROWS.get(name, ""), name)


def _elementary(name: str, of_complex: Callable[..., V] | None) -> Callable[..., V]:
    of_real = _library(name)
    if of_complex is None:
        return of_real

    def body(e: Emitter, x: V) -> V:
        return (of_complex if scalar_type_of(x).dtype.kind == "c" else of_real)(e, x)

    return body


for _function, _c_name in _C_NAMES.items():
    _is_native = os.name == "posix" and (INVERSES_OF_C_LIBRARY or _function not in _INVERSES)
    _kinds = "fc" if "D->D" in _function.types and _is_native else "f"
    _wide = "ef" if _function in _ONLY_SHORT else "efd"
    declare_ufunc(
        _function,
        _elementary(_c_name, _COMPLEX.get(_function)),
        _kinds,
        wide=_wide,
        rows=_rows(_c_name),
        blocks=_BLOCKS.get(_function, {}),
    )
declare_ufunc(np.exp, _exp, "fc", wide="efd", rows=_rows("exp"))
declare_ufunc(np.log, _log, "fc", wide="efd", rows=_rows("log"), blocks={"f": ()})
declare_ufunc(np.logaddexp, _logaddexp, "f")
declare_ufunc(np.logaddexp2, _logaddexp2, "f")
