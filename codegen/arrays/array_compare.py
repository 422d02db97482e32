"""Text that looks whether an array can stand for a fresh one: nobody else has it, and it is as it was made."""

from __future__ import annotations

from ljit.codegen.layouts.layout import (
    ARRAY_BASE,
    ARRAY_DESCR,
    ARRAY_DIMENSIONS,
    ARRAY_FLAGS,
    ARRAY_NDIM,
    ARRAY_WEAKREFS,
    FLAG_C_CONTIGUOUS,
    FLAG_F_CONTIGUOUS,
    FLAGS_OF_NEW,
    OB_REFCNT,
)

__all__ = ["compare"]

_IN_FORTRAN_ORDER = FLAGS_OF_NEW ^ FLAG_C_CONTIGUOUS ^ FLAG_F_CONTIGUOUS


def _field(name: str, offset: int, type_: str) -> str:
    return f"""  %{name}.at = getelementptr i8, ptr %old, i64 {offset}
  %{name} = load {type_}, ptr %{name}.at
"""


_FIELDS = "".join(
    (
        _field("count", OB_REFCNT, "i64"),
        _field("rank", ARRAY_NDIM, "i32"),
        _field("sizes", ARRAY_DIMENSIONS, "ptr"),
        _field("base", ARRAY_BASE, "ptr"),
        _field("type", ARRAY_DESCR, "ptr"),
        _field("flags", ARRAY_FLAGS, "i32"),
        _field("weak", ARRAY_WEAKREFS, "ptr"),
    )
)


def compare(references: str) -> str:
    """From the label ``compare``: to ``reuse`` if the array ``%old`` can stand for a fresh one, else to ``make``.

    It has the rank ``%ndim``, the sizes ``%dims`` and the dtype ``%descriptor``, lies in C order, or in Fortran order
    if ``%fortran`` is not 0, and has that many references.
    """
    return f"""compare:
{_FIELDS}  %is.single = icmp eq i64 %count, {references}
  %same.rank = icmp eq i32 %rank, %ndim
  %no.base = icmp eq ptr %base, null
  %same.type = icmp eq ptr %type, %descriptor
  %in.c.order = icmp eq i32 %fortran, 0
  %wanted = select i1 %in.c.order, i32 {FLAGS_OF_NEW}, i32 {_IN_FORTRAN_ORDER}
  %own.flags = and i32 %flags, %wanted
  %same.flags = icmp eq i32 %own.flags, %wanted
  %no.weak = icmp eq ptr %weak, null
  %ok.1 = and i1 %is.single, %same.rank
  %ok.2 = and i1 %no.base, %same.type
  %ok.3 = and i1 %same.flags, %no.weak
  %ok.4 = and i1 %ok.1, %ok.2
  %is.alike = and i1 %ok.3, %ok.4
  %last = zext i32 %ndim to i64
  br i1 %is.alike, label %axis, label %make
axis:
  %k = phi i64 [ 0, %compare ], [ %following, %next ]
  %is.done = icmp eq i64 %k, %last
  br i1 %is.done, label %reuse, label %next
next:
  %own.at = getelementptr i64, ptr %sizes, i64 %k
  %own = load i64, ptr %own.at
  %size.at = getelementptr i64, ptr %dims, i64 %k
  %size = load i64, ptr %size.at
  %same.size = icmp eq i64 %own, %size
  %following = add i64 %k, 1
  br i1 %same.size, label %axis, label %make
"""
