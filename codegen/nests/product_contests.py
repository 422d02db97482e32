"""Which function multiplies matrices of floats: NumPy's inner loop with its BLAS, or ljit's (`float_products.py`).

A BLAS may not know the processor, takes long for small matrices, or has many threads: so each runs where it was seen
to be faster. NumPy's runs at first. When it has done as much work as takes as long as to compile ljit's, CPython is
asked to have that compiled in between. From then on both run for some calls with sizes of a kind, then the one that
took less time for its work, and after many calls both again. Products with vectors have a function, and contests, of
their own (`vector_products.py`). What is kept of a kind gives way to that of another with the same place in a table.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import numpy as np

from ljit.codegen.layouts.layout import ufunc_loop
from ljit.codegen.llvm import engine
from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref, address
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.llvm.shared_code import shared_address
from ljit.codegen.nests.product_texts import OPERANDS, operands_text
from ljit.config import settings
from ljit.cpython.frames import is_raised_by_handler
from ljit.records import Record

__all__ = ["compete", "has_own_product", "own_product", "product_function", "use_for_all"]

#: multiplications before ljit's function is compiled, and that for vectors: some 50 ms
_EARNED = (2**31, 2**29)
_CALL = 2**10  # what each product of a stack costs beside them
_TRIES = 8  # calls of a kind, of both in turn
_HOLDS = 2**12  # calls for which what they showed holds: another program may have taken the time
_BITS = 10  # of places in the table
_SPREAD = 0x9E3779B97F4A7C15 - 2**64  # an odd number that spreads kinds over the places
_ITEMS = {"f": "float", "d": "double"}


def has_own_product(dtype: np.dtype) -> bool:
    """Whether there is a function of ljit's own beside NumPy's."""
    return dtype.char in _ITEMS and engine.vector_bytes() >= 32 and engine.has_fused_multiply_add()


@cache
def own_product(dtype: np.dtype, has_vector: bool) -> int:
    """The address of ljit's own; its operands are those of the inner loop of ``np.matmul``."""
    item, other = _ITEMS[dtype.char], address(_numpys(dtype)).text
    name = _name(dtype, has_vector)

    def write(module: ModuleBuilder) -> None:
        if has_vector:
            from ljit.codegen.nests.vector_products import write_vector_product

            write_vector_product(module, name, item, other)
        else:
            from ljit.codegen.nests.float_products import write_float_product

            write_float_product(module, name, item)

    return shared_address(name, write, straight=True)


def _name(dtype: np.dtype, has_vector: bool) -> str:
    return f"product.{'vector.' if has_vector else ''}{_ITEMS[dtype.char]}"


def _numpys(dtype: np.dtype) -> int:
    function, _ = ufunc_loop(np.matmul, (dtype,) * 3)
    return function


# -- what units call -------------------------------------------------------------------------------


class _Way(ctypes.Structure):
    """Which function multiplies, what work is left until ljit's is compiled, and the object that CPython asks then."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("left", ctypes.c_int64),
        ("when_earned", ctypes.c_void_p),
    )


@cache
def _way(dtype: np.dtype, has_vector: bool) -> _Way:
    earned = _WhenEarned(dtype, has_vector)
    way = _Way(_numpys(dtype), _EARNED[has_vector], id(earned))
    engine.keep_forever((way, earned))
    return way


def product_function(f: FunctionBuilder, dtype: np.dtype, sizes: Sequence[Ref], work: Ref) -> Ref:
    """The function that takes the place of the inner loop of ``np.matmul`` for so many multiplications."""
    has_vector = 1 in (sizes[1].constant, sizes[3].constant)
    f.module.declare("Py_AddPendingCall", "i32", ("ptr", "ptr"))
    f.module.declare("PyObject_IsTrue", "i32", ("ptr",))
    f.module.define(
        "product_function",
        f"""define internal ptr @product_function(ptr %way, i64 %work, i64 %times) noinline {QUICK} nounwind {{
  %function = load ptr, ptr %way
  %left.at = getelementptr i64, ptr %way, i64 1
  %before = load i64, ptr %left.at
  %calls = mul i64 %times, {_CALL}
  %cost = add i64 %work, %calls
  %left = sub i64 %before, %cost
  store i64 %left, ptr %left.at
  %was.more = icmp sge i64 %before, 0
  %is.none = icmp slt i64 %left, 0
  %is.earned = and i1 %was.more, %is.none
  br i1 %is.earned, label %ask, label %done
ask:
  %earned.at = getelementptr i64, ptr %way, i64 2
  %when.earned = load ptr, ptr %earned.at
  %pending = call i32 @Py_AddPendingCall(ptr @PyObject_IsTrue, ptr %when.earned)
  br label %done
done:
  ret ptr %function
}}""",
    )
    way = address(ctypes.addressof(_way(dtype, has_vector)))
    return f.call("ptr", "product_function", (way, work, sizes[0]), "nounwind")


class _WhenEarned(Record):
    """Compiles what is missing when it is asked whether it is true, which CPython does between two instructions.

    Of the functions of C that it can call then, `PyObject_IsTrue` lets what a signal's handler raises through.
    """

    dtype: np.dtype
    has_vector: bool

    def __bool__(self) -> bool:
        try:
            compete(self.dtype, self.has_vector)
        except Exception as error:  # ljit's own fault: NumPy's function goes on
            if settings().check or is_raised_by_handler(error):
                raise
        return False


def compete(dtype: np.dtype, has_vector: bool) -> None:
    """Compile ljit's own, and have the two compete from now on."""
    use_for_all(dtype, has_vector, _chooser(dtype, has_vector))


def use_for_all(dtype: np.dtype, has_vector: bool, function: int) -> None:
    """Let all products, of matrices or with vectors, be made by the function at this address; 0: by NumPy's."""
    _way(dtype, has_vector).function = function or _numpys(dtype)


# -- the contest -----------------------------------------------------------------------------------


def _chooser(dtype: np.dtype, has_vector: bool) -> int:
    name = f"chooser.{_name(dtype, has_vector)}"
    sides = own_product(dtype, has_vector), _numpys(dtype)
    return shared_address(
        name, lambda module: _write_chooser(module, name, dtype, sides), straight=True
    )


def _write_chooser(
    module: ModuleBuilder, name: str, dtype: np.dtype, functions: tuple[int, int]
) -> None:
    """A kind is: sizes to three bits, whether rows of the matrices lie in one piece, and whether both are one."""
    entry = f"{name}.entry"
    sides = [f"ptr {address(x).text}" for x in functions]
    module.define(
        f"{name}.table",
        f"%{entry} = type {{ i64, ptr, i64, [2 x float] }}  ; kind, winner, calls, cycles for a product\n"
        f"@{name}.table = internal global [{2**_BITS} x %{entry}] zeroinitializer\n",
    )
    module.define(f"{name}.kind", _size_kind(f"{name}.kind"))
    kinds = "".join(
        f"  %{x}.kind = call i64 @{name}.kind(i64 %{x})\n" for x in ("rows", "depth", "columns")
    )
    module.define(
        name,
        f"""define void @{name}{OPERANDS} nounwind {{
entry:
{operands_text()}{kinds}{_kind_text(dtype)}  %spread = mul i64 %kind, {_SPREAD}
  %place = lshr i64 %spread, {64 - _BITS}
  %at = getelementptr %{entry}, ptr @{name}.table, i64 %place
  %winner.at = getelementptr %{entry}, ptr %at, i64 0, i32 1
  %calls.at = getelementptr %{entry}, ptr %at, i64 0, i32 2
  %found = load i64, ptr %at
  %is.known = icmp eq i64 %found, %kind
  br i1 %is.known, label %known, label %new
known:
  %winner = load ptr, ptr %winner.at
  %is.decided = icmp ne ptr %winner, null
  br i1 %is.decided, label %decided, label %look
decided:
  %made = load i64, ptr %calls.at
  %made.now = add i64 %made, 1
  store i64 %made.now, ptr %calls.at
  %is.due = icmp uge i64 %made.now, {_HOLDS}
  br i1 %is.due, label %new, label %go
go:
  tail call void %winner{OPERANDS}
  ret void
new:
  store i64 %kind, ptr %at
  store ptr null, ptr %winner.at
  store i64 0, ptr %calls.at
  br label %look
{_contest_text(entry, sides)}}}""",
    )


def _kind_text(dtype: np.dtype) -> str:
    """Put sizes and flags together to ``%kind``."""
    return f"""  %b.is.near = icmp eq i64 %b.column.step, {dtype.itemsize}
  %a.is.near = icmp eq i64 %a.step.in, {dtype.itemsize}
  %is.one = icmp eq ptr %a.first, %b.first
  %a.flag = zext i1 %a.is.near to i64
  %b.flag = zext i1 %b.is.near to i64
  %one.flag = zext i1 %is.one to i64
  %kind.1 = shl i64 %rows.kind, 10
  %kind.2 = or i64 %kind.1, %depth.kind
  %kind.3 = shl i64 %kind.2, 10
  %kind.4 = or i64 %kind.3, %columns.kind
  %kind.5 = shl i64 %kind.4, 1
  %kind.6 = or i64 %kind.5, %b.flag
  %kind.7 = shl i64 %kind.6, 1
  %kind.8 = or i64 %kind.7, %a.flag
  %kind.9 = shl i64 %kind.8, 1
  %kind = or i64 %kind.9, %one.flag
"""


def _contest_text(entry: str, sides: Sequence[str]) -> str:
    """Let one of the two run, note how many cycles it took, and decide if that was the last of the tries."""
    return f"""look:
  %two = mul i64 %times, %rows
  %three = mul i64 %two, %depth
  %work = mul i64 %three, %columns
  %calls = load i64, ptr %calls.at
  %which = and i64 %calls, 1
  %is.numpys = icmp eq i64 %which, 1
  %function = select i1 %is.numpys, {sides[1]}, {sides[0]}
  %start = call i64 @llvm.readcyclecounter()
  call void %function{OPERANDS}
  %end = call i64 @llvm.readcyclecounter()
  %cycles = sub i64 %end, %start
  %cycles.float = uitofp i64 %cycles to float
  %work.float = uitofp i64 %work to float
  %pace = fdiv float %cycles.float, %work.float
  %least.at = getelementptr %{entry}, ptr %at, i64 0, i32 3, i64 %which
  %least = load float, ptr %least.at
  %is.less = fcmp olt float %pace, %least
  %is.first = icmp ult i64 %calls, 2
  %is.better = or i1 %is.less, %is.first
  %least.now = select i1 %is.better, float %pace, float %least
  store float %least.now, ptr %least.at
  %calls.now = add i64 %calls, 1
  store i64 %calls.now, ptr %calls.at
  %is.over = icmp uge i64 %calls.now, {_TRIES}
  br i1 %is.over, label %decide, label %done
decide:
  %own.at = getelementptr %{entry}, ptr %at, i64 0, i32 3, i64 0
  %own.least = load float, ptr %own.at
  %numpys.at = getelementptr %{entry}, ptr %at, i64 0, i32 3, i64 1
  %numpys.least = load float, ptr %numpys.at
  %is.own = fcmp olt float %own.least, %numpys.least
  %best = select i1 %is.own, {sides[0]}, {sides[1]}
  store ptr %best, ptr %winner.at
  br label %done
done:
  ret void
"""


def _size_kind(name: str) -> str:
    """The three highest bits of a size, and how many others it has."""
    return f"""define internal i64 @{name}(i64 %size) nounwind {{
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 false)
  %bits = sub i64 61, %zeros
  %shift = call i64 @llvm.smax.i64(i64 %bits, i64 0)
  %high = lshr i64 %size, %shift
  %group = shl i64 %shift, 3
  %kind = or i64 %group, %high
  ret i64 %kind
}}"""
