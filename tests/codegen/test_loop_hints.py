"""Which loops LLVM is told to give no vectors: those that store to elements with gaps between them."""

from __future__ import annotations

import pytest

from ljit.analysis.uniformity import Varying
from ljit.codegen import CompileOptions
from ljit.codegen.loops.loop_hints import stores_with_gaps
from ljit.codegen.unit import build_module
from ljit.ir import parse
from ljit.ops.control import LOOP

HINT = '!{!"llvm.loop.vectorize.enable", i1 false}'
NOT_UNROLLED = '!{!"llvm.loop.unroll.runtime.disable"}'

ROW = """graph(%a : Float64(*), %b : Float64(*, *), %n : int, %s : float):
  %0 : int = prim::Constant[value=0]()
  %2 : int = prim::Constant[value=2]()
  prim::Snapshot[at='before:1', names=('a',)](%a)
  %r : range = py::range(%0, %n, %2)
  %i : range = prim::iter(%r)
  prim::Loop(%0, %n)
    block0(%k : int):
      prim::Snapshot[at='header:1', names=('a',)](%a)
      %j : int = prim::next(%i, %k)
      %p : (int, int) = prim::TupleConstruct(%k, %n)
      %q : (int, int) = prim::TupleConstruct(%n, %k)
      np::setitem(%a, %k, %s)
      -> ()
  return (%s)
"""
STEP = ROW.replace("(%a, %k", "(%a, %j")
UNKNOWN_STEP = STEP.replace("(%0, %n, %2)", "(%0, %n, %n)")
ROWS = ROW.replace("(%a, %k", "(%b, %p")
ELEMENTS_OF_A_ROW = ROW.replace("(%a, %k", "(%b, %q")
LOOK_UP = ROW.replace(
    "      np::setitem(%a, %k, %s)",
    """      %x : np.float64 = np::getitem(%a, %k)
      %i2 : int = py::int(%x)
      %y : np.float64 = np::getitem(%a, %i2)
      np::setitem(%a, %k, %y)""",
)
ONE_PLACE = ROW.replace("(%a, %k", "(%a, %n")
AROUND = UNKNOWN_STEP.replace(
    "      -> ()\n",
    "      prim::Loop(%0, %n)\n        block0(%z : int):\n          -> ()\n      -> ()\n",
)
AROUND_LOOP = AROUND.replace("(%0, %n, %n)", "(%0, %n, %2)")
AROUND_TWO_TRIPS = AROUND_LOOP.replace(
    "prim::Loop(%0, %n)\n        ", "prim::Loop(%0, %2)\n        "
)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (ROW, False),
        (STEP, False),
        (UNKNOWN_STEP, True),
        (ROWS, True),
        (ELEMENTS_OF_A_ROW, False),
        (ONE_PLACE, False),
        (AROUND, False),
    ],
    ids=["row", "step", "unknown step", "rows", "elements of a row", "one place", "around"],
)
def test_stores_have_gaps_where_only_the_run_tells_how_far_apart_they_are(graph, expected):
    loop = next(node for node in parse(graph).walk() if node.op is LOOP)
    assert stores_with_gaps(loop, Varying(loop)) == expected


@pytest.mark.parametrize(
    ("graph", "options", "expected"),
    [
        (UNKNOWN_STEP, CompileOptions(), True),
        (ROW, CompileOptions(), False),
        (ROW.replace("prim::Loop(", "prim::Loop[lanes=8]("), CompileOptions(), True),
        (LOOK_UP, CompileOptions(), True),
        (LOOK_UP.replace("(%a, %i2)", "(%a, %n)"), CompileOptions(), False),
        (UNKNOWN_STEP, CompileOptions(quick_work=1000), False),  # nothing reads it
    ],
    ids=["gaps", "row", "side by side", "look-up", "no look-up", "quick"],
)
def test_the_branch_back_says_that_the_loop_has_no_vectors(graph, options, expected):
    text, _context, _following = build_module(parse(graph), name="f", options=options)
    assert (HINT in text) == expected


@pytest.mark.parametrize(
    ("graph", "expected"),
    [(ROW, False), (AROUND_LOOP, True), (AROUND_TWO_TRIPS, False)],
    ids=["alone", "around a loop", "around a loop of two trips"],
)
def test_a_loop_around_others_is_not_unrolled(graph, expected):
    text, _context, _following = build_module(parse(graph), name="f", options=CompileOptions())
    assert (NOT_UNROLLED in text) == expected
