"""Sums of ints that are made in two parts are what CPython gives, also where they are no int64."""

import numpy as np
import pytest

import ljit
from tests.frontend.harness import function_of

N = 10_000  # trips: several blocks


def of_elements(a, n):
    s = 5
    for i in range(n):
        s += int(a[i])
    return s


def of_differences(a, n):
    s = t = 0
    for i in range(n):
        if a[i] > 0:
            s += int(a[i])
        else:
            s -= int(a[i]) ^ i
            t += 1
    return s, t


def of_two_terms(a, n):
    s = t = 0
    for x in a[:n]:
        s = 3 + (s - (int(x) >> 1)) + (int(x) | 1)
        t -= int(x)
    return s, t


def downwards(a, n):
    s = 0
    for i in range(n - 1, -1, -1):
        s = (int(a[i]) & -3) + s
    return s


def in_a_nest(a, n):
    t = 0
    for j in range(3):
        s = 0
        for i in range(j, n):
            s += int(a[i]) ^ j
        t ^= s
    return t


def of_distances(a, n):
    s = 0
    for i in range(n):
        s += abs((int(a[i]) >> 2) - i)
        s += min(int(a[i]), 7 * i, 100)
    return s


def of_products(a, n):
    s = t = 0
    for i in range(n):
        x = int(a[i]) >> 20
        s += x * x - int(a[i]) * 3
        t += x * 1_000_003
    return s, t


def of_steps(a, n):
    s = 0
    for i in range(1, n):
        d = int(a[i]) - int(a[i - 1])
        if d < 0:
            d = -d
        s += d
    return s


def of_whole_parts(a, n):
    s = 0
    for i in range(n):
        if a[i] > -7:
            s += int(a[i] * 0.25) * 3 - i
    return s


def of_short_loops(a, n):
    s = 0
    for i in range(n - 6):
        t = 0
        for k in range(7):
            t += (int(a[i + k]) >> 8) + k
        s += t
    return s


def of_checked_windows(a, n):
    s = 0
    for i in range(n - 8):
        t = 0
        for j in range(3):
            for k in range(3):
                t += int(a[i + k + j]) * 3
        if t > i:
            s += t + int(a[i] * 0.5)
    return s


def read_in_the_loop(a, n):
    s = most = 0
    for i in range(n):
        s += int(a[i])
        most = max(s, most)
    return s, most


def up_to_an_error(a, n):
    s = t = 0
    for i in range(n):
        if a[i] == 5:
            raise ValueError(i, s)
        else:
            s += int(a[i])
            t -= int(a[i]) ^ i
    return s, t


PROGRAMS = [
    of_elements,
    of_differences,
    of_two_terms,
    downwards,
    in_a_nest,
    of_distances,
    of_short_loops,
]
PROGRAMS += [
    of_products,
    of_steps,
    of_whole_parts,
    of_checked_windows,
]  # whose terms have checks, too


def elements(high, n=N):
    return np.random.default_rng(3).integers(-high, high, n)


def same(program, f, a, n):
    expected, result = program(a, n), f(a, n)
    assert repr(result) == repr(expected)


def compiled(program, a):
    f = ljit.jit(program)
    for _ in range(3):
        same(program, f, a, len(a))
    return f


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_sums_are_those_of_cpython(program):
    f = compiled(program, elements(2**40))
    for n in (-1, 0, 1, 7, 4095, 4096, 4097, 8192, N):
        same(program, f, elements(2**40), n)
        same(program, f, np.full(N, -(2**40)), n)
    assert not sum(info.bailouts for info in f.specializations)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("place", [0, 4094, 4096, N - 3])
def test_sums_that_are_no_int64_are_ints_all_the_same(program, place):
    f = compiled(program, elements(2**40))
    for sign in (1, -1):
        a = elements(2**40)
        a[place : place + 3] = sign * (2**63 - 1)
        for _ in range(3):
            same(program, f, a, N)
    same(program, f, elements(2**40), N)


def test_sums_that_are_an_int64_at_the_end_need_no_more():
    f = compiled(of_elements, elements(2**40))
    a = np.array([2**62, 2**62, 2**62, -(2**62), -(2**62), -(2**62)])
    same(of_elements, f, a, len(a))
    assert not sum(info.bailouts for info in f.specializations)


@pytest.mark.parametrize("program", [*PROGRAMS, read_in_the_loop], ids=lambda f: f.__name__)
def test_sums_that_are_read_in_the_loop_stay(monkeypatch, program):
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    graph = str(compiled(program, elements(2**40)).graph_for(elements(2**40), N))
    assert ("np::int64(" in graph) == (program is not read_in_the_loop)


def test_loops_with_branches_that_leave_them_stay():
    a = elements(2**40) | 8
    f = compiled(up_to_an_error, a)
    assert [info.bailouts for info in f.specializations] == [0]
    a[5000] = 5
    for _ in range(3):
        with pytest.raises(ValueError, match="5000") as expected:
            up_to_an_error(a, N)
        with pytest.raises(ValueError, match="5000") as result:
            f(a, N)
        assert result.value.args == expected.value.args


def test_many_ways_through_the_ifs_of_a_trip_take_no_longer_to_look_at():
    lines = [
        f"        if i & {k}:\n            s += i\n        else:\n            s -= {k}\n"
        for k in range(48)
    ]
    text = "def f(n):\n    s = 0\n    for i in range(n):\n"
    function = function_of(f"{text}{''.join(lines)}    return s\n")
    native = ljit.jit(function)
    for n in (10, 10, 1000):
        assert native(n) == function(n)


def of_numpys(a, n):
    s = 0
    for i in range(n):
        x = a[i]
        if x < 20:
            x = 0
        s += x * 3
    return s


def test_sums_that_need_no_check_may_have_terms_that_do(monkeypatch):
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    a = elements(2**40)
    f = compiled(of_numpys, a)
    graph = str(f.graph_for(a, N))
    assert "checks='made'" in graph
    assert "np::int64(" not in graph
    for place in (0, 4094, 4096, N - 3):
        for wrong in (2**63 - 1, -(2**63), 2**61 + 3):
            b = elements(2**40)
            b[place : place + 3] = wrong
            with np.errstate(over="ignore"):
                same(of_numpys, f, b, N)


def of_small_terms(a, n):
    s = t = 0
    for i in range(n):
        s += int(a[i]) * 3
        t = t - int(a[i]) + i % 8
    return s, t


def test_small_terms_are_not_taken_apart(monkeypatch):
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    a = elements(2**31).astype(np.int32)
    f = compiled(of_small_terms, a)
    graph = str(f.graph_for(a, N))
    assert "value=4096" in graph
    assert "np::int64(" not in graph
    for wrong in (2**31 - 1, -(2**31)):
        same(of_small_terms, f, np.full(N, wrong, np.int32), N)
