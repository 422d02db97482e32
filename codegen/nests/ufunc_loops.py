"""The inner loops of NumPy's ufuncs, called at once: without objects, iterators and the look-up of a loop.

For what NumPy does best itself, products with its BLAS above all. The operands must be aligned and of the loop's
own dtypes, as arrays in native code are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.arrays import load_element
from ljit.codegen.layouts.layout import ufunc_loop
from ljit.codegen.llvm.builder import NULL, FunctionBuilder, Ref, address, integer
from ljit.codegen.llvm.forms import Native, array_parts, memory_type
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.mathlib import row_function
from ljit.codegen.nests.int_products import int_product
from ljit.codegen.nests.product_contests import has_own_product, product_function
from ljit.codegen.scalars.casts import cast_value
from ljit.types import ArrayType, ScalarType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["RowLoop", "call_long", "call_row_loop", "inner_loop", "is_own", "products"]

#: NumPy's, or ljit's own of an elementary function
RowLoop = tuple[np.ufunc | str, tuple[np.dtype, ...]]


def inner_loop(
    e: Emitter,
    ufunc: np.ufunc,
    arrays: Sequence[tuple[Native, Native]],
    sizes: Sequence[Native],
    strides: Sequence[Native],
    result: Type,
    work: Native | None = None,
) -> Native | None:
    """Run it on (array, byte offset) pairs; a scalar result is given, an array one is the last of `arrays`."""
    f = e.f
    dtypes = [_dtype(a.type) for a, _ in arrays]
    pointers = [f.gep("i8", array_parts(a).data, offset.ref) for a, offset in arrays]
    if isinstance(result, ScalarType):
        dtypes.append(result.dtype)
        pointers.append(e.stack_array(memory_type(result.dtype), 2))  # a complex number has two
    loop: RowLoop = ufunc, tuple(dtypes)
    function, *operands = _call(e, loop, pointers, [n.ref for n in sizes], [n.ref for n in strides])
    if isinstance(result, ScalarType):
        f.call("void", function.text, operands, "nounwind")
        return load_element(f, pointers[-1], result.dtype, result)
    _run(f, function, operands, _work(f, [n.ref for n in sizes]) if work is None else work.ref)
    return None


def products(
    e: Emitter,
    arrays: Sequence[tuple[Native, Native]],
    sizes: Sequence[Native],
    strides: Sequence[Native],
) -> None:
    """The same for the loop of ``np.matmul``: of ints it is ljit's own, of most floats that or NumPy's."""
    dtype = _dtype(arrays[0][0].type)
    is_int = dtype.kind in "iu"
    if not is_int and not has_own_product(dtype):
        inner_loop(e, np.matmul, arrays, sizes, strides, arrays[-1][0].type)
        return
    counts, steps = [n.ref for n in sizes], [n.ref for n in strides]
    if is_int:
        function = Ref("ptr", int_product(dtype.itemsize))
    else:
        function = product_function(e.f, dtype, counts, _work(e.f, counts))
    pointers = [e.f.gep("i8", array_parts(a).data, offset.ref) for a, offset in arrays]
    call_long(e, function, pointers, counts, steps)


def call_long(
    e: Emitter, function: Ref, pointers: Sequence[Ref], sizes: Sequence[Ref], strides: Sequence[Ref]
) -> None:
    """Call a function of ljit's own that takes what inner loops take; without the GIL, if the sizes are large."""
    operands = (*_operands(e, pointers, sizes, strides), NULL)
    _run(e.f, function, operands, _work(e.f, sizes))


def call_row_loop(
    e: Emitter, loop: RowLoop, places: Sequence[Ref | Native], count: Ref, strides: Sequence[Ref]
) -> None:
    """Let the loop do `count` elements of operands and result that begin at these places; one may be a number."""
    pointers = [
        _number(e, place, dtype) if isinstance(place, Native) else place
        for place, dtype in zip(places, loop[1], strict=True)
    ]
    function, *operands = _call(e, loop, pointers, [count], strides)
    e.f.call("void", function.text, operands, "nounwind")


def is_own(loop: RowLoop | None) -> bool:
    """Whether it is ljit's."""
    return loop is not None and isinstance(loop[0], str)


def _number(e: Emitter, x: Native, dtype: np.dtype) -> Ref:
    """Scratch memory with a number in the loop's dtype."""
    memory = e.stack_array(memory_type(dtype), 1)
    e.f.store(cast_value(e.f, x, ScalarType(dtype)).ref, memory)
    return memory


def _call(
    e: Emitter, loop: RowLoop, pointers: Sequence[Ref], sizes: Sequence[Ref], strides: Sequence[Ref]
) -> tuple[Ref, ...]:
    """The loop's function and its arguments."""
    ufunc, dtypes = loop
    if isinstance(ufunc, str):
        function, data = row_function(ufunc, memory_type(dtypes[0])), 0
    else:
        function, data = ufunc_loop(ufunc, dtypes)
    operands = _operands(e, pointers, sizes, strides)
    return address(function), *operands, address(data) if data else NULL


def _operands(
    e: Emitter, pointers: Sequence[Ref], sizes: Sequence[Ref], strides: Sequence[Ref]
) -> tuple[Ref, Ref, Ref]:
    return (
        _stored(e, "ptr", pointers),
        _stored(e, "i64", sizes),
        _stored(e, "i64", strides, len(sizes)),
    )


def _run(f: FunctionBuilder, function: Ref, operands: Sequence[Ref], work: Ref) -> None:
    _define(f)
    f.call("void", _NAME, (function, *operands, work), "nounwind")


def _work(f: FunctionBuilder, sizes: Sequence[Ref]) -> Ref:
    work = integer("i64", 1)
    for size in sizes:
        work = f.mul(work, size)
    return work


_NAME = "run_inner_loop"
_LONG = 2**20  # multiplications and additions, some tenths of a millisecond: other threads may run


def _define(f: FunctionBuilder) -> None:
    """A call that gives up the GIL if it is long."""
    f.module.declare("PyEval_SaveThread", "ptr", ())
    f.module.declare("PyEval_RestoreThread", "void", ("ptr",))
    arguments = "ptr %operands, ptr %sizes, ptr %strides, ptr %data"
    f.module.define(
        _NAME,
        f"""define internal void @{_NAME}(ptr %function, {arguments}, i64 %work) noinline {QUICK} nounwind {{
  %is.long = icmp ugt i64 %work, {_LONG}
  br i1 %is.long, label %long, label %short
short:
  call void %function({arguments})
  ret void
long:
  %saved = call ptr @PyEval_SaveThread()
  call void %function({arguments})
  call void @PyEval_RestoreThread(ptr %saved)
  ret void
}}""",
    )


def _dtype(type_: Type) -> np.dtype:
    assert isinstance(type_, ArrayType)
    return type_.dtype


def _stored(e: Emitter, type_: str, values: Sequence[Ref], start: int = 0) -> Ref:
    """Write them into scratch memory, from place `start` on."""
    f = e.f
    memory = e.stack_array(type_, 16)
    places = [f.gep(type_, memory, start + i) for i in range(len(values))]
    for value, place in zip(values, places, strict=True):
        f.store(value, place)
    return places[0]
