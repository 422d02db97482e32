"""The verifier finds a breach of each rule, and names it."""

from __future__ import annotations

import pytest

import ljit.ops  # noqa: F401
from ljit.errors import VerifyError
from ljit.ir import Graph, breaches, get_op, parse, verify
from ljit.ops.control import CONSTANT, LOAD, RETURN, YIELD
from ljit.types import FLOAT, INT

GOOD = """
graph(%a : int, %c : bool, %n : int):
  %0 : int = prim::Constant[value=0]()
  %r : int = prim::Region()
    block0():
      %s : int = prim::Loop(%0, %n, %a)
        block0(%k : int, %v : int):
          prim::If(%c)
            block0():
              prim::Break[depth=1](%v)
            block1():
              prim::Continue[depth=0](%a)
          -> (%k)
        block1(%w : int):
          -> (%w)
      -> (%s)
  return (%r)
"""


def nodes(graph, name):
    return [n for n in graph.walk() if n.op is get_op(name)]


def rules(graph, **options):
    return {int(line[1 : line.index("]")]) for line in breaches(graph, **options)}


def test_a_good_graph_has_no_breaches():
    assert breaches(parse(GOOD)) == []


def test_wrong_owners_are_found():
    graph = parse(GOOD)
    graph.params[0].index = 7
    assert rules(graph) == {1}


def test_wrong_links_are_found():
    graph = parse(GOOD)
    graph.block.first.next.prev = None
    assert rules(graph) == {2}


def test_wrong_use_lists_are_found():
    graph = parse(GOOD)
    graph.params[0].uses.clear()
    assert rules(graph) == {3}


def test_an_operand_from_an_inner_block_is_found():
    graph = parse(GOOD)
    (loop,) = nodes(graph, "prim::Loop")
    graph.block.terminator.set_input(0, loop.blocks[0].params[1])
    assert rules(graph) == {4}


def test_an_operand_that_is_defined_later_is_found():
    graph = parse(GOOD)
    (region,) = nodes(graph, "prim::Region")
    early = graph.create(get_op("py::neg"), [region.output])
    early.insert_before(region)
    assert rules(graph) == {4}


def test_missing_and_misplaced_terminators_are_found():
    graph = parse(GOOD)
    graph.block.terminator.erase()
    assert rules(graph) == {5}
    graph = parse(GOOD)
    graph.create(RETURN, [graph.params[0]]).insert_before(graph.block.first)
    assert rules(graph) == {5}
    graph = parse(GOOD)
    graph.block.terminator.erase()
    graph.block.create(YIELD, [])
    assert rules(graph) == {5}


def test_wrong_blocks_are_found():
    graph = parse(GOOD)
    (choice,) = nodes(graph, "prim::If")
    choice.blocks[0].add_param("x", INT)
    assert rules(graph) == {6}
    graph = parse(GOOD)
    (constant,) = nodes(graph, "prim::Constant")
    constant.add_block()
    assert 6 in rules(graph)


@pytest.mark.parametrize("name", ["prim::Break", "prim::Continue", "prim::Yield"])
def test_a_missing_operand_of_an_exit_is_found(name):
    graph = parse(GOOD)
    for node in nodes(graph, name):
        node.set_inputs([])
    assert rules(graph) == {7}


def test_a_target_that_is_not_around_the_exit_is_found():
    graph = parse(GOOD)
    (leave,) = nodes(graph, "prim::Break")
    (constant,) = nodes(graph, "prim::Constant")
    leave.target = constant
    assert rules(graph) == {8}
    leave.target = None
    assert rules(graph) == {8}


def test_a_break_from_the_else_clause_of_its_own_loop_is_found():
    graph = parse(GOOD)
    (loop,) = nodes(graph, "prim::Loop")
    after = loop.blocks[1]
    values = list(after.terminator.inputs)
    after.terminator.erase()
    leave = after.create(get_op("prim::Break"), values, outputs=0)
    leave.target = loop
    assert rules(graph) == {8}


def test_wrong_types_are_found():
    graph = parse(GOOD)
    (constant,) = nodes(graph, "prim::Constant")
    constant.output.type = FLOAT
    assert rules(graph) == {9}
    graph = parse(GOOD)
    graph.params[1].type = INT  # the condition
    assert rules(graph) == {9}
    graph = parse(GOOD)
    graph.params[0].type = FLOAT  # flows into a carried int
    assert rules(graph) == {9}


def test_any_may_stand_for_a_narrower_type():
    graph = parse("graph(%a : int):\n  %b : Any = py::add(%a, %a)\n  return (%b)\n")
    assert breaches(graph) == []


def test_work_before_the_first_snapshot_is_found():
    text = """
    graph(%a : int):
      %b : int = py::add(%a, %a)
      prim::Snapshot[at='before:1', names=('p0',)](%a)
      return (%b)
    """
    assert rules(parse(text)) == {10}
    graph = parse(text)
    (snapshot,) = nodes(graph, "prim::Snapshot")
    snapshot.move_before(graph.block.first)
    assert breaches(graph) == []
    snapshot.attrs["names"] = ()
    assert rules(graph) == {10}


def test_variables_are_only_found_in_ssa_form():
    graph = Graph()
    load = graph.block.create(LOAD, attrs={"name": "x"}, outputs=1)
    graph.block.create(RETURN, [load.output])
    assert rules(graph) == {11}
    assert breaches(graph, ssa=False) == []


def test_all_breaches_are_reported_with_the_text_of_the_nodes():
    graph = parse(GOOD)
    (constant,) = nodes(graph, "prim::Constant")
    constant.output.type = FLOAT
    graph.params[1].type = INT
    with pytest.raises(VerifyError) as info:
        verify(graph)
    assert "prim::Constant[value=0]()" in str(info.value)
    assert "prim::If(%c)" in str(info.value)


def test_an_infer_rule_that_fails_is_a_breach():
    graph = parse("graph(%a : int):\n  %b : int = py::neg(%a)\n  return (%b)\n")
    (node,) = nodes(graph, "py::neg")
    node.attrs["nonsense"] = 1
    assert rules(graph) == {9}


def test_a_constant_list_may_have_grown():
    values = [1]
    graph = Graph()
    node = graph.block.create(CONSTANT, attrs={"value": values})
    graph.block.create(RETURN, [node.output])
    values.append("x")
    assert breaches(graph) == []


REPETITION = """
graph(%a : Float64(*), %i : int, %x : float, %n : int, %c : bool):
  prim::Snapshot[at='before:1', names=()]()
  %0 : int = prim::Constant[value=0]()
  {}
  return (%i)
"""
STORE = "np::setitem(%a, %i, %x)"
SAVE = "prim::Snapshot[at='after:1', names=()]()"
INT_ADD = "%s : int = py::add(%i, %i)"
FLOAT_ADD = "%t : float = py::add(%x, %x)"


def loop(*lines):
    body = "\n".join(f"      {line}" for line in lines)
    return f"prim::Loop(%0, %n)\n    block0(%k : int):\n{body}\n      -> ()"


def branch(line, other="-> ()"):
    return (
        f"prim::If(%c)\n    block0():\n      {line}\n      -> ()\n    block1():\n      {other}"
        + ("" if other == "-> ()" else "\n      -> ()")
    )


@pytest.mark.parametrize(
    "lines",
    [
        [STORE, INT_ADD],  # int may overflow: the store would be done twice
        [STORE, STORE],  # the index may be out of range
        [branch(STORE), INT_ADD],
        [branch(STORE, SAVE), INT_ADD],
        [loop(INT_ADD, STORE)],  # the next trip
        [loop(STORE), INT_ADD],
        [STORE, loop(INT_ADD)],
        [STORE, loop(FLOAT_ADD), INT_ADD],
    ],
)
def test_work_that_a_bailout_would_repeat_is_found(lines):
    assert rules(parse(REPETITION.format("\n  ".join(lines)))) == {10}


@pytest.mark.parametrize(
    "lines",
    [
        [INT_ADD, STORE],
        [STORE, SAVE, INT_ADD],
        [STORE, FLOAT_ADD],  # nothing in it can leave
        [branch(STORE), SAVE, INT_ADD],
        [loop(INT_ADD, STORE, SAVE)],
        [loop(SAVE, INT_ADD, STORE)],
    ],
)
def test_work_behind_a_snapshot_is_not_repeated(lines):
    assert breaches(parse(REPETITION.format("\n  ".join(lines)))) == []
