"""Which values differ from trip to trip of the outermost loop, through data, control and what inner loops carry."""

from __future__ import annotations

import pytest

from ljit.analysis.uniformity import Varying
from ljit.frontend.emitting.emit import build_graph
from ljit.ops.control import LOOP
from ljit.passes.convert_to_ssa import convert_to_ssa
from tests.frontend.harness import function_of


def varying_sums(body):
    """Of the sums in the body of a loop over `i`, by the constant that is added, those that vary."""
    source = "def f(n, a, b):\n    for i in range(n):\n"
    source += "".join(f"        {line}\n" for line in body.split("\n"))
    graph = build_graph(function_of(source))
    convert_to_ssa(graph)
    loop = next(node for node in graph.walk() if node.op is LOOP)
    varying = Varying(loop)
    sums = [node for node in loop.blocks[0].walk() if node.op.name == "py::add"]
    added = [(node.inputs[1], node.output) for node in sums]
    return [x.constant for x, out in added if x.is_constant and out in varying]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("x = i + 1\ny = a + 2\nz = x + 3", [1, 3]),
        ("x = a + 1 if i < 3 else b + 2\ny = x + 3", [3]),
        ("x = a + 1 if b < 3 else b + 2\ny = x + 3", []),
        ("x = a\nfor j in range(b):\n    x = x + 1\ny = x + 2", []),
        ("x = a\nfor j in range(b):\n    x = x + 1\n    if j < i: break\ny = x + 2", [1, 2]),
        # what the inner loop carries first is known to vary when all of it was looked at
        (
            "x = y = a\nfor j in range(b):\n    z = x + 1\n    x = y + 2\n    y = y + i\nw = z",
            [1, 2],
        ),
    ],
)
def test_what_depends_on_the_trip_varies(body, found):
    assert varying_sums(body) == found
