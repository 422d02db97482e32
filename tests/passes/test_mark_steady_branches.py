"""Branches that nearly always go one way stay branches where a choice would wait for floats of the trip before."""

import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.control import IF
from ljit.passes import run_passes
from tests.programs.harness import compare


def limited(x, g, y):
    """The ratio is cut off in nearly all trips."""
    for k in range(len(g)):
        r = g[k] / (0.3 * y[k] + g[k] / x[k])
        if r > 1.0:
            r = 1.0
        x[k + 1] = (g[k] + y[k] * r) * x[k]


def limited_sum(x, g, y):
    s = x[0]
    for k in range(len(g)):
        r = g[k] / (s + 5.0)
        if r < 2.0:
            r = 2.0
        s = s * 0.5 + r
    return s


def never_limited(x, g, y):
    s = x[0]
    for k in range(len(g)):
        r = g[k] / (s + 5.0)
        if r > 2.0:
            r = 2.0
        s = s * 0.5 + r
    return s


def limited_at_once(x, g, y):
    s = x[0]
    for k in range(len(g)):
        s = s + g[k]
        if s > 0.1:
            s = 0.1
    return s


def on_its_own(x, g, y):
    for k in range(len(g)):
        r = g[k] / (x[k] + 5.0)
        if r < 2.0:
            r = 2.0
        x[k] = r


def greatest(x, g, y):
    best, place = 1e9, 0
    for k in range(len(g)):
        r = g[k] / (y[k] + 5.0)
        if r > best:
            best, place = r, k
    return best, place


def arguments(seed=1):
    rng = np.random.default_rng(seed)
    return 1.0 + rng.random(101), rng.random(100) * 0.1 + 1.0, rng.random(100) * 0.1 + 1.5


def optimised(function):
    f = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=20):
        for seed in range(60):
            given, expected = arguments(seed), arguments(seed)
            assert compare(function(*expected), f(*given)) is None
            assert compare(expected, given) is None
    return f


def marks(f):
    return re.findall(r"usual=(\w+)", str(f.graph_for(*arguments())))


@pytest.mark.parametrize(("function", "usual"), [(limited, "True"), (limited_sum, "True")])
def test_what_ends_a_wait_is_a_branch(function, usual):
    f = optimised(function)
    assert marks(f) == [usual]
    assert "!prof" in f.dump_llvm()
    for mixed in ((0.1, 1.0, 1.0), (1.0, -1.0, 0.3), (1.0, 0.0, 0.0)):
        with np.errstate(all="ignore"):
            given, expected = (
                tuple(a * m for a, m in zip(arguments(5), mixed, strict=True)) for _ in range(2)
            )
            assert compare(function(*expected), f(*given)) is None
            assert compare(expected, given) is None


@pytest.mark.parametrize("function", [never_limited, limited_at_once, on_its_own, greatest])
def test_others_are_left_to_llvm(function):
    assert marks(optimised(function)) == []


def test_marks_follow_from_the_history():
    graph = optimised(limited_sum).graph_for(*arguments())
    (choice,) = (node for node in graph.walk() if node.op is IF and "usual" in node.attrs)
    for steady, changed in (
        ({}, False),
        ({choice.origin: False}, False),
        ({choice.origin: True}, True),
    ):
        choice.attrs.pop("usual", None)
        assert run_passes(graph, "mark_steady_branches", steady=steady) == changed
        assert choice.attrs.get("usual") is (True if changed else None)
