"""What LLVM is told of arrays that do not overlap."""

from __future__ import annotations

import numpy as np
import pytest

from ljit.codegen import CompileOptions
from ljit.codegen.unit import build_module
from ljit.ir import parse
from tests.codegen.harness import Compiled

OWN = """graph(%a : Float64(*), %w : Float64(*), %n : int):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  prim::Snapshot[at='before:1', names=('a', 'w', 'n')](%a, %w, %n)
  %o : Float64(*) = np::zeros(%n)
  prim::Loop(%0, %n)
    block0(%k : int):
      prim::Snapshot[at='header:1', names=('a', 'w', 'n')](%a, %w, %n)
      %x : np.float64 = np::getitem(%a, %k)
      %y : np.float64 = np::getitem(%w, %0)
      %z : np.float64 = np::multiply(%x, %y)
      np::setitem(%o, %k, %z)
      -> ()
  return (%o)
"""
HANDED_ON_BEHIND = OWN.replace(
    "  return (%o)", "  %t : (Float64(*), int) = prim::TupleConstruct(%o, %n)\n  return (%t)"
)
HANDED_ON_IN_FRONT = OWN.replace(
    "  prim::Loop(", "  %t : (Float64(*), int) = prim::TupleConstruct(%o, %n)\n  prim::Loop("
)
NOT_ITS_OWN = OWN.replace("np::setitem(%o", "np::setitem(%w")
IN_A_LOOP = """graph(%a : Float64(*), %n : int):
  %0 : int = prim::Constant[value=0]()
  prim::Snapshot[at='before:1', names=('a', 'n')](%a, %n)
  prim::Loop(%0, %n)
    block0(%j : int):
      prim::Snapshot[at='header:1', names=('a', 'n')](%a, %n)
      %o : Float64(*) = np::zeros(%n)
      prim::Loop(%0, %n)
        block0(%k : int):
          prim::Snapshot[at='header:2', names=('a', 'n')](%a, %n)
          %x : np.float64 = np::getitem(%a, %k)
          np::setitem(%o, %k, %x)
          -> ()
      -> ()
  return (%a)
"""


def accesses(graph: str, **options: object) -> list[str]:
    text, _, _ = build_module(parse(graph), name="f", options=CompileOptions(**options))
    return [line for line in text.splitlines() if "!alias.scope" in line]


@pytest.mark.parametrize("graph", [OWN, HANDED_ON_BEHIND], ids=["own", "handed on behind"])
def test_an_array_that_was_made_in_front_of_a_loop_overlaps_no_other_one(graph: str) -> None:
    loads, stores = (
        [line for line in accesses(graph) if kind in line] for kind in ("= load double", "store")
    )
    assert len(loads) == 2
    assert len(stores) == 1
    assert all("!noalias" in line for line in (*loads, *stores))


@pytest.mark.parametrize(
    "graph",
    [HANDED_ON_IN_FRONT, NOT_ITS_OWN, IN_A_LOOP],
    ids=["handed on in front", "not its own", "made in a loop"],
)
def test_nothing_is_said_of_arrays_that_may_overlap(graph: str) -> None:
    assert not accesses(graph)


def test_quick_code_says_nothing() -> None:
    assert not accesses(OWN, quick_work=1000)


def test_a_loop_has_vectors_without_a_look_at_where_arrays_lie() -> None:
    f = Compiled(OWN, pipeline="eliminate_redundant_checks")
    a, w = np.arange(50.0), np.array([3.0])
    np.testing.assert_array_equal(f(a, w, 50), a * 3.0)
    assert "memcheck" not in f.code.optimized_ir()
