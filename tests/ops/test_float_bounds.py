"""Bounds of floats, against what NumPy and Python compute of numbers within the operands' bounds."""

import math
import random
import warnings

import numpy as np
import pytest

import ljit
from ljit.ir import REGISTRY, Graph
from ljit.ir.graph import Node
from ljit.types import BOOL, FLOAT, INT, ScalarType
from ljit.value_types import type_of

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 255.0, 1e-310, -1e-310, 5e-324, 1e300, -1e300]
NUMBERS += [math.inf, -math.inf, 2.0**53, 16777217.0, 0.1, -0.3]
NAN = math.nan


class Operands:
    """What is known of operands, as `Symbolic` tells it."""

    has_exact_floats = True

    def __init__(self, bounds):
        self._bounds = bounds

    def floats(self, value):
        return self._bounds[value]

    def is_int(self, value):
        return value.type == INT


# those that give floats of numbers and no attributes
OPS = [op for op in REGISTRY.values() if op.ranges is not None and op.ranges.floats is not None]
OPS = [op for op in OPS if op.name not in ("math::isqrt", "np::number", "np::member", "prim::near")]


def drawn(rng, kind):
    """Some numbers of a class, and their bounds."""
    if kind is int:
        values = [rng.choice([0, 1, -1, 3, 255, 2**53 + 1, -(2**63)]) for _ in range(2)]
    else:
        with np.errstate(all="ignore"):
            values = [kind(rng.choice(NUMBERS)) for _ in range(rng.choice([1, 2]))]
    ends = [float(x) for x in values]
    may_be_nan = kind is not int and rng.random() < 0.2
    bounds = min(ends), max(ends), may_be_nan
    return [*values, *([kind(NAN)] if may_be_nan else [])], bounds


def node_of(op, types, output):
    graph = Graph()
    node = Node(graph, op)
    params = [graph.block.add_param(f"x{i}", t) for i, t in enumerate(types)]
    for param in params:
        node.add_input(param)
    node.add_output(output)
    return node, params


def is_within(result, bounds):
    low, high, may_be_nan = bounds
    number = float(result)
    return may_be_nan if math.isnan(number) else low <= number <= high


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_results_are_within_the_bounds(op):
    rng = random.Random(op.name)
    is_checked = False
    for _ in range(1500):
        count = rng.choice([1, 2])
        kinds = [rng.choice([float, np.float64, np.float32, int]) for _ in range(count)]
        if set(kinds) == {int}:
            kinds[0] = float  # ints are no floats, and their powers have no end
        operands, bounds = zip(*(drawn(rng, kind) for kind in kinds), strict=True)
        for values in [tuple(rng.choice(each) for each in operands) for _ in range(3)]:
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    result = op.evaluate(*values)
            except (TypeError, ValueError, OverflowError, ZeroDivisionError):
                continue
            output = type_of(result)
            if output != FLOAT and not (
                isinstance(output, ScalarType) and output.dtype.kind == "f"
            ):
                continue
            node, params = node_of(op, list(map(type_of, values)), output)
            found = op.ranges.floats(Operands(dict(zip(params, bounds, strict=True))), node)
            if found is not None:
                is_checked = True
                assert is_within(result, found), (values, bounds, result, found)
    assert is_checked


COMPARISONS = [
    op for op in REGISTRY.values() if op.ranges is not None and op.ranges.limits is not None
]
COMPARISONS = [op for op in COMPARISONS if not op.name.endswith(("::truth", "::not"))]  # of bools


@pytest.mark.parametrize("op", COMPARISONS, ids=lambda op: op.name)
def test_what_was_compared_is_within_the_limits(op):
    rng = random.Random(op.name)
    is_checked = False
    for _ in range(5000):
        kinds = [rng.choice([float, np.float64, np.float32, int]) for _ in range(2)]
        operands, bounds = zip(*(drawn(rng, kind) for kind in kinds), strict=True)
        values = tuple(rng.choice(each) for each in operands)
        with np.errstate(all="ignore"):
            holds = bool(op.evaluate(*values))
        node, params = node_of(op, list(map(type_of, values)), BOOL)
        known = Operands(dict(zip(params, bounds, strict=True)))
        for value, limit in op.ranges.limits(known, node, holds):
            is_checked = True
            assert is_within(values[params.index(value)], limit), (values, bounds, holds, limit)
    assert is_checked


def quotient(x, y):
    return math.sqrt(x / y) if x >= 0.0 and y >= 0.0 else -1.0


def power(x, y):
    return math.sqrt(x**y) if x >= 0.0 else -1.0


@pytest.mark.parametrize("function", [quotient, power])
def test_zeros_with_a_minus_make_roots_raise(function):
    f = ljit.jit(function)
    for _ in range(3):
        assert f(np.float64(2.0), np.float64(3.0)) == function(np.float64(2.0), np.float64(3.0))
    args = (
        (np.float64(2.0), np.float64(-0.0))
        if function is quotient
        else (np.float64(-0.0), np.float64(-1.0))
    )
    with np.errstate(all="ignore"):
        for made in (function, f):
            with pytest.raises(ValueError, match="domain"):
                made(*args)
