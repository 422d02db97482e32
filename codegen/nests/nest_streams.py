"""Results of loop nests that are larger than what a core keeps at hand: their lines are asked for ahead.

Vectors as wide as a line of the cache touch each line once, and the machine looks ahead only where one is touched again
and again: without this such loops take up to 1.6 times as long, longer than with vectors of half the width.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref, integer
from ljit.codegen.llvm.shared_code import PACKING, shared_function
from ljit.codegen.nests.nest_space import Operand

__all__ = ["are_large", "are_long_rows", "ask_for", "stretch_shift", "stretches_of"]

_LONG = 1 << 19  # bytes of a result: with what is read it fills a core's own cache
_STRETCH_SHIFT = 11  # 1 << 11 bytes are asked for together
_MANY = 8  # stretches of a row
_ALL = 62  # as a shift: more elements than there are
_LINE = 64  # bytes
_PREFETCH = "llvm.prefetch.p0"


def are_large(f: FunctionBuilder, sizes: Sequence[Ref], results: Sequence[Operand]) -> Ref:
    """Whether results of these sizes are larger than what a core keeps at hand."""
    size = integer("i64", _itemsize(results))
    return f.icmp("ugt", reduce(f.mul, sizes, size), _LONG)


def are_long_rows(f: FunctionBuilder, count: Ref, results: Sequence[Operand]) -> Ref:
    """Whether rows of so many elements have stretches enough: each begins and ends vectors anew."""
    return f.icmp("ugt", count, _MANY << _shift(results))


def stretch_shift(results: Sequence[Operand]) -> Ref:
    """Of how many elements a stretch is, whose lines are asked for together."""
    return integer("i64", _shift(results))


def stretches_of(f: FunctionBuilder, total: Ref, itemsize: int) -> tuple[Ref, Ref]:
    """Whether so many elements side by side are large, and a shift: how many a stretch has, or more than all."""
    are_many = f.icmp("ugt", total, _LONG // itemsize)
    few = integer("i64", _STRETCH_SHIFT - itemsize.bit_length() + 1)
    return are_many, f.select(are_many, few, _ALL)


def _shift(results: Sequence[Operand]) -> int:
    return _STRETCH_SHIFT - _itemsize(results).bit_length() + 1


def _itemsize(results: Sequence[Operand]) -> int:
    return max(x.dtype.itemsize for x in results)


def ask_for(f: FunctionBuilder, place: Ref, size: Ref) -> None:
    """Have so many bytes brought near that will be written; some may be behind the end of what there is.

    The call is not duplicated: LLVM would write the loops around it twice, with and without.
    """
    name = f"{PACKING}ask"
    function = shared_function(name, lambda module: _write(module, name), straight=True)
    f.call("void", function, [place, size], "nounwind noduplicate")


def _write(module: ModuleBuilder, name: str) -> None:
    module.declare(_PREFETCH, "void", ("ptr", "i32", "i32", "i32"))
    module.define(
        name,
        f"""define void @{name}(ptr %data, i64 %size) nounwind {{
entry:
  br label %line
line:
  %k = phi i64 [ 0, %entry ], [ %next, %line ]
  %place = getelementptr i8, ptr %data, i64 %k
  call void @{_PREFETCH}(ptr %place, i32 1, i32 3, i32 1)
  %next = add nuw nsw i64 %k, {_LINE}
  %more = icmp ult i64 %next, %size
  br i1 %more, label %line, label %done
done:
  ret void
}}""",
    )
