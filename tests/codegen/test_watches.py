"""How much a trip of a loop is taken to run, and what polls in it."""

from __future__ import annotations

import pytest

from ljit.codegen.loops import watches
from ljit.codegen.loops.watches import Watch, watch_of, work_of
from ljit.frontend.emitting.emit import build_graph
from ljit.ir import Graph, parse
from ljit.ops.control import LOOP
from tests.frontend.harness import function_of


def nest(depth: int) -> Graph:
    """So many loops of two trips within each other; the innermost one has one operation."""
    lines = [
        "graph(%n : int):",
        "  %0 : int = prim::Constant[value=0]()",
        "  %two : int = prim::Constant[value=2]()",
    ]
    for level in range(depth):
        gap = "  " * (2 * level + 1)
        lines += [f"{gap}prim::Loop(%0, %two)", f"{gap}  block0(%i{level} : int):"]
    lines.append("  " * (2 * depth + 1) + "%s : int = py::neg(%n)")
    lines += ["  " * (2 * level + 1) + "-> ()" for level in range(depth, 0, -1)]
    return parse("\n".join([*lines, "  return (%n)"]))


@pytest.mark.parametrize("depth", [1, 2, 20])
def test_a_trip_runs_its_own_nodes_once_and_those_of_inner_loops_in_each_of_their_trips(depth):
    outermost = next(node for node in nest(depth).walk() if node.op is LOOP)
    expected = 2  # the operation, and the end of the trip
    for _ in range(depth - 1):
        expected = 2 * expected + 1
    assert work_of(outermost) == expected


def test_of_nested_loops_without_end_each_is_looked_at_once(monkeypatch):
    body = "".join("    " * level + "while n > x:\n" for level in range(1, 20))
    fn = function_of(f"def f(n, x):\n{body}{'    ' * 20}n -= 1\n    return n")
    outermost = next(node for node in build_graph(fn).walk() if node.op is LOOP)
    looked, look = [], watch_of
    monkeypatch.setattr(watches, "watch_of", lambda node: looked.append(node) or look(node))
    assert watches.watch_of(outermost) is Watch.INSIDE
    assert len(looked) == len(set(looked)) == 19
