"""Structured control flow: regions, loop else, unions, assumptions, and checks inside of loop nests."""

import gc
import sys
import types

import numpy as np
import pytest

from ljit.analysis.assumptions import MISSING, Assumption
from ljit.codegen.llvm.engine import vector_bytes
from tests.codegen.harness import Bailed, Compiled

REGION = """
graph(%x : int, %y : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %r : Union[float, int] = prim::Region()
    block0():
      %less : bool = py::lt(%x, %y)
      prim::If(%less)
        block0():
          %h : float = prim::Constant[value=0.5]()
          prim::Break[depth=0](%h)
        block1():
          -> ()
      %same : bool = py::eq(%x, %y)
      %v : int = prim::If(%same)
        block0():
          -> (%x)
        block1():
          %d : int = py::sub(%x, %y)
          -> (%d)
      -> (%v)
  return (%r)
"""


def test_a_region_is_left_by_its_breaks_and_its_yield():
    f = Compiled(REGION)
    results = [f(1, 2), f(2, 2), f(5, 2)]
    assert results == [0.5, 2, 3]
    assert [type(x) for x in results] == [float, int, int]


FIND = """
graph(%n : int, %wanted : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%n, %wanted)
  %0 : int = prim::Constant[value=0]()
  %minus : int = prim::Constant[value=-1]()
  %two : int = prim::Constant[value=2]()
  %found : int = prim::Loop(%0, %n, %0)
    block0(%k : int, %count : int):
      %hit : bool = py::eq(%k, %wanted)
      prim::If(%hit)
        block0():
          prim::Break[depth=0](%k)
        block1():
          -> ()
      %rest : int = py::mod(%k, %two)
      %even : bool = py::eq(%rest, %0)
      prim::If(%even)
        block0():
          prim::Continue[depth=0](%count)
        block1():
          -> ()
      %more : int = py::add(%count, %two)
      -> (%more)
    block1(%total : int):
      %r : int = py::sub(%minus, %total)
      -> (%r)
  return (%found)
"""


def test_break_continue_and_else_of_a_loop():
    def expected(n, wanted):
        count = 0
        for k in range(n):
            if k == wanted:
                return k
            if k % 2:
                count += 2
        return -1 - count

    f = Compiled(FIND)
    for n in (0, 1, 5, 10):
        for wanted in (-1, 0, 3, 9):
            assert f(n, wanted) == expected(n, wanted)


DEOPTIMIZE = """
graph(%x : Union[None, float, int], %y : (int, Union[bool, complex])):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %is_int : bool = prim::type_is[type=int](%x)
  %r : int = prim::If(%is_int)
    block0():
      %v : int = prim::guard[type=int](%x)
      -> (%v)
    block1():
      prim::Deoptimize[reason='not run before']()
  return (%r)
"""


def test_deoptimize_leaves_with_unions_boxed():
    f = Compiled(DEOPTIMIZE)
    assert f(7, (1, True)) == 7
    for x, y in [(None, (1, 2j)), (2.5, (3, False))]:
        with pytest.raises(Bailed) as caught:
            f(x, y)
        assert caught.value.reason == "not run before"
        assert caught.value.values == {"p0": x, "p1": y}
        assert [type(v) for v in caught.value.values["p1"]] == [int, type(y[1])]


ASSUME = """
graph(%x : int):
  prim::Snapshot[at='before:0', names=('p0',)](%x)
  prim::assume[assumption=<@0>]()
  return (%x)
"""


def test_assumptions_about_dicts_and_cells_are_checked_in_the_body():
    namespace = {"a": 1}
    value = namespace["a"]
    f = Compiled(ASSUME, [Assumption(namespace, "a", value)])
    missing = Compiled(ASSUME, [Assumption(namespace, "b", MISSING)])
    cell = types.CellType(namespace)
    in_cell = Compiled(ASSUME, [Assumption(cell, "c", namespace)])
    for _ in range(2):
        assert [g(5) for g in (f, missing, in_cell)] == [5, 5, 5]
    namespace["b"] = 2
    assert f(5) == 5
    with pytest.raises(Bailed, match="b has changed"):
        missing(5)
    del namespace["a"]
    with pytest.raises(Bailed, match="a has changed"):
        f(5)
    del cell.cell_contents
    with pytest.raises(Bailed):
        in_cell(5)


POWER_INTO = """
graph(%a : Int64(*), %b : Int64(*)):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %b)
  prim::Map[into=1](%a, %a, %b)
    block0(%x : np.int64, %y : np.int64):
      %z : np.int64 = np::power(%x, %y)
      -> (%z)
  return (%a)
"""


def test_a_check_that_fails_half_way_leaves_the_destination_untouched():
    f = Compiled(POWER_INTO)
    a, b = np.array([9, 8, 7]), np.array([2, 3, -1])
    with pytest.raises(Bailed):
        f(a, b)
    np.testing.assert_array_equal(a, [9, 8, 7])
    b[2] = 0
    f(a, b)
    np.testing.assert_array_equal(a, [81, 512, 1])
    gc.collect()
    assert sys.getrefcount(a) == 2


def test_arrays_of_rank_0_give_scalars():
    f = Compiled("""
graph(%a : Float64(), %b : Float32()):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %b)
  %r : np.float64 = np::add(%a, %b)
  return (%r)
""")
    result = f(np.array(2.5), np.array(1, np.float32))
    assert result == 3.5
    assert type(result) is np.float64


GUARDS = """
graph(%a : Float64(*, *, strided), %t : (Any, Any)):
  prim::Snapshot[at='before:0', names=('p0',)](%a)
  %c : Float64(3, *) = prim::guard[type=Float64(3, *)](%a)
  %u : (int, Float64(*)) = prim::guard[type=(int, Float64(*))](%t)
  %r : ((int, Float64(*)), Float64(3, *)) = prim::TupleConstruct(%u, %c)
  return (%r)
"""


def test_guards_narrow_arrays_and_tuples():
    f = Compiled(GUARDS)
    a, b = np.ones((3, 4)), np.ones(2)
    before = sys.getrefcount(a), sys.getrefcount(b)
    result = f(a, (5, b))
    assert result[0][0] == 5
    assert result[0][1] is b
    assert result[1] is a
    bad = [
        (np.ones((4, 3)), (5, b)),
        (np.ones((4, 3)).T, (5, b)),
        (a, (5.0, b)),
        (a, (5, b.astype("f4"))),
        (a, (5, a)),
    ]
    for args in bad:
        with pytest.raises(Bailed):
            f(*args)
    del result, args, bad
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before


FASTMATH = """
graph(%a : Float64(*)):
  prim::Snapshot[at='before:0', names=('p0',)](%a)
  %0 : int = prim::Constant[value=0]()
  %z : np.float64 = prim::Constant[value=np.float64(0.0)]()
  %n : int = np::size(%a)
  %r : np.float64 = prim::Loop(%0, %n, %z)
    block0(%k : int, %s : np.float64):
      %x : np.float64 = np::getitem(%a, %k)
      %s.1 : np.float64 = np::add(%s, %x)
      -> (%s.1)
  return (%r)
"""


LAST = """graph(%a : Float64(*), %n : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %n)
  %0 : int = prim::Constant[value=0]()
  %none : int = prim::Constant[value=-1]()
  %t : int = prim::Loop(%0, %n, %none)
    block0(%i : int, %last : int):
      prim::Snapshot[at='header:1', names=('b1.0.0', 'b1.0.1')](%i, %last)
      %x : np.float64 = np::getitem(%a, %i)
      %c : np.bool = np::less(%x, %0)
      %d : bool = py::truth(%c)
      %new : int = prim::If(%d)
        block0():
          -> (%i)
        block1():
          -> (%last)
      -> (%new)
  return (%t)
"""


@pytest.mark.skipif(vector_bytes() < 32, reason="two numbers side by side gain nothing")
def test_the_last_trip_in_which_something_holds_is_looked_for_with_vectors():
    f = Compiled(LAST, pipeline="eliminate_redundant_checks")
    a = np.ones(300_000)  # several chunks
    assert f(a, 0) == f(a, len(a)) == -1
    for place in (0, 5, 131_071, 131_072, 131_073, 262_144, len(a) - 1):
        a[place] = -1.0
        assert f(a, len(a)) == place
        assert f(a, place) == max(np.flatnonzero(a[:place] < 0), default=-1)
    assert "x double>" in f.code.optimized_ir()


def test_a_sum_over_an_array_has_no_bounds_check_and_fastmath_vectorises_it():
    pipeline = "eliminate_redundant_checks"
    plain = Compiled(FASTMATH, pipeline=pipeline)
    fast = Compiled(FASTMATH, pipeline=pipeline, fastmath=True)
    a = np.arange(1000) / 7
    total = np.float64(0)
    for x in a:
        total += x
    assert plain(a) == total
    assert type(plain(a)) is np.float64
    assert fast(a) == pytest.approx(total)
    assert fast(a[:0]) == 0.0
    assert "index out of bounds" not in {site.reason for site in plain.code.sites}
    assert "x double>" not in plain.code.optimized_ir()
    assert "x double>" in fast.code.optimized_ir()
    marked = Compiled(FASTMATH.replace("np::add(", "np::add[fast=True]("), pipeline=pipeline)
    assert marked(a) == pytest.approx(total)
    assert "x double>" in marked.code.optimized_ir()
