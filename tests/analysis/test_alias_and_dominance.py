"""Which values may share memory, and which node runs before which."""

from __future__ import annotations

import pytest

import ljit.ops  # noqa: F401
from ljit.analysis import AliasInfo, dominates, is_visible_at
from ljit.analysis.alias import holds_array, is_immutable, written_operands
from ljit.ir import Names, parse, parse_type

TEXT = """
graph(%a : Float64(*), %b : Float64(*), %i : int, %x : float, %o : Any, %c : bool):
  %new : Float64(*) = np::add(%a, %b)
  %kept : Float64(*) = np::add(%a, %a)
  %t : (Float64(*), int) = prim::TupleConstruct(%kept, %i)
  np::setitem(%new, %i, %x)
  prim::If(%c)
    block0():
      %y : float = py::neg(%x)
      -> ()
    block1():
      %z : float = py::neg(%x)
      -> ()
  return (%t)
"""


@pytest.fixture
def values():
    graph = parse(TEXT)
    names = Names.of_graph(graph)
    found = {names[v]: v for v in graph.params}
    found.update((names[v], v) for node in graph.walk() for v in node.outputs)
    return graph, found


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a", "b", True),  # arguments may be one array
        ("a", "a", True),
        ("a", "o", True),
        ("a", "t", True),
        ("new", "a", False),  # fresh, and only written to
        ("new", "o", False),
        ("new", "new", True),
        ("kept", "t", True),  # fresh, but the tuple holds it
        ("kept", "a", True),
        ("i", "i", False),
        ("x", "o", False),
    ],
)
def test_values_may_share_memory(values, first, second, expected):
    graph, named = values
    aliases = AliasInfo(graph)
    assert aliases.may_alias(named[first], named[second]) is expected
    assert aliases.may_alias(named[second], named[first]) is expected


RETURNED = """
graph(%a : Float64(*), %c : bool, %i : int, %x : float):
  %new : Float64(*) = np::add(%a, %a)
  %given : Float64(*) = prim::If(%c)
    block0():
      %inner : Float64(*) = np::add(%a, %a)
      -> (%inner)
    block1():
      prim::Return(%new)
  np::setitem(%given, %i, %x)
  return (%new)
"""


def test_what_is_returned_is_still_private_and_what_a_block_gives_is_not():
    graph = parse(RETURNED)
    named = {v.name: v for node in graph.walk() for v in node.outputs}
    aliases = AliasInfo(graph)
    assert not aliases.may_alias(named["new"], graph.params[0])
    assert not aliases.may_alias(named["new"], named["given"])
    assert aliases.may_alias(named["inner"], named["given"])


def test_written_operands_are_those_with_a_mark(values):
    graph, named = values
    (store,) = (n for n in graph.walk() if n.op.name == "np::setitem")
    assert written_operands(store) == [named["new"]]
    assert written_operands(named["new"].node) == []


@pytest.mark.parametrize("text", ["int", "np.float64", "None", "str", "range", "(int, (str,))"])
def test_scalars_and_tuples_of_them_are_immutable(text):
    assert is_immutable(parse_type(text))


@pytest.mark.parametrize(
    "text", ["Any", "Float64(*)", "List[int]", "(int, Any)", "Object[builtins.dict]"]
)
def test_what_can_hold_something_mutable_is_not(text):
    assert not is_immutable(parse_type(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Float64(*)", True), ("(int, Float64(*))", True), ("(int, float)", False), ("int", False)],
)
def test_arrays_are_found_in_tuples(text, expected):
    assert holds_array(parse_type(text)) is expected


def test_a_node_dominates_what_is_behind_it_and_nested_there(values):
    graph, named = values
    new, kept, y, z = (named[n].node for n in ("new", "kept", "y", "z"))
    branch = y.block.owner
    assert dominates(new, kept)
    assert not dominates(kept, new)
    assert not dominates(new, new)
    assert dominates(new, y)
    assert not dominates(y, z)
    assert not dominates(branch, y)
    assert not dominates(y, graph.block.terminator)


def test_a_value_is_visible_where_its_definition_dominates(values):
    graph, named = values
    assert is_visible_at(named["a"], named["y"].node)
    assert is_visible_at(named["new"], named["y"].node)
    assert not is_visible_at(named["y"], named["z"].node)
    assert not is_visible_at(named["y"], graph.block.terminator)
