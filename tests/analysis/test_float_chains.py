"""Which loops LLVM is told not to unroll: those whose trips wait for each other's floats."""

from __future__ import annotations

import re

import pytest

from ljit.analysis.float_chains import is_float_chain, is_overlapped
from ljit.codegen import CompileOptions
from ljit.codegen.unit import build_module
from ljit.ir import parse
from ljit.ops.control import LOOP

HINT = '!{!"llvm.loop.unroll.runtime.disable"}'

SUM = """graph(%a : Float64(*), %n : int, %s : float):
  %0 : int = prim::Constant[value=0]()
  %t : float = prim::Loop(%0, %n, %s)
    block0(%i : int, %x : float):
      %y : float = py::add(%x, %x)
      -> (%y)
  return (%t)
"""
COUNT = SUM.replace("float", "int")
#: the float of the trip before, not made of the one before that
LAST = """graph(%n : int, %s : float):
  %0 : int = prim::Constant[value=0]()
  %t : float = prim::Loop(%0, %n, %s)
    block0(%i : int, %x : float):
      %y : float = py::float(%i)
      -> (%y)
  return (%t)
"""
KEPT = SUM.replace("-> (%y)", "-> (%x)")
NEST = """graph(%n : int, %s : Union[float, np.float64]):
  %0 : int = prim::Constant[value=0]()
  %t : Union[float, np.float64] = prim::Loop(%0, %n, %s)
    block0(%i : int, %x : Union[float, np.float64]):
      %u : Union[float, np.float64] = prim::Loop(%0, %i, %x)
        block0(%j : int, %y : Union[float, np.float64]):
          %z : Union[float, np.float64] = py::add(%y, %y)
          -> (%z)
      -> (%u)
  return (%t)
"""
#: a sum that begins anew in each trip around it
ROWS = NEST.replace("(%0, %i, %x)", "(%0, %i, %s)")
#: the least of some floats: each trip chooses
LEAST = """graph(%a : Float64(*), %n : int, %s : np.float64):
  %0 : int = prim::Constant[value=0]()
  %t : np.float64 = prim::Loop(%0, %n, %s)
    block0(%i : int, %x : np.float64):
      %y : np.float64 = np::getitem(%a, %i)
      %c : np.bool = np::less(%y, %x)
      %d : bool = py::truth(%c)
      %z : np.float64 = prim::If(%d)
        block0():
          -> (%y)
        block1():
          -> (%x)
      -> (%z)
  return (%t)
"""
#: a sum of some of them
PARTIAL = LEAST.replace(
    "          -> (%y)", "          %w : np.float64 = np::add(%x, %y)\n          -> (%w)"
)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (SUM, [True]),
        (COUNT, [False]),
        (LAST, [False]),
        (KEPT, [False]),
        (NEST, [True, True]),
        (ROWS, [False, True]),
        (LEAST, [False]),
        (PARTIAL, [True]),
    ],
    ids=["sum", "ints", "last", "kept", "nest", "rows", "least", "partial"],
)
def test_a_chain_is_a_float_that_each_trip_makes_of_the_one_before(graph, expected):
    loops = [node for node in parse(graph).walk() if node.op is LOOP]
    assert [is_float_chain(loop) for loop in loops] == expected


@pytest.mark.parametrize(
    ("graph", "expected"),
    [(SUM, [False]), (NEST, [False, False]), (ROWS, [False, True])],
    ids=["sum", "nest", "rows"],
)
def test_chains_overlap_where_they_begin_anew_in_the_loop_around(graph, expected):
    loops = [node for node in parse(graph).walk() if node.op is LOOP]
    assert [is_overlapped(loop) for loop in loops] == expected


@pytest.mark.parametrize(
    ("graph", "options", "expected"),
    [
        (SUM, CompileOptions(), 1),
        (ROWS, CompileOptions(), 1),  # the loop around; a chain in it overlaps with the next one
        (KEPT, CompileOptions(), 0),
        (SUM, CompileOptions(fastmath=True), 0),  # its trips become vectors
        (SUM, CompileOptions(quick_work=1000), 0),  # nothing reads it
    ],
    ids=["float", "rows", "kept", "fastmath", "quick"],
)
def test_the_branch_back_says_that_the_loop_is_not_to_be_unrolled(graph, options, expected):
    text, _context, _following = build_module(parse(graph), name="f", options=options)
    assert len(re.findall(r"br label %loop\.\d+, !llvm\.loop", text)) == expected
    assert (HINT in text) == bool(expected)
