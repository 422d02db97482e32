"""Reductions of a few elements, as `OpDef.symbolic` runs them: on object arrays of `passes/containers/symbols.py`.

Sums add in NumPy's order: one after the other, or in eight parts, so that the bits are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["SYMBOLIC_REDUCTIONS", "norm_of_few", "vdot_of_few"]

_PARTS = 8  # that NumPy adds side by side


def _total(xs: Sequence[Any]) -> Any:
    """Add numbers that lie side by side in memory to zero: the sum of negative zeros is 0.0."""
    total = _added(xs)
    dtype = total.type.dtype
    return total + dtype.type(0) if dtype.kind in "fc" else total


def _added(xs: Sequence[Any]) -> Any:
    if len(xs) < _PARTS:
        result = xs[0]
        for x in xs[1:]:
            result = result + x
        return result
    parts = list(xs[:_PARTS])
    whole = len(xs) - len(xs) % _PARTS
    for start in range(_PARTS, whole, _PARTS):
        parts = [a + b for a, b in zip(parts, xs[start : start + _PARTS], strict=True)]
    while len(parts) > 1:
        parts = [a + b for a, b in zip(parts[::2], parts[1::2], strict=True)]
    result = parts[0]
    for x in xs[whole:]:
        result = result + x
    return result


def _in_order(step: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any]], Any]:
    def reduce(xs: Sequence[Any]) -> Any:
        result = xs[0]
        for x in xs[1:]:
            result = step(result, x)
        return result

    return reduce


def _reduced(
    reduce: Callable[[Sequence[Any]], Any], a: np.ndarray, axis: object, keepdims: bool
) -> Any:
    """Reduce over one axis or all; several axes are left to NumPy."""
    if axis is None:
        result = reduce(list(a.flat))
        return result if not keepdims else _filled((1,) * a.ndim, [result])
    if not isinstance(axis, int):
        raise TypeError(axis)
    lines = np.moveaxis(a, axis, -1)
    results = [reduce(list(lines[at])) for at in np.ndindex(lines.shape[:-1])]
    if a.ndim == 1 and not keepdims:
        return results[0]
    made = _filled(lines.shape[:-1], results)
    return np.expand_dims(made, axis) if keepdims else made


def _filled(shape: tuple[int, ...], items: Sequence[Any]) -> np.ndarray:
    made = np.empty(shape, object)
    for at, item in zip(np.ndindex(shape), items, strict=True):
        made[at] = item
    return made


def _symbolic(
    reduce: Callable[[Sequence[Any]], Any], *, converts: bool = True
) -> Callable[..., Any]:
    def symbolic(
        a: Any, *, axis: object = None, dtype: object = None, keepdims: bool = False
    ) -> Any:
        if not isinstance(a, np.ndarray) or dtype is not None or not a.size:
            raise TypeError(dtype)
        if converts:
            a = _filled(a.shape, [_accumulated(x) for x in a.flat])
        return _reduced(reduce, a, axis, keepdims)

    return symbolic


def _accumulated(x: Any) -> Any:
    """Sums of small integers are made in the widest integer."""
    if not hasattr(x, "as_dtype"):
        return x
    dtype = x.type.dtype
    if dtype.kind not in "biu":
        return x
    return x.as_dtype(np.dtype(np.uint64 if dtype.kind == "u" else np.int64))


def _mean(xs: Sequence[Any]) -> Any:
    xs = [x.as_dtype(np.dtype(float)) if x.type.dtype.kind in "biu" else x for x in xs]
    total = _total(xs)
    return total / total.type.dtype.type(len(xs))


def _truth(op: str) -> Callable[[Sequence[Any]], Any]:
    def reduce(xs: Sequence[Any]) -> Any:
        truths = [x.as_dtype(np.dtype(bool)) for x in xs]
        return _in_order(lambda x, y: x.apply(op, y))(truths)

    return reduce


SYMBOLIC_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _symbolic(_total),
    "prod": _symbolic(_in_order(lambda x, y: x * y)),
    "mean": _symbolic(_mean, converts=False),
    "any": _symbolic(_truth("np::logical_or"), converts=False),
    "all": _symbolic(_truth("np::logical_and"), converts=False),
    "min": _symbolic(_in_order(lambda x, y: x.apply("np::minimum", y)), converts=False),
    "max": _symbolic(_in_order(lambda x, y: x.apply("np::maximum", y)), converts=False),
}


def norm_of_few(x: Any, ord: Any = None) -> Any:  # NumPy's name
    """``np.linalg.norm`` of real numbers: the root of the sum of squares."""
    if ord is not None or not isinstance(x, np.ndarray):
        raise TypeError(ord)
    numbers = [e.as_dtype(np.dtype(float)) if e.type.dtype.kind in "biu" else e for e in x.flat]
    if any(e.type.dtype.kind != "f" for e in numbers):
        raise TypeError("complex numbers")
    return _in_order(lambda a, b: a + b)([e * e for e in numbers]).apply("np::sqrt")


def vdot_of_few(a: np.ndarray, b: np.ndarray) -> Any:
    """``np.vdot`` of real numbers."""
    if any(x.type.dtype.kind == "c" for x in (*a.flat, *b.flat)):
        raise TypeError("complex numbers")
    return np.dot(a.ravel(), b.ravel())
