"""Quick code keeps to what LLVM's fast instruction selection knows: the slow one takes 0.1 ms for each other instruction."""

from __future__ import annotations

import re

from ljit.codegen import CompileOptions
from ljit.codegen.unit import build_module
from ljit.ir import parse

POLLED = """graph(%a : Float64(*), %n : int, %s : float):
  %0 : int = prim::Constant[value=0]()
  prim::Snapshot[at='before:1', names=('a',)](%a)
  prim::Loop(%0, %n)
    block0(%k : int):
      prim::Snapshot[at='header:1', names=('a',)](%a)
      np::setitem(%a, %k, %s)
      -> ()
  return (%s)
"""


def test_a_loop_that_may_give_up_the_gil_has_neither_switches_nor_stores_of_aggregates():
    options = CompileOptions(quick_work=1000)
    text, _context, _following = build_module(parse(POLLED), name="f", options=options)
    body = text[text.index("@ljit_entry.body(") :]
    assert "load volatile i8" in body  # it polls
    assert re.findall(r"^(?:switch|store [{[]).*", text, re.MULTILINE) == []
