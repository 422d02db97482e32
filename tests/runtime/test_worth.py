"""What native code is worth: whether it is made, and after how much work it is optimised."""

from __future__ import annotations

import ljit.ops  # noqa: F401  # declares the ops of the graphs
from ljit.ir import parse
from ljit.runtime.worth import _NODES_OF_CALL, gains_by_a_call, is_worthwhile, quick_work

NATIVE = """
graph(%a : float, %b : float):
  %c : float = py::mul(%a, %b)
  %d : float = py::add(%c, %b)
  return (%d)
"""
BOXED = """
graph(%a : Any, %b : float):
  %c : Any = py::mul(%a, %a)
  %d : float = py::add(%b, %b)
  return (%c)
"""
IN_FRONT_OF_LOOP = """
graph(%a : Any, %b : float, %n : int):
  %0 : int = prim::Constant[value=0]()
  %c : Any = py::mul(%a, %a)
  %s : float = prim::Loop(%0, %n, %b)
    block0(%i : int, %x : float):
      %y : float = py::mul(%x, %b)
      %z : float = py::add(%y, %b)
      -> (%z)
  return (%s)
"""
KEYS = """
graph(%d : Object[builtins.dict], %k : KEY, %b : float):
  %c : Any = py::getitem(%d, %k)
  py::setitem(%d, %k, %b)
  %e : float = py::add(%b, %b)
  return (%e)
"""


SHORT = """
graph(%o : Object[builtins.object], %a : float):
  %0 : float = py::add(%a, %a)
  %1 : float = py::mul(%0, %a)
  %2 : float = py::add(%1, %a)
  return (%2)
"""


def runs(text: str) -> float:
    """How often all nodes of the graph may run, for each time that is set; a call without loops counts more."""
    graph = parse(text)
    nodes = sum(1 for _ in graph.walk()) + (0 if "prim::Loop" in text else _NODES_OF_CALL)
    return quick_work(graph, 100) / nodes / 100


def test_calls_without_loops_are_optimised_late():
    graph = parse(NATIVE)
    nodes = 100 * sum(1 for _ in graph.walk())
    assert quick_work(graph, 100) > 20 * nodes
    assert quick_work(graph, 100, is_called=True) == nodes


def test_short_calls_gain_by_work_on_numbers_and_loops():
    assert not gains_by_a_call(parse(SHORT))
    assert not gains_by_a_call(parse(BOXED))
    more = SHORT.replace("return (%2)", "%3 : float = py::mul(%2, %a)\n  return (%3)")
    assert gains_by_a_call(parse(more))
    assert gains_by_a_call(parse(IN_FRONT_OF_LOOP))


def test_native_nodes_are_optimised_after_the_runs_that_are_set():
    assert runs(NATIVE) == 1.0


def test_boxed_calls_put_optimising_off():
    assert runs(BOXED) > 5.0


def test_work_with_keys_that_need_no_object_is_native():
    assert runs(KEYS.replace("KEY", "int")) == runs(KEYS.replace("KEY", "(int, str)")) == 1.0
    assert runs(KEYS.replace("KEY", "complex")) > 5.0


def test_boxed_calls_in_front_of_a_loop_count_little():
    assert 1.0 < runs(IN_FRONT_OF_LOOP) < 2.0


def test_zero_runs_are_none():
    assert quick_work(parse(BOXED), 0) == 0


LEFT_TO_NUMPY = """
graph(%a : Float64(*, *, strided)):
  %b : Float64(*) = np::ravel(%a)
  return (%b)
"""
LEFT_TO_PYTHON = """
graph(%a : str, %b : Any):
  %c : Any = py::mod(%a, %b)
  return (%c)
"""


def test_boxed_calls_on_arrays_are_worth_a_compile_beside_native_code():
    assert is_worthwhile(parse(NATIVE))
    for text in (LEFT_TO_NUMPY, LEFT_TO_PYTHON):
        assert not is_worthwhile(parse(text))
    assert is_worthwhile(parse(LEFT_TO_NUMPY), is_alone=False)
    assert not is_worthwhile(parse(LEFT_TO_PYTHON), is_alone=False)


def test_boxed_calls_that_are_long_in_use_are_worth_a_compile():
    graph = parse(LEFT_TO_PYTHON)
    assert not is_worthwhile(graph)
    assert not is_worthwhile(graph, is_alone=False)
    assert is_worthwhile(graph, is_long_in_use=True)
