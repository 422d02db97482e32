"""insert_guards with observations: what was seen becomes a guarded type."""

import numpy as np
import pytest

import ljit.ops  # noqa: F401 - fills the registry
from ljit.ir import get_op, parse, verify
from ljit.ops.control import PROFILE
from ljit.passes import run_passes
from ljit.types import (
    ANY,
    FLOAT,
    INT,
    NONE,
    STR,
    UINT,
    ListType,
    ScalarType,
    TupleType,
    Type,
    UnionType,
    join,
)

TEXT = """graph(%a : Any, %n : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%a, %n)
  %b : Any = prim::profile(%a)
  %m : int = prim::profile(%n)
  %t : (Any, int) = prim::TupleConstruct(%b, %m)
  return (%t)
"""


class Seen:
    def __init__(self, type_: Type | None) -> None:
        self.type = type_

    def observed(self, node_id: int) -> Type | None:
        return self.type


def guards_for(seen: Type | None) -> str:
    graph = parse(TEXT)
    assert run_passes(graph, "insert_guards", observations=Seen(seen))
    assert "prim::profile" not in str(graph)
    return str(graph)


@pytest.mark.parametrize(
    "seen", [FLOAT, STR, ListType(INT), join(INT, FLOAT), join(INT, ScalarType(np.dtype(np.int64)))]
)
def test_an_observed_type_is_guarded_where_inference_does_not_know(seen):
    text = guards_for(seen)
    assert text.count("prim::guard") == 1
    assert f": {seen} = prim::guard[type={seen}](%a)" in text


@pytest.mark.parametrize("seen", [None, ANY, join(FLOAT, NONE), join(INT, NONE)])
def test_what_tells_nothing_is_not_guarded(seen):
    assert not isinstance(seen, UnionType) or len(seen.members) == 2
    text = guards_for(seen)
    assert "prim::guard" not in text
    assert "prim::TupleConstruct(%a, %n)" in text


def test_the_guarded_graph_verifies():
    graph = parse(TEXT)
    run_passes(graph, "insert_guards", observations=Seen(None))
    verify(graph)


@pytest.mark.parametrize(
    ("seen", "guarded"), [((INT, join(INT, UINT)), (INT, UINT)), ((ANY, FLOAT), None)]
)
def test_what_is_known_of_a_part_of_a_tuple_stays_as_it_is(seen, guarded):
    graph = parse("""graph(%a : (Any, uint)):
  prim::Snapshot[at='before:0', names=('p0',)](%a)
  %b : (Any, uint) = prim::profile(%a)
  %x : Any, %y : uint = prim::Unpack[count=2](%b)
  return (%y)
""")
    run_passes(graph, "insert_guards", observations=Seen(TupleType(seen)))
    verify(graph)
    guards = [node.output.type for node in graph.walk() if node.op is get_op("prim::guard")]
    assert guards == ([TupleType(guarded)] if guarded is not None else [])


DEFAULTS = """graph(%x : Any):
  %c : Any = prim::Constant[value=<@0>]()
  %d : (Any, int) = prim::Constant[value=<@1>]()
  %n : int = prim::Constant[value=3]()
  %l : List[int] = prim::Constant[value=<@2>]()
  %y : (Any, Any, Any, Any, Any) = prim::TupleConstruct(%x, %c, %d, %n, %l)
  return (%y)
"""


def test_constants_with_arrays_in_them_are_watched():
    graph = parse(DEFAULTS, [np.ones(3), (np.ones(2), 1), [1, 2]])
    verify(graph)
    run_passes(graph, "insert_profile_nodes")
    watched = [n.inputs[0].name for n in graph.walk() if n.op is PROFILE]
    assert sorted(watched) == ["c", "d", "x"]
