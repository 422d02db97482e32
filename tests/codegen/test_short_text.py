"""Code is short: what need not be written is not, and nothing is written twice."""

from __future__ import annotations

import pytest

from ljit.codegen import CompileOptions
from ljit.codegen.unit import build_module
from ljit.ir import parse
from ljit.ops.python import slices

SUM = """
  %{k} : Float64(*) = prim::Map[into=0](%a, %b)
    block0(%x{k} : np.float64, %y{k} : np.float64):
      %z{k} : np.float64 = np::add(%x{k}, %y{k})
      -> (%z{k})"""

WINDOWS = """graph(%a : Float64(*, *), %n : int):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %2 : None = prim::Constant[value=None]()
  prim::Snapshot[at='before:1', names=('a', 'n')](%a, %n)
  %3 : int = py::add(%0, %n)
  %4 : int = py::add(%1, %n)
  %5 : slice[int, int, None] = prim::SliceConstruct(%0, %3, %2)
  %6 : slice[int, int, None] = prim::SliceConstruct(%1, %4, %2)
  %7 : (slice[int, int, None], slice[int, int, None]) = prim::TupleConstruct(%5, %6)
  %8 : (slice[int, int, None], slice[int, int, None]) = prim::TupleConstruct(%6, %6)
  %9 : Float64(*, *, strided) = np::getitem(%a, %7)
  %10 : Float64(*, *, strided) = np::getitem(%a, %8)
  %11 : Float64(*, *) = prim::Map[into=0](%9, %10)
    block0(%x : np.float64, %y : np.float64):
      %z : np.float64 = np::add(%x, %y)
      -> (%z)
  return (RESULT)
"""

UPDATE = """graph(%a : Int64(*, *), %i : int, %j : np.int32):
  %1 : int = prim::Constant[value=1]()
  prim::Snapshot[at='before:1', names=('a', 'i', 'j')](%a, %i, %j)
  %at : (int, np.int32) = prim::TupleConstruct(%i, %j)
  %x : np.int64 = np::getitem(%a, %at)
  %y : np.int64 = np::add(%x, %1)
  np::setitem(%a, %at, %y)
  prim::Snapshot[at='after:1', names=()]()
  %other : (int, int) = prim::TupleConstruct(%1, %i)
  %z : np.int64 = np::getitem(%a, %other)
  return (%z)
"""


def text_of(graph: str, **options: object) -> str:
    text, _, _ = build_module(parse(graph), name="f", options=CompileOptions(**options))
    return text


def sums(count: int) -> str:
    names = [f"s{k}" for k in range(count)]
    types = ", ".join(["Float64(*)"] * count)
    return (
        "graph(%a : Float64(*), %b : Float64(*)):\n"
        "  prim::Snapshot[at='before:1', names=('a', 'b')](%a, %b)"
        + "".join(SUM.replace("{k}", name) for name in names)
        + f"\n  %all : ({types}) = prim::TupleConstruct({', '.join('%' + n for n in names)})"
        + "\n  return (%all)\n"
    )


def test_quick_code_of_short_arrays_has_its_nests_where_they_stand() -> None:
    assert "@nest." not in text_of(sums(2), quick_work=1000)


def test_nests_of_optimised_code_and_of_longer_arrays_are_functions() -> None:
    assert text_of(sums(2)).count("call void @nest.0(") == 2
    assert text_of(sums(2), quick_work=1000, has_lanes=True).count("call void @nest.0(") == 2


def test_many_equal_nests_are_one_function_in_quick_code() -> None:
    text = text_of(sums(10), quick_work=1000)
    assert text.count("define internal void @nest.") == 1
    assert text.count("call void @nest.0(") == 10


def test_views_that_no_code_makes_objects_of_have_no_slots_for_them() -> None:
    text = text_of(WINDOWS.replace("RESULT", "%11"), quick_work=1000)
    assert text.count("= alloca ptr, align 8") == 1  # for the sum
    assert text.count("@Py_DecRef(ptr %") == 1


def test_a_view_that_becomes_an_object_has_a_slot_for_it() -> None:
    text = text_of(WINDOWS.replace("RESULT", "%9"), quick_work=1000)
    assert text.count("= alloca ptr, align 8") == 2


def test_a_sum_with_zero_needs_no_check() -> None:
    text = text_of(WINDOWS.replace("RESULT", "%11"), quick_work=1000)
    assert text.count("call {i64, i1} @llvm.sadd.with.overflow.i64(") == 1


def test_slices_are_adjusted_once_for_each_size(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def counted(e: object, *values: object) -> object:
        calls.append(values)
        return adjusted(e, *values)

    adjusted = slices._adjusted
    monkeypatch.setattr(slices, "_adjusted", counted)
    text_of(WINDOWS.replace("RESULT", "%11"))
    assert len(calls) == 3  # of four


def test_a_constant_bound_is_not_counted_from_the_end() -> None:
    assert "add i64 1, %" not in text_of(WINDOWS.replace("RESULT", "%11"))


def test_an_index_is_wrapped_and_checked_once_for_each_size() -> None:
    assert text_of(UPDATE).count("icmp ult") == 6  # i for rows, j and i for columns
