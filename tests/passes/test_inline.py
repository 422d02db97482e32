"""Inlining: what is taken, what is left alone, and what a change of the variable does."""

from __future__ import annotations

import pytest

import ljit
from ljit.frontend.emitting.emit import build_graph
from ljit.interp import NoHooks, compile_graph, run
from ljit.ir import Graph, clone, parse, print_graph, verify
from ljit.ops.control import CONSTANT, LOOP, REGION, RETURN
from ljit.passes import run_passes


def square(x, scale=1):
    return x * x * scale


def branching(x):
    if x > 0:
        return x
    return -x


def recursive(n):
    return 1 if n < 1 else n * recursive(n - 1)


def keyword_only(x, *, y=2):
    return x + y


def stars(*xs):
    return xs


def named_stars(**xs):
    return xs


def failing(x):
    return 1 // x


def calls_square(x):
    return square(x) + square(x, scale=3)


def calls_branching(x):
    return branching(x) + branching(-x)


def calls_recursive(n):
    return recursive(n)


def calls_nested(x):
    return calls_square(x) + 1


def calls_badly(x):
    return square(x, x, x)


def calls_twice(x):
    return square(x, x=x)


def calls_stars(x):
    return stars(x, x), named_stars(x=x, y=x), named_stars(), keyword_only(x), keyword_only(x, y=5)


def calls_failing(x):
    return failing(x)


@ljit.jit(fastmath=True)
def reordered(x):
    return square(x) - x


def calls_reordered(x):
    return reordered(x) - square(x)


def graph_of(function):
    graph = build_graph(function)
    run_passes(graph, "convert_to_ssa")
    return graph


def inlined(function):
    graph = graph_of(function)
    before = str(graph)
    changed = run_passes(graph, "inline", graph_of=graph_of)
    verify(graph)
    assert changed == (str(graph) != before)
    return graph


def evaluate(graph, *arguments):
    return run(compile_graph(graph), arguments, NoHooks())


def count(graph, name):
    return sum(n.op.name == name for n in graph.walk())


@pytest.mark.parametrize(
    ("function", "argument", "bodies"),
    [(calls_square, 5, 2), (calls_branching, -4, 2), (calls_nested, 3, 3), (calls_stars, 3, 5)],
)
def test_inlined_bodies_compute_what_the_calls_did(function, argument, bodies):
    graph = inlined(function)
    assert count(graph, "prim::Region") == bodies
    assert evaluate(graph, argument) == function(argument)


def test_what_is_inlined_of_a_function_with_fastmath_stays_so():
    graph = inlined(calls_reordered)
    assert evaluate(graph, 5.0) == -5.0
    names = [n.op.name for n in graph.walk() if n.is_fast and n.op.name in ("py::sub", "py::mul")]
    assert names == ["py::sub"]  # the square is not its own
    copy = clone(graph)
    assert [n.is_fast for n in copy.walk()] == [n.is_fast for n in graph.walk()]
    objects = []
    text = print_graph(graph, objects)
    assert [n.is_fast for n in parse(text, objects).walk()] == [n.is_fast for n in graph.walk()]


def test_recursion_is_inlined_once():
    graph = inlined(calls_recursive)
    assert count(graph, "prim::Region") == 1
    assert evaluate(graph, 5) == 120
    assert count(inlined(recursive), "prim::Region") == 0


@pytest.mark.parametrize("function", [calls_badly, calls_twice])
def test_a_call_that_does_not_bind_is_left_to_raise(function):
    graph = inlined(function)
    assert count(graph, "prim::Region") == 0
    with pytest.raises(TypeError, match="argument"):
        evaluate(graph, 1)


def test_without_graphs_nothing_is_inlined():
    graph = graph_of(calls_square)
    assert not run_passes(graph, "inline")
    assert not run_passes(graph, "inline", graph_of=lambda function: None)


def test_a_variable_that_changes_is_seen(monkeypatch):
    graph = inlined(calls_square)
    monkeypatch.setitem(globals(), "square", lambda x, scale=1: 100)
    assert evaluate(graph, 5) == 200


def test_defaults_that_are_replaced_are_seen(monkeypatch):
    graph = inlined(calls_square)
    monkeypatch.setattr(square, "__defaults__", (7,))
    assert evaluate(graph, 5) == 25 * 7 + 25 * 3


def test_what_is_bound_to_a_cell_is_inlined():
    def helper(x):
        return x + 1

    def outer(x):
        return helper(x)

    graph = inlined(outer)
    assert count(graph, "prim::Region") == 1
    assert evaluate(graph, 1) == 2


def test_a_decorated_function_is_inlined_as_what_it_wraps():
    decorated = ljit.jit(square)

    def outer(x):
        return decorated(x, 2)

    graph = inlined(outer)
    assert count(graph, "prim::Region") == 1
    assert evaluate(graph, 3) == 18


def test_a_wrapper_that_only_has_the_attribute_is_called():
    class Wrapper:
        __wrapped__ = staticmethod(square)

        def __call__(self, x):
            return "wrapper"

    wrapper = Wrapper()

    def outer(x):
        return wrapper(x)

    graph = inlined(outer)
    assert count(graph, "prim::Region") == 0
    assert evaluate(graph, 3) == "wrapper"


def test_inlined_nodes_know_where_they_were_called():
    graph = inlined(calls_failing)
    (division,) = (n for n in graph.walk() if n.op.name == "py::floordiv")
    assert division.range.source.function.endswith("failing")
    assert division.range.caller.source.function.endswith("calls_failing")
    assert division.origin == division.id
    assert division.range.caller.caller is None


def test_a_large_function_is_called():
    def large(x):
        return x

    def outer(x):
        return large(x)

    big = Graph()
    big.block.add_param("x")
    for i in range(300):
        big.block.create(CONSTANT, attrs={"value": i})
    big.block.create(RETURN, [big.block.last.output])
    graph = graph_of(outer)
    assert not run_passes(graph, "inline", graph_of=lambda function: big)


def calls_before_a_loop(x):
    before = square(x)
    for _ in range(3):
        before += square(x)
    return before


def test_calls_in_loops_are_inlined_first(monkeypatch):
    size = sum(1 for _ in graph_of(square).walk())
    monkeypatch.setattr("ljit.passes.inline.MAX_TOTAL", size)
    graph = graph_of(calls_before_a_loop)
    run_passes(graph, "inline", graph_of=graph_of)
    (loop,) = (node for node in graph.walk() if node.op is LOOP)
    assert any(node.op is REGION for node in loop.blocks[0].walk())
    assert sum(node.op is REGION for node in graph.walk()) == 1


def test_calls_far_inside_are_not_inlined(monkeypatch):
    monkeypatch.setattr("ljit.passes.inline.MAX_NESTING", 0)
    graph = graph_of(calls_before_a_loop)
    run_passes(graph, "inline", graph_of=graph_of)
    (loop,) = (node for node in graph.walk() if node.op is LOOP)
    assert all(node.op is not REGION for node in loop.blocks[0].walk())
    assert sum(node.op is REGION for node in graph.walk()) == 1


def first_of_cycle(n):
    return second_of_cycle(n - 1) + square(n) if n > 0 else 1


def second_of_cycle(n):
    return third_of_cycle(n - 1) - square(n) if n > 0 else 2


def third_of_cycle(n):
    return first_of_cycle(n - 1) * square(n) if n > 0 else 3


def functions_inlined(graph):
    scopes = {n.range.source.function for n in graph.walk() if n.range is not None}
    return {scope.rpartition(".")[2] for scope in scopes}


def test_functions_that_call_each_other_are_inlined_up_to_a_size(monkeypatch):
    def inlined_functions():
        graph = inlined(first_of_cycle)
        assert evaluate(graph, 7) == first_of_cycle(7)
        return functions_inlined(graph)

    second, third = (sum(1 for _ in graph_of(f).walk()) for f in (second_of_cycle, third_of_cycle))
    called = {"first_of_cycle", "second_of_cycle", "third_of_cycle", "square"}
    assert inlined_functions() == called
    monkeypatch.setattr("ljit.passes.inline.MAX_IN_CYCLE", second + third - 1)
    assert inlined_functions() == called - {"third_of_cycle"}
    monkeypatch.setattr("ljit.passes.inline.MAX_IN_CYCLE", 0)
    assert inlined_functions() == {"first_of_cycle", "square"}
