"""Ifs that go either way are marked, and nothing else."""

from ljit.ir import parse
from ljit.ops.control import IF
from ljit.passes import run_passes
from ljit.types import BOOL

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


def test_what_only_decides_where_others_go_stays_a_branch():
    text = TEXT.replace("%s : int = prim::If(%c)", "%s : int = prim::If(%both)")
    text = text.replace("%r : int = prim::If(%c)", AND + "  %r : int = prim::If(%c)")
    for used, marked in ((text, False), (text.replace("return (%s)", "return (%both)"), True)):
        graph = parse(used)
        outer, inner = (n for n in graph.walk() if n.op is IF and n.outputs[0].type == BOOL)
        outer.origin = inner.origin = 30
        assert run_passes(graph, "mark_erratic_branches", erratic={30}) == marked
        assert bool(outer.attrs) == bool(inner.attrs) == marked


AND = """%no : bool = prim::Constant[value=False]()
  %both : bool = prim::If(%c)
    block0():
      %more : bool = prim::If(%c)
        block0():
          -> (%c)
        block1():
          -> (%no)
      -> (%more)
    block1():
      -> (%no)
"""


def test_the_mark_is_seen():
    graph = parse(TEXT.replace("prim::If(%c)", "prim::If[is_erratic=True](%c)", 1))
    assert str(graph).count("prim::If[is_erratic=True](%c)") == 1
