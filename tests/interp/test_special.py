"""Specialised graphs in the interpreter: guards, Snapshots, Deoptimize and Map."""

from __future__ import annotations

import numpy as np
import pytest

import ljit.ops  # noqa: F401 - declares the ops that the texts name
from ljit.errors import InternalError
from ljit.interp import Deoptimized, compile_graph, has_type, run
from ljit.ir import Graph, parse
from ljit.ops.control import ASSUME, CONSTANT, RETURN
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, STR, ArrayType, ListType, TupleType, UnionType
from ljit.value_types import type_of

F8 = np.dtype("f8")


def result_of(text, *args):
    return run(compile_graph(parse(text)), args)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (1, INT),
        (1, ANY),
        (2**70, ANY),
        (None, NONE),
        ("a", STR),
        (1, UnionType((FLOAT, INT))),
        (2.5, UnionType((FLOAT, INT))),
        (np.zeros((2, 3)), ArrayType(F8, (None, None))),
        (np.zeros((2, 3)), ArrayType(F8, (2, None))),
        (np.zeros((2, 3)), ArrayType(F8, (None, None), "strided")),
        (np.zeros((4, 3))[::2], ArrayType(F8, (2, 3), "strided")),
        ((1, np.zeros(3)), TupleType((INT, ArrayType(F8, (3,))))),
        ([1, 2], ListType(INT)),
        ([], ListType(INT)),
    ],
    ids=str,
)
def test_a_value_has_its_types(value, type_):
    assert has_type(value, type_)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (2**70, INT),
        (True, INT),
        (1, BOOL),
        (1, FLOAT),
        (None, UnionType((FLOAT, INT))),
        (np.float64(1), FLOAT),
        (np.zeros((2, 3)), ArrayType(F8, (None,))),
        (np.zeros((2, 3)), ArrayType(F8, (3, None))),
        (np.zeros((4, 3))[::2], ArrayType(F8, (None, None))),
        (np.zeros(3, "f4"), ArrayType(F8, (None,))),
        ((1, 2), TupleType((INT,))),
        ([1, 2.5], ListType(INT)),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_told_apart(value, type_):
    assert not has_type(value, type_)


GUARDED = """
graph(%x : Any, %y : Any):
  prim::Snapshot[at='before:5', names=('p0', 'p1')](%x, %y)
  %a : float = prim::guard[type=float](%x)
  %b : float = py::mul(%a, %a)
  prim::Snapshot[at='after:9', names=('n9.0',)](%b)
  %c : float = prim::guard[type=float](%y)
  %d : float = py::add(%b, %c)
  return (%d)
"""


def test_a_guard_that_holds_is_a_move():
    assert result_of(GUARDED, 2.0, 3.0) == 7.0


def test_a_guard_that_fails_leaves_with_the_last_snapshot():
    with pytest.raises(Deoptimized, match="guard: int is not float") as first:
        result_of(GUARDED, 2, 3.0)
    assert (first.value.at, first.value.values) == ("before:5", {"p0": 2, "p1": 3.0})
    with pytest.raises(Deoptimized) as second:
        result_of(GUARDED, 2.0, "y")
    assert (second.value.at, second.value.values) == ("after:9", {"n9.0": 4.0})
    assert isinstance(second.value, InternalError)


def test_a_guard_without_a_snapshot_says_so():
    text = "graph(%x : Any):\n  %a : int = prim::guard[type=int](%x)\n  return (%a)\n"
    with pytest.raises(Deoptimized, match="no snapshot") as info:
        result_of(text, "a")
    assert info.value.values == {}


def test_deoptimize_leaves_with_the_values_of_its_snapshot():
    text = """
graph(%x : Any):
  prim::Snapshot[at='before:1', names=('p0',)](%x)
  prim::Deoptimize[reason='never run']()
"""
    with pytest.raises(Deoptimized, match="never run") as info:
        result_of(text, 4)
    assert (info.value.at, info.value.values) == ("before:1", {"p0": 4})


def test_type_is_tells_the_members_of_a_union_apart():
    text = """
graph(%x : Union[float, int]):
  %c : bool = prim::type_is[type=float](%x)
  return (%c)
"""
    assert result_of(text, 1.5) is True
    assert result_of(text, 1) is False


@pytest.mark.parametrize("holds", [True, False])
def test_assumptions_are_checked(holds):
    class Assumed:
        def holds(self):
            return holds

    graph = Graph("g")
    graph.block.create(ASSUME, (), {"assumption": Assumed()})
    value = graph.block.create(CONSTANT, (), {"value": 5}).output
    graph.block.create(RETURN, (value,))
    code = compile_graph(graph)
    if holds:
        assert run(code, ()) == 5
    else:
        with pytest.raises(Deoptimized, match="assumption"):
            run(code, ())


def test_unreachable_is_a_fault_when_it_is_reached():
    with pytest.raises(InternalError, match="Unreachable"):
        result_of("graph(%x : Any):\n  prim::Unreachable()\n", 1)


MAP = """
graph(%a : Float64(*), %b : Float64(*, *), %k : float):
  %c : Float64(*, *), %d : Bool(*, *) = prim::Map(%a, %b, %k)
    block0(%x : np.float64, %y : np.float64, %z : float):
      %p : np.float64 = py::mul(%x, %y)
      %q : np.float64 = py::add(%p, %z)
      %r : np.bool = py::gt(%q, %z)
      -> (%q, %r)
  %t : (Float64(*, *), Bool(*, *)) = prim::TupleConstruct(%c, %d)
  return (%t)
"""


@pytest.mark.parametrize("shape", [(2, 3), (4, 1), (0, 3)])
def test_a_map_computes_each_element_of_the_broadcast_shape(shape):
    a, b = np.arange(3.0), np.arange(np.prod(shape), dtype=float).reshape(shape) - 1
    c, d = result_of(MAP, a, b, 0.5)
    expected = a * b + 0.5
    assert c.dtype == expected.dtype and d.dtype == np.bool_
    np.testing.assert_array_equal(c, expected, strict=True)
    np.testing.assert_array_equal(d, expected > 0.5, strict=True)
    assert c.flags.c_contiguous and c.flags.owndata


def test_a_map_into_arrays_stores_when_all_is_computed():
    text = """
graph(%a : Float64(*, strided), %b : Float64(*, strided)):
  prim::Map[into=1](%a, %b)
    block0(%x : np.float64):
      %y : np.float64 = py::add(%x, %x)
      -> (%y)
  return (%a)
"""
    data = np.arange(6.0)
    expected = data.copy()
    expected[1:] = data[:-1] + data[:-1]
    out = data[1:]
    assert result_of(text, out, data[:-1]) is out
    np.testing.assert_array_equal(data, expected)


def test_a_map_casts_what_it_stores():
    text = """
graph(%a : Int32(*), %b : Float64(*)):
  prim::Map[into=1](%a, %b)
    block0(%x : np.float64):
      -> (%x)
  return (%a)
"""
    out = np.zeros(3, np.int32)
    result_of(text, out, np.array([1.9, -1.9, 7.0]))
    assert out.tolist() == [1, -1, 7]
    assert type_of(out) == ArrayType(np.dtype("i4"), (None,))


def test_a_branch_in_a_map_is_taken_element_by_element():
    text = """
graph(%a : Float64(*), %k : float):
  %c : Float64(*) = prim::Map(%a, %k)
    block0(%x : np.float64, %z : float):
      %p : Any = py::gt(%x, %z)
      %q : bool = py::truth(%p)
      %r : np.float64 = prim::If(%q)
        block0():
          %n : np.float64 = py::neg(%x)
          -> (%n)
        block1():
          -> (%x)
      -> (%r)
  return (%c)
"""
    assert result_of(text, np.arange(4.0), 1.5).tolist() == [0.0, 1.0, -2.0, -3.0]
