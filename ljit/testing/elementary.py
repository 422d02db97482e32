"""Elementary functions by themselves: compiled as one loop over arrays; the error of results (it takes mpmath)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from mpmath import mp, mpf

from ljit.codegen import mathlib
from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.engine import CompiledModule, compile_ir

__all__ = ["BINARY", "NUMPY", "bound_loop", "compiled_loop", "errors_in_ulp", "evaluate", "exact"]

#: exponents for which there are functions
POWERS = {"m3": -3.0, "m2_5": -2.5, "m2": -2.0, "m1_5": -1.5, "m0_5": -0.5, "1_5": 1.5, "2_5": 2.5}


def _power(exponent: float) -> Callable[[np.ndarray], np.ndarray]:
    def power(x: np.ndarray) -> np.ndarray:
        return np.power(x, exponent)  # type: ignore[no-any-return]

    power.__name__ = f"power {exponent:g}"
    return power


def _exact_power(exponent: float, x: mpf) -> mpf:
    return x ** mpf(exponent)


BINARY = {"atan2", "fmod", "hypot", "pow"}
#: NumPy's functions whose names are not C's
NUMPY: dict[str, Callable[..., np.ndarray]] = {
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "pow": np.power,
    **{f"pow_{name}": _power(by) for name, by in POWERS.items()},
}
_EXACT: dict[str, Callable[..., mpf]] = {
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "exp2": lambda x: mpf(2) ** x,
    "log2": lambda x: mp.log(x, 2),
    "pow": lambda x, y: x**y,
    "expm1": mp.expm1,
    "fmod": lambda x, y: mpf(math.fmod(x, y)),  # C's is exact
    **{f"pow_{name}": partial(_exact_power, by) for name, by in POWERS.items()},
}
_TYPES = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}


@cache
def compiled_loop(name: str, type_: str, arity: int) -> CompiledModule:
    """``void loop(out, n, x...)``: the function in a loop that LLVM vectorises."""
    module = ModuleBuilder("elementary")
    called = mathlib.declare_shared(module, name, type_, arity)
    operands = range(arity)
    loads = "\n".join(
        f"  %p{i} = getelementptr {type_}, ptr %x{i}, i64 %k\n  %v{i} = load {type_}, ptr %p{i}"
        for i in operands
    )
    pointers = ", ".join(f"ptr noalias %x{i}" for i in operands)
    values = ", ".join(f"{type_} %v{i}" for i in operands)
    text = f"""
{module.render()}
define void @loop(ptr noalias %out, i64 %n, {pointers}) {{
entry:
  br label %trip
trip:
  %k = phi i64 [ 0, %entry ], [ %next, %trip ]
{loads}
  %result = call {type_} @{called}({values})
  %place = getelementptr {type_}, ptr %out, i64 %k
  store {type_} %result, ptr %place
  %next = add nuw nsw i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %trip, label %done
done:
  ret void
}}
"""
    return compile_ir(text, "loop", find=mathlib.shared_symbols)


def bound_loop(name: str, out: np.ndarray, *xs: np.ndarray) -> Callable[[], None]:
    """A call of the function for these contiguous arrays of one shape and dtype, with at least one element."""
    module = compiled_loop(name, _TYPES[out.dtype], len(xs))
    pointers = [ctypes.c_void_p] * len(xs)
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *pointers)(module.address)
    return partial(loop, out.ctypes.data, out.size, *(x.ctypes.data for x in xs))


def evaluate(name: str, *xs: np.ndarray) -> np.ndarray:
    """The function of arrays of one shape and dtype, with at least one element."""
    xs = tuple(map(np.ascontiguousarray, xs))
    out = np.empty_like(xs[0])
    bound_loop(name, out, *xs)()
    return out


def exact(name: str, *xs: np.ndarray) -> np.ndarray:
    """Results as long doubles, from mpmath; operands must be finite, and the function real there."""
    function = _EXACT.get(name) or getattr(mp, name)
    with mp.workprec(2200 if name == "log1p" else 400):
        values = [function(*map(mpf, map(float, operands))) for operands in zip(*xs, strict=True)]
        return np.array([_long_double(value) for value in values])


def _long_double(x: mpf) -> np.longdouble:
    """The nearest long double but for the last bit: a sum of two doubles, scaled so that none is subnormal."""
    fraction, exponent = mp.frexp(x)
    high = float(fraction)
    total = np.longdouble(high) + np.longdouble(float(fraction - high))
    return np.longdouble(np.ldexp(total, int(exponent)))


def errors_in_ulp(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far results are from exact values of a wider type, in units in the last place of the exact ones.

    Where both are NaN or the same infinity the error is 0; where only one is, or a zero has the wrong sign, it is
    infinite.
    """
    with np.errstate(all="ignore"):
        rounded = exact.astype(found.dtype)
    finite = np.isfinite(found) & np.isfinite(rounded)
    same = (np.isnan(found) & np.isnan(rounded)) | (found == rounded)
    limits = np.finfo(found.dtype)
    fraction, exponent = np.frexp(np.abs(np.where(finite, exact, 1)))
    least = limits.minexp - limits.nmant
    exponent = np.maximum(np.where(fraction == 0, least, exponent - 1 - limits.nmant), least)
    wide = exact.dtype.type
    with np.errstate(all="ignore"):
        difference = np.where(finite, np.abs(found.astype(wide) - exact), 0)
    errors = np.where(finite, np.ldexp(difference, -exponent), np.where(same, 0, np.inf))
    zeros = finite & (found == 0) & (np.signbit(found) != np.signbit(exact))
    return np.where(zeros, np.inf, errors).astype(float)
