"""Each rule of the peephole optimiser, held against `evaluate` on hostile values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit.ops  # noqa: F401
from ljit.ir import REGISTRY, Graph, get_op
from ljit.ops.control import CONSTANT, RETURN
from ljit.passes import run_passes
from ljit.types import ANY
from ljit.value_types import type_of

FLOATS = (0.0, -0.0, 1.5, -1e308, 5e-324, float("inf"), float("-inf"), float("nan"))
INTS = (0, 1, -1, 7, 2**62, -(2**63), 2**63 - 1)
VALUES = (
    *FLOATS,
    *INTS,
    True,
    False,
    1 - 2j,
    complex(-0.0, -0.0),
    *map(np.float64, FLOATS),
    *(np.float32(x) for x in (0.0, -0.0, 1.5, np.inf, np.nan)),
    *(t(x) for t in (np.int8, np.int32, np.int64) for x in (0, 1, -1, 100, -128)),
    *(t(x) for t in (np.uint8, np.uint64) for x in (0, 1, 200)),
    np.bool(True),
)


def optimised(op, inputs):
    """Build op(parameter, constants...), optimise, and say whether it became the parameter."""
    graph = Graph()
    x = graph.block.add_param("x", type_of(inputs[0]))
    rest = []
    for value in inputs[1:]:
        attrs = {"value": value}
        rest.append(graph.block.create(CONSTANT, attrs=attrs).output)
    node = graph.block.create(op, [x, *rest])
    graph.block.create(RETURN, [node.output])
    run_passes(graph, "peephole_optimize")
    return graph.block.terminator.inputs[0] is x


def is_same(a, b):
    return type(a) is type(b) and np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("op", [op for op in REGISTRY.values() if op.neutral], ids=str)
def test_a_neutral_operand_changes_no_value_that_it_is_applied_to(op):
    neutral = op.neutral.value
    applied = 0
    elements = [neutral, float(neutral), -float(neutral), bool(neutral)]
    elements += [np.float64(neutral), np.int64(neutral)]
    for value, right in itertools.product(VALUES, elements):
        try:
            with np.errstate(all="ignore"):
                result = op.evaluate(value, right)
        except (TypeError, ArithmeticError, ValueError):
            assert not optimised(op, (value, right)), f"{op}: {value!r}, {right!r} is an error"
            continue
        if type_of(result) == ANY:
            continue
        if optimised(op, (value, right)):
            applied += 1
            assert is_same(result, value), f"{op}: {value!r}, {right!r} gave {result!r}"
    assert applied > 0


@pytest.mark.parametrize("op", [op for op in REGISTRY.values() if op.undoes_itself], ids=str)
def test_an_op_that_undoes_itself_does(op):
    for value in VALUES:
        if type_of(value) in op.undoes_itself:
            assert is_same(op.evaluate(op.evaluate(value)), value)


@pytest.mark.parametrize("op", [op for op in REGISTRY.values() if op.keeps], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.int8])
def test_an_op_that_keeps_its_operand_does(op, dtype):
    choices = {"dtype": dtype, "type": type_of(dtype(1))}
    attrs = {name: x for name, x in choices.items() if name in op.schema.keyword_only}
    has_one = len(op.schema.positional) == 1
    samples = [(x,) for x in VALUES] if has_one else op.operand_samples()
    kept = [xs for xs in samples if op.is_identity(list(map(type_of, xs)), attrs)]
    assert kept
    for operands in kept:
        assert is_same(op.evaluate(*operands, **attrs), operands[0])


def test_adding_zero_to_a_float_is_no_identity():
    assert not optimised(get_op("py::add"), (-0.0, 0))
    assert not optimised(get_op("np::add"), (np.float64(-0.0), 0.0))
    assert not optimised(get_op("py::sub"), (0.0, -0.0))
