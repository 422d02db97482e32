"""Determinants, inverses, linear equations, Cholesky's factors: the inner loops of ``numpy.linalg``, which call LAPACK.

NumPy computes them in float64 or complex128, whatever it is given, and native code calls the same loop for the same
memory: the results are NumPy's, bit for bit. What takes a small matrix its time is what stands around the loop. A
matrix that has no result (a singular one) comes back as NaN: native code leaves, and NumPy raises. Norms are here,
too: sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir import Value
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.rules import array_of, dtype_of, result_dtype
from ljit.ops.formulas.derived import norm_along, norm_of
from ljit.ops.python.numbers import is_nan
from ljit.ops.reductions.few import norm_of_few
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_LOOPS = np.linalg._umath_linalg  # type: ignore[attr-defined]  # not in the stubs
_FLOAT, _COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)
_VECTOR, _MATRIX = np.arange(3.0), np.arange(9.0).reshape(3, 3) + np.eye(3)
_POSITIVE = _MATRIX @ _MATRIX.T


# -- types -----------------------------------------------------------------------------------------


def _inexact(t: Type) -> np.dtype | None:
    """The dtype of the result; None for float16, which raises."""
    dtype = dtype_of(t)
    if dtype is None or dtype == np.float16:
        return None
    return _FLOAT if dtype.kind in "biu" else dtype


def _infer_norm(
    x: Type, ord: Type = NONE, *, axis: object = None, keepdims: object = False
) -> Type:
    if axis is not None:
        return norm_along(x, axis, keepdims) if ord == NONE else ANY
    dtype = dtype_of(x)
    is_vector = isinstance(x, ArrayType) and x.ndim in (1, 2)
    if dtype is None or not is_vector or ord not in (NONE, INT, FLOAT) or keepdims is not False:
        return ANY
    dtype = _FLOAT if dtype.kind in "biu" else np.empty(0, dtype).real.dtype
    return ScalarType(dtype)


def _infer_square(a: Type) -> Type:
    dtype = _inexact(a)
    if not isinstance(a, ArrayType) or a.ndim not in (2, 3):
        return ANY
    return array_of(dtype, a.shape)


def _infer_cholesky(a: Type, *, upper: object = False) -> Type:
    return _infer_square(a) if upper is False else ANY


def _infer_det(a: Type) -> Type:
    dtype = _inexact(a)
    if not isinstance(a, ArrayType) or a.ndim not in (2, 3) or dtype is None:
        return ANY
    return ScalarType(dtype) if a.ndim == 2 else array_of(dtype, a.shape[:1])


def _infer_solve(a: Type, b: Type) -> Type:
    kinds = (_inexact(a), _inexact(b))
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType) or a.ndim != 2:
        return ANY
    if b.ndim not in (1, 2) or kinds[0] is None or kinds[1] is None:
        return ANY
    return array_of(result_dtype((kinds[0], kinds[1])), b.shape)


def _can_lower(infer: Callable[..., Type]) -> Callable[..., bool]:
    """Whether all is of the dtype that NumPy computes in."""

    def can_lower(*types: Type, **attrs: object) -> bool:
        dtypes = {dtype_of(t) for t in (infer(*types, **attrs), *types)}
        return dtypes in ({_FLOAT}, {_COMPLEX})

    return can_lower


# -- native code -----------------------------------------------------------------------------------


def _in_double(name: str, infer: Callable[..., Type]) -> Callable[..., Value | None]:
    """The rule of matrices of other dtypes: they are cast for it, and so is the result of float32."""

    def decompose(parts: Parts, *operands: Value, **attrs: object) -> Value | None:
        types = [x.type for x in operands]
        result = dtype_of(infer(*types, **attrs))
        if result is None or _can_lower(infer)(*types, **attrs):
            return None
        dtype = _COMPLEX if result.kind == "c" else _FLOAT
        casts = [
            x if dtype_of(x.type) == dtype else parts.apply("np::astype", x, dtype=dtype)
            for x in operands
        ]
        made = parts.apply(name, *casts, **attrs)
        return made if result == dtype else parts.apply("np::astype", made, dtype=result)

    return decompose


def _check_sizes(e: Emitter, a: V, count: V | None = None) -> V:
    """The size of a square matrix that has elements; `count`: of how many numbers the other side has to be."""
    rows, columns = e.array_sizes(a)[-2:]
    e.bail_if(e.compare("ne", rows, columns), "a matrix that is not square")
    e.bail_if(e.compare("lt", rows, e.const(INT, 1)), "a matrix without elements")
    if count is not None:
        e.bail_if(e.compare("ne", rows, count), "equations whose sizes do not fit")
    return rows


def _run(e: Emitter, loop: np.ufunc, arrays: Sequence[V], batch: int, core: Sequence[V]) -> None:
    """Run the loop for all matrices of a stack (of one axis, or none); `core`: the sizes of each."""
    zero, one = e.const(INT, 0), e.const(INT, 1)
    steps = [e.array_strides(a) for a in arrays]
    times = e.array_sizes(arrays[0])[0] if batch else one
    outer = [own[0] if batch else zero for own in steps]
    inner = [step for own in steps for step in own[batch:]]
    work = e.mul(times, e.mul(core[0], e.mul(core[0], core[-1])))
    pairs = [(a, zero) for a in arrays]
    e.inner_loop(loop, pairs, [times, *core], [*outer, *inner], arrays[-1].type, work=work)


def _check_result(e: Emitter, made: V, batch: int) -> None:
    """Leave if the first number of a result is NaN: NumPy says whether there is one."""
    zero = e.const(INT, 0)

    def is_none(at: Sequence[V]) -> V:
        x = e.array_load(made, [*at, *(zero for _ in range(made.type.ndim - batch))])
        return is_nan(e, e.real(x) if made.type.dtype == _COMPLEX else x)

    if batch:
        count, none = e.array_sizes(made)[0], e.const(BOOL, False)
        found = e.fold(count, none, lambda k, found: e.bit_or(found, is_none([k])), 8)
    else:
        found = is_none([])
    e.bail_if(found, "a matrix that has no result, or NaN")


def _lower_square(loop: np.ufunc) -> Callable[..., V]:
    """A matrix of a matrix."""

    def lower(e: Emitter, a: V, **_attrs: object) -> V:
        size, batch = _check_sizes(e, a), a.type.ndim - 2
        made = e.array_new(_infer_square(a.type), e.array_sizes(a), None)
        _run(e, loop, [a, made], batch, [size])
        _check_result(e, made, batch)
        return made

    return lower


def _lower_det(e: Emitter, a: V) -> V:
    size, batch = _check_sizes(e, a), a.type.ndim - 2
    count = e.array_sizes(a)[0] if batch else e.const(INT, 1)
    made = e.array_new(array_of(a.type.dtype, (None,)), [count], None)
    arrays = [a, made]
    if batch:
        _run(e, _LOOPS.det, arrays, 1, [size])
        return made
    _run(e, _LOOPS.det, arrays, 0, [size])
    return e.array_load(made, [e.const(INT, 0)])


def _lower_solve(e: Emitter, a: V, b: V) -> V:
    sizes = e.array_sizes(b)
    size = _check_sizes(e, a, sizes[0])
    if b.type.ndim > 1:
        e.bail_if(e.compare("lt", sizes[1], e.const(INT, 1)), "no right sides")
    made = e.array_new(_infer_solve(a.type, b.type), sizes, None)
    loop = _LOOPS.solve if b.type.ndim > 1 else _LOOPS.solve1
    _run(e, loop, [a, b, made], 0, [size, *sizes[1:]])
    _check_result(e, made, 0)
    return made


# -- the ops ---------------------------------------------------------------------------------------


def _declare(
    name: str,
    schema: str,
    infer: Callable[..., Type],
    lower: Callable[..., V],
    *samples: Any,
    **fields: Any,
) -> None:
    declare_function(
        f"linalg.{name}",
        schema,
        infer,
        getattr(np.linalg, name),
        lower=lower,
        can_lower=_can_lower(infer),
        decompose=_in_double(f"np::linalg.{name}", infer),
        samples=samples,
        **fields,
    )


_declare("solve", "(a, b)", _infer_solve, _lower_solve, (_MATRIX, _VECTOR), (_MATRIX, _POSITIVE))
_declare("inv", "(a)", _infer_square, _lower_square(_LOOPS.inv), (_MATRIX,))
_declare("det", "(a)", _infer_det, _lower_det, (_MATRIX,))
_declare(
    "cholesky",
    "(a, /, *, upper=False)",
    _infer_cholesky,
    _lower_square(_LOOPS.cholesky_lo),
    (_POSITIVE,),
    parameters=("a", "/", "*", "upper"),
)
declare_function(
    "linalg.norm",
    "(x, ord=None, *, axis=None, keepdims=False)",
    _infer_norm,
    np.linalg.norm,
    symbolic=norm_of_few,
    decompose=norm_of,
    samples=((_VECTOR,), (_MATRIX / 2, None)),
)
