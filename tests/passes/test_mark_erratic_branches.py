"""Ifs that go either way are marked, and nothing else."""

from ljit.ir import parse
from ljit.ops.control import IF
from ljit.passes import run_passes

TEXT = """
graph(%c : bool, %x : int, %y : int):
  %r : int = prim::If(%c)
    block0():
      -> (%x)
    block1():
      -> (%y)
  %s : int = prim::If(%c)
    block0():
      -> (%y)
    block1():
      -> (%r)
  return (%s)
"""


def marks(erratic):
    graph = parse(TEXT)
    first, second = (node for node in graph.walk() if node.op is IF)
    first.origin, second.origin = 30, 31
    changed = run_passes(graph, "mark_erratic_branches", erratic=erratic)
    assert not run_passes(graph, "mark_erratic_branches", erratic=erratic)
    assert changed == bool({30, 31} & set(erratic))
    return [bool(node.attrs.get("is_erratic")) for node in (first, second)]


def test_branches_are_marked_by_their_origin():
    assert marks(()) == marks({7}) == [False, False]
    assert marks({31, 7}) == [False, True]
    assert marks({30, 31}) == [True, True]


def test_the_mark_is_seen():
    graph = parse(TEXT.replace("prim::If(%c)", "prim::If[is_erratic=True](%c)", 1))
    assert str(graph).count("prim::If[is_erratic=True](%c)") == 1
