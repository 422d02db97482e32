"""Properties of the IR and of every pass on random graphs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ljit.ops  # noqa: F401
from ljit import config
from ljit.analysis import Liveness
from ljit.interp import NoHooks, compile_graph, run
from ljit.ir import breaches, clone, parse
from ljit.passes import run_passes
from ljit.testing.random_graphs import random_graph

PIPELINES = [
    "canonicalize_ops",
    "constant_pooling",
    "constant_propagation",
    "decompose_ops",
    "eliminate_common_subexpression",
    "eliminate_dead_code",
    "insert_profile_nodes",
    "insert_profile_nodes,clear_profiling_information",
    "lower_simple_tuples",
    "normalize_ops",
    "peephole_optimize",
    "canonicalize_modified_loops",
    "(constant_propagation,peephole_optimize,eliminate_common_subexpression,"
    "eliminate_dead_code,constant_pooling)*",
]


def make(seed, size=14):
    return random_graph(random.Random(seed).randrange, size)


def result_of(graph, seed):
    generator = random.Random(seed)
    arguments = [generator.choice([0, 1, -3, 5, 2**40]) for _ in graph.params]
    return run(compile_graph(graph), arguments, NoHooks())


@given(st.data())
def test_graphs_verify_and_read_back_the_same(data):
    graph = random_graph(lambda n: data.draw(st.integers(0, n - 1)), 8)
    assert breaches(graph) == []
    text = str(graph)
    again = parse(text)
    assert str(again) == text
    assert breaches(again) == []


@given(st.integers(0, 10**6))
def test_a_clone_prints_the_same_and_keeps_ids(seed):
    graph = make(seed)
    copy = clone(graph)
    assert str(copy) == str(graph)
    assert [n.id for n in copy.walk()] == [n.id for n in graph.walk()]
    assert breaches(copy) == []


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pass_keeps_what_the_graph_computes(pipeline):
    changes = 0
    for seed in range(50):
        graph = make(seed)
        expected = [result_of(graph, s) for s in range(2)]
        with config.overridden(check=config.CHECK_PASSES):
            changes += run_passes(graph, pipeline)
        found = [result_of(graph, s) for s in range(2)]
        assert found == expected, f"seed {seed}\n{make(seed)}\nbecame\n{graph}"
        assert [type(x) for x in found] == [type(x) for x in expected]
    nothing_to_do = ("decompose_ops", "lower_simple_tuples", "normalize_ops")
    nothing_to_do += ("canonicalize_modified_loops",)
    assert changes > 0 or pipeline in nothing_to_do


def test_what_is_live_before_a_node_holds_its_operands_and_nothing_defined_later():
    for seed in range(60):
        graph = make(seed)
        liveness = Liveness(graph)
        order = {}
        for node in graph.walk():
            order[node] = len(order)
        for node in graph.walk():
            before = liveness.live_before(node)
            assert {v for v in node.inputs if not v.is_constant} <= set(before)
            for value in before:
                assert value.node is None or order[value.node] < order[node]
