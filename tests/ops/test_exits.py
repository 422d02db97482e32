"""What may leave native code says so: nests in another order than the program's must not be left."""

from __future__ import annotations

import math

import numpy as np

import ljit
from ljit.codegen import CompileOptions
from ljit.codegen.unit import build_module
from ljit.ir import REGISTRY
from ljit.value_types import type_of
from tests.ops.python_harness import graph_of, is_native_type

NEVER_HAPPENS = "a Python call gave another type"  # or `infer` is wrong


def silent_exits(op):
    """Operand types of its samples for which code of the op can leave, without an effect or a check that says so."""
    if op.infer is None or op.evaluate is None or (op.ranges is not None and op.ranges.checks):
        return
    for types in {tuple(map(type_of, operands)) for operands in op.operand_samples()}:
        are_native = all(map(is_native_type, (*types, *op.infer_types(types, {}))))
        if not are_native or not op.has_lowering(types):
            continue
        graph = graph_of(op, types, {})
        node = next(node for node in graph.block if node.op is op)
        if not op.can_leave(node):
            _, context, _ = build_module(graph, name="op", options=CompileOptions())
            reasons = {site.reason for site in context.sites if site.origin == node.origin}
            yield from ((op.name, types, reason) for reason in reasons - {NEVER_HAPPENS})


def test_lowerings_that_can_leave_say_so():
    assert [found for op in REGISTRY.values() for found in silent_exits(op)] == []


def norms(a, b, c):
    for j in range(c.shape[1]):
        for k in range(a.shape[1]):
            for i in range(c.shape[0]):
                c[i, j] += math.hypot(a[i, k], b[k, j])
    return c


def test_norms_of_tiny_numbers_are_added_once():
    rng = np.random.default_rng(3)
    f = ljit.jit(norms)
    for tiny in (False, False, True, True):
        a, b = rng.random((2, 24, 24))
        if tiny:
            a[12, 5], b[5, 7] = 1e-310, 2e-310
        np.testing.assert_array_equal(f(a, b, np.zeros((24, 24))), norms(a, b, np.zeros((24, 24))))


def members(xs, start, stop, step):
    r = range(start, stop, step)
    return [x in r for x in xs], bool(r)


def test_numbers_in_ranges_as_wide_as_numbers_go():
    least, most = -(2**63), 2**63 - 1
    f = ljit.jit(members)
    bounds = (least, least + 1, -7, 0, 5, most - 1, most)
    xs = [*bounds, 1, 2, 3, -1]
    for start in bounds:
        for stop in bounds:
            for step in (1, -1, 2, -3, most, least):
                assert f(xs, start, stop, step) == members(xs, start, stop, step)
    assert all(info.bailouts == 0 for info in f.specializations)
