"""What is live where, in straight code, branches, loops and regions."""

from __future__ import annotations

import ljit.ops  # noqa: F401
from ljit.analysis import Liveness
from ljit.ir import Names, get_op, parse


def live(text):
    """Parse a graph; give a function (what, op's name, index) -> printed names."""
    graph = parse(text)
    liveness = Liveness(graph)
    names = Names.of_graph(graph)

    def ask(what, name, index=0):
        node = [n for n in graph.walk() if n.op is get_op(name)][index]
        return [names[v] for v in getattr(liveness, f"live_{what}")(node)]

    return ask


def test_straight_code_needs_what_is_still_to_be_read():
    ask = live("""
    graph(%a : int, %b : int):
      %c : int = py::add(%a, %b)
      %d : int = py::neg(%c)
      %e : int = py::mul(%d, %a)
      return (%e)
    """)
    assert ask("before", "py::add") == ["a", "b"]
    assert ask("after", "py::add") == ["a", "c"]
    assert ask("after", "py::neg") == ["a", "d"]
    assert ask("after", "py::mul") == ["e"]
    assert ask("after", "prim::Return") == []


def test_constants_are_never_listed():
    ask = live("""
    graph(%a : int):
      %1 : int = prim::Constant[value=1]()
      %u : Unbound = prim::Uninitialized()
      %c : int = py::add(%a, %1)
      %t : (int, Unbound) = prim::TupleConstruct(%c, %u)
      return (%t)
    """)
    assert ask("before", "py::add") == ["a"]
    assert ask("after", "py::add") == ["c"]


BRANCHES = """
graph(%a : int, %b : int, %c : bool):
  %r : int = prim::If(%c)
    block0():
      %x : int = py::neg(%a)
      -> (%x)
    block1():
      %y : int = py::invert(%a)
      return (%y)
  %s : int = py::add(%r, %b)
  return (%s)
"""


def test_a_branch_needs_what_follows_it_unless_it_returns():
    ask = live(BRANCHES)
    assert ask("before", "prim::If") == ["a", "b", "c"]
    assert ask("before", "py::neg") == ["a", "b"]
    assert ask("after", "py::neg") == ["b", "x"]
    assert ask("before", "py::invert") == ["a"]
    assert ask("after", "py::invert") == ["y"]
    assert ask("after", "prim::If") == ["b", "r"]


LOOP = """
graph(%a : int, %b : int, %n : int, %q : int):
  %0 : int = prim::Constant[value=0]()
  %s : int = prim::Loop(%0, %n, %a)
    block0(%k : int, %v : int):
      %c : bool = py::lt(%v, %b)
      prim::If(%c)
        block0():
          %w : int = py::neg(%v)
          prim::Break[depth=0](%w)
        block1():
          -> ()
      %x : int = py::invert(%v)
      -> (%x)
  %t : int = py::mul(%s, %q)
  return (%t)
"""


def test_a_trip_needs_what_later_trips_and_the_code_behind_need():
    ask = live(LOOP)
    assert ask("at_header", "prim::Loop") == ["b", "n", "q", "k", "v"]
    assert ask("before", "prim::Loop") == ["a", "b", "n", "q"]
    assert ask("after", "prim::Loop") == ["q", "s"]
    assert set(ask("before", "py::invert")) - {"k"} == {"b", "n", "q", "v"}


def test_a_break_needs_only_what_is_behind_its_loop():
    ask = live(LOOP)
    assert ask("after", "py::neg") == ["q", "w"]


def test_a_break_out_of_two_loops_needs_what_is_behind_the_outer_one():
    ask = live("""
    graph(%a : int, %n : int, %m : int, %c : bool):
      %0 : int = prim::Constant[value=0]()
      %r : int = prim::Region()
        block0():
          prim::Loop(%0, %n)
            block0(%k : int):
              %x : int = py::neg(%k)
              prim::If(%c)
                block0():
                  prim::Break[depth=1](%x)
                block1():
                  -> ()
              -> ()
          %z : int = py::invert(%m)
          prim::Break[depth=0](%z)
      %t : int = py::mul(%r, %a)
      return (%t)
    """)
    assert set(ask("before", "prim::If")) - {"k"} == {"a", "n", "m", "c", "x"}
    assert ask("before", "prim::Break", 0) == ["a", "x"]
    assert ask("after", "prim::Region") == ["a", "r"]
    assert ask("before", "py::invert") == ["a", "m"]


def test_the_else_clause_of_a_loop_needs_its_own_values():
    ask = live("""
    graph(%a : int, %b : int, %n : int):
      %0 : int = prim::Constant[value=0]()
      %s : int = prim::Loop(%0, %n, %a)
        block0(%k : int, %v : int):
          %x : int = py::invert(%v)
          -> (%x)
        block1(%w : int):
          %y : int = py::add(%w, %b)
          -> (%y)
      return (%s)
    """)
    assert ask("at_header", "prim::Loop") == ["b", "n", "k", "v"]
    assert ask("before", "py::add") == ["b", "w"]
    assert ask("after", "py::add") == ["y"]
