"""Which ints may outgrow int64: those of which more is taken than masks, in chains as long as functions may be."""

from __future__ import annotations

import pytest

import ljit
from ljit.analysis.low_bits import long_ones
from ljit.frontend.emitting.emit import build_graph
from ljit.passes.convert_to_ssa import convert_to_ssa
from tests.frontend.harness import function_of

LENGTH = 1000


def taken_whole(body):
    """What may be long of the sums and products of a function."""
    graph = build_graph(function_of(f"def f(x, y):\n    {body}\n"))
    convert_to_ssa(graph)
    nodes = {node.id: node for node in graph.walk() if node.op.wide is not None}
    return [nodes[node_id].op.name for node_id in long_ones(nodes).values()]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return (x + y) * x & y", ["py::and"]),
        ("return (x + y) * x % 16", []),
        ("return (x + y) * x % 15", ["py::add", "py::mul"]),
        ("return 16 % (x + y)", ["py::add"]),
        ("return (x + y) * x == y", ["py::add", "py::mul"]),
        ("z = x + y; return (z - 1 & y, z * 2)", ["py::add", "py::and", "py::mul"]),
        ("z = x + y; return ((z - 1) % 8, z * 2 & y)", ["py::and"]),
        ("x + y", ["py::add"]),
    ],
)
def test_it_is_that_of_which_more_is_taken_than_masks(body, found):
    assert taken_whole(body) == found


@pytest.mark.parametrize("end", ["x", "x & 0xFFFF"])
@pytest.mark.parametrize("step", ["x = x * 3 + 1", "x = x + x"])
def test_a_long_function_may_outgrow_int64_anywhere(step, end):
    function = function_of("def f(x):\n" + f"    {step}\n" * LENGTH + f"    return {end}\n")
    native = ljit.jit(function)
    for x in (1, 1, 3):
        assert native(x) == function(x)
