"""Which code goes through fewer passes of LLVM's: that without a loop to make vectors of, or to write twice."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen import CompileOptions
from ljit.codegen.llvm.engine import Passes, compile_ir
from ljit.codegen.llvm.partition import AGAIN
from ljit.codegen.unit import build_module


def running_total(xs, out):
    total = 0.0
    for i in range(xs.size):
        total += xs[i]
        out[i] = total
    return total


def scaled(xs, out):
    for i in range(xs.size):
        out[i] = xs[i] * 2.0


def place_of(xs, wanted):
    low, high = 0, xs.size
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def counted(xs, out):
    i = 0
    while i < xs.size:
        out[i] = xs[i] * 2.0
        i += 1


def totals_of_rows(xs, out):
    for i in range(xs.shape[0]):
        total = 0.0
        for j in range(xs.shape[1]):
            total += xs[i, j]
        out[i] = total


def totals_of_three(xs, out):
    for i in range(out.size):
        total = 0.0
        for j in range(3):
            total += xs[j, i]
        out[i] = total


def one_of_two(xs, out):
    total = 0.0
    for i in range(xs.size):
        total += xs[i]
        out[i] = total
    for i in range(xs.size):
        out[i] = out[i] * 2.0


def whole_array(xs, out):
    total = 0.0
    for i in range(xs.size):
        total += xs[i]
    out[:] = xs * total


def bits_set(xs):
    count = 0
    for i in range(xs.size):
        x = int(xs[i])
        while x:
            x &= x - 1
            count += 1
    return count


def calls_of_itself(n):
    return 1 if n < 2 else calls_of_itself(n - 1) + calls_of_itself(n - 2) + 1


def inserted(xs):
    for i in range(1, len(xs)):
        x, j = xs[i], i
        while j > 0 and xs[j - 1] > x:
            xs[j] = xs[j - 1]  # references are counted in line
            j -= 1
        xs[j] = x


def one_of_two_ways(xs, out, is_twice):
    for i in range(xs.size):
        if is_twice:
            out[i] = xs[i] * 2.0
        else:
            out[i] = xs[i] + 1.0


def one_of_two_ways_by_memory(xs, out, ways):
    for i in range(xs.size):
        if ways[0] > 1:
            out[i] = xs[i] * 2.0
        else:
            out[i] = xs[i] + 1.0


def one_of_two_ways_by_element(xs, out):
    for i in range(xs.size):
        if xs[i] > 1.0:
            out[i] = xs[i] * 2.0


def one_of_two_ways_outside(xs, out, is_twice):
    factor = 2.0 if is_twice else 3.0
    for i in range(xs.size):
        out[i] = xs[i] * factor


def leaves_at(xs, out, wanted):
    for i in range(xs.size):
        if i == wanted:
            break
        out[i] = xs[i] + 1.0


def rows_of_two_ways(xs, out, is_twice):
    for i in range(out.size):
        if is_twice:
            for j in range(xs.shape[0]):
                out[i] += xs[j, i]


def counts_down(n, xs):
    if n < 1:
        return 1
    total = 0
    for i in range(3):
        x = int(xs[i])
        if x % 3 == 1:
            total += 2 * (x & 7) - i * n
        elif x % 5 == 2:
            total -= x // 3 + (i ^ n)
        total += counts_down(n - 1 - i, xs)
    return total


def tallied(places, counts):
    for place in places:
        counts[place] += 1


def row_sums(xs, out):
    out[:] = (xs * 2.0).sum(axis=1)


VECTOR, MATRIX = np.arange(40.0) / 7, np.arange(120.0).reshape(3, 40) / 7
PROGRAMS = [
    (running_total, (VECTOR, VECTOR * 0), True),
    (place_of, (VECTOR, 2.5), True),
    (totals_of_rows, (MATRIX, np.zeros(3)), True),
    (calls_of_itself, (9,), True),
    (inserted, ([5.0, 3.0, 9.5, 1.0],), True),
    (tallied, (np.arange(40) % 7, np.zeros(7, np.int64)), True),
    (scaled, (VECTOR, VECTOR * 0), False),
    (counted, (VECTOR, VECTOR * 0), False),
    # three trips unrolled: the outer loop has vectors
    (totals_of_three, (MATRIX, VECTOR * 0), False),
    (bits_set, (np.arange(40),), False),  # LLVM counts them at once: the outer loop has vectors
    (one_of_two, (VECTOR, VECTOR * 0), False),
    (whole_array, (VECTOR, VECTOR * 0), False),
]
UNSWITCHED = [
    (scaled, (VECTOR, VECTOR * 0), False),
    (totals_of_three, (MATRIX, VECTOR * 0), False),
    (one_of_two_ways_by_element, (VECTOR, VECTOR * 0), False),
    (one_of_two_ways_outside, (VECTOR, VECTOR * 0, True), False),
    (leaves_at, (VECTOR, VECTOR * 0, 7), False),
    (one_of_two_ways, (VECTOR, VECTOR * 0, True), True),
    (one_of_two_ways_by_memory, (VECTOR, VECTOR * 0, np.arange(3)), True),
    (whole_array, (VECTOR, VECTOR * 0), False),
    (row_sums, (MATRIX, np.zeros(3)), True),
]
NAMES = [function.__name__ for function, _, _ in PROGRAMS]
OTHERS = [
    (rows_of_two_ways, (MATRIX, np.zeros(40), True), None),
    (counts_down, (4, np.arange(3)), None),
]


@pytest.mark.parametrize(("function", "args", "expected"), PROGRAMS, ids=NAMES)
def test_code_is_scalar_where_no_loop_can_have_vectors(function, args, expected):
    graph = ljit.jit(function).graph_for(*args)
    _, context, _ = build_module(graph, name="f", options=CompileOptions())
    assert context.module.is_scalar == expected


@pytest.mark.parametrize(("function", "args", "expected"), UNSWITCHED)
def test_loops_are_unswitched_where_a_branch_may_go_the_same_way_in_all_trips(
    function, args, expected
):
    graph = ljit.jit(function).graph_for(*args)
    _, context, _ = build_module(graph, name="f", options=CompileOptions())
    assert context.may_unswitch == expected


@pytest.mark.parametrize(
    ("function", "args", "copies"), [(calls_of_itself, (9,), 2), (counts_down, (4, VECTOR), 1)]
)
def test_functions_that_call_themselves_are_unfolded_deeper_if_little_runs(function, args, copies):
    compiled = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(3):
            compiled(*args)
    defined = re.findall(rf"define .*{re.escape(AGAIN)}\d\(", compiled.dump_llvm())
    assert len(defined) == copies


@pytest.mark.parametrize(("function", "args", "_expected"), PROGRAMS + UNSWITCHED + OTHERS)
def test_code_does_what_the_function_does(function, args, _expected):
    compiled = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(3):
            given, wanted = (copy.deepcopy(args) for _ in range(2))
            result, expected = compiled(*given), function(*wanted)
            assert result == expected
            assert type(result) is type(expected)
            assert all(map(np.array_equal, given, wanted))
    assert any(info.calls for info in compiled.specializations)


TWO_FUNCTIONS = """
define i64 @f(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x = phi i64 [ 1, %entry ], [ %y, %loop ]
  %more.x = add i64 %x, %i
  %y = xor i64 %more.x, 1000003
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = call i64 @g(i64 %y)
  ret i64 %result
}
define internal i64 @g(i64 %x) noinline {
  %place = alloca i64
  store i64 %x, ptr %place
  %found = load i64, ptr %place
  %twice = add i64 %found, %x
  ret i64 %twice
}
"""


@pytest.mark.parametrize("scalar", [False, True])
def test_each_function_is_simplified_and_loops_are_unrolled(scalar):
    compiled = compile_ir(TWO_FUNCTIONS, "f", passes=Passes(scalar=scalar))
    made = compiled.optimized_ir()
    assert "alloca" not in made
    assert len(re.findall(r" xor ", made)) > 1
    compiled.free()


ASKS_IN_EACH_TRIP = """
define void @f(i64 %n, i1 %is_first, ptr %place) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  br i1 %is_first, label %first, label %second
first:
  store volatile i64 %i, ptr %place
  br label %latch
second:
  store volatile i64 1000003, ptr %place
  br label %latch
latch:
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@pytest.mark.parametrize(
    ("passes", "expected"),
    [(Passes(), True), (Passes(scalar=True), False), (Passes(unswitch=False), False)],
)
def test_loops_are_written_once_for_each_answer_where_that_is_wanted(passes, expected):
    compiled = compile_ir(ASKS_IN_EACH_TRIP, "f", passes=passes)
    assert ("loop.us:" in compiled.optimized_ir()) == expected
    compiled.free()
