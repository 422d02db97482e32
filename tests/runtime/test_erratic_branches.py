"""Branches that go either way, as the interpreter and quick code saw them, are choices in optimised code."""

import random

import numpy as np
import pytest

import ljit
from ljit import config

MARK = "prim::If[is_erratic=True]"


def checksum(data, poly):
    crc = 0xFFFF
    for b in data:
        cur = 0xFF & b
        for _ in range(8):
            if (crc & 1) ^ (cur & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur >>= 1
    return crc


def place(xs, x):
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def places(xs, keys):
    total = 0
    for x in keys:
        total += place(xs, x)
    return total


def above(xs, limit):
    best = 0
    for i in range(len(xs)):
        if xs[i] > limit:
            best = best + i
        else:
            best = best ^ i
    return best


def numbers(seed, count):
    return np.random.default_rng(seed).random(count)


PROGRAMS = [
    (checksum, (np.random.default_rng(1).integers(0, 256, 300).astype(np.uint8), 0x8408)),
    (places, (np.sort(numbers(2, 500)), numbers(3, 200))),
    (places, (sorted(random.Random(4).choices(range(1000), k=300)), [*range(0, 990, 7)])),
    (above, (numbers(5, 1000), 0.5)),
]


@pytest.mark.parametrize("quick_runs", [0, 5])  # as the interpreter saw them, quick code too
@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_noise_becomes_choices(program, args, quick_runs):
    with config.overridden(cold_calls=False, quick_runs=quick_runs):
        f = ljit.jit(program)
        for _ in range(20):
            result = f(*args)
            assert (result, type(result)) == (program(*args), type(program(*args)))
        assert f.specializations[0].state == "native"
        assert MARK in str(f.graph_for(*args))


@pytest.mark.parametrize("quick_runs", [0, 5])
def test_what_the_processor_foretells_stays_a_branch(quick_runs):
    args = (np.sort(numbers(6, 1000)), 0.4)
    with config.overridden(cold_calls=False, quick_runs=quick_runs):
        f = ljit.jit(above)
        for _ in range(20):
            assert f(*args) == above(*args)
        assert f.specializations[0].state == "native"
        assert MARK not in str(f.graph_for(*args))


def test_checks_of_sides_that_are_chosen_leave_where_they_should():
    def sums(xs, y):
        s = 0
        for x in xs:
            if x & 4:
                s = s + y
            else:
                s = s - x
        return s

    xs = random.Random(8).choices(range(64), k=300)
    with config.overridden(cold_calls=False, quick_runs=5):
        f = ljit.jit(sums)
        for _ in range(20):
            f(xs, 1)
        assert MARK in str(f.graph_for(xs, 1))
        for y in (1, 2**61, -(2**63), 2**63 - 1, True, 2.5):
            assert f(xs, y) == sums(xs, y)


# -- stores on both sides --------------------------------------------------------------------------


def merge(a, b, out):
    i = j = k = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
        k += 1
    while i < len(a):
        out[k] = a[i]
        i, k = i + 1, k + 1
    while j < len(b):
        out[k] = b[j]
        j, k = j + 1, k + 1


def merged(a, b):
    """With a list that nobody else sees."""
    out = [0.0] * (len(a) + len(b))
    merge(a, b, out)
    s = 0.0
    for x in out:
        s = s / 2 + x
    return s


def outcome(function, *args):
    """What it raises, and in which line of its own."""
    try:
        return function(*args)
    except IndexError as error:
        place = error.__traceback__
        while place.tb_frame.f_code.co_name != "merge":
            place = place.tb_next
        return str(error), place.tb_lineno


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32, np.uint8])
def test_merging_stores_once(dtype):
    a, b = (np.sort(numbers(n, 200) * 100).astype(dtype) for n in (9, 10))
    with config.overridden(cold_calls=False, quick_runs=5):
        f = ljit.jit(merge)
        for _ in range(20):
            out, expected = np.zeros(400, dtype), np.zeros(400, dtype)
            f(a, b, out)
            merge(a, b, expected)
            assert np.array_equal(out, expected)
        text = str(f.graph_for(a, b, out))
        assert MARK in text
        assert text.count("np::setitem") == 3 == text.count("prim::Loop")
        for size in (400, 399, 300, 3, 0):
            out, expected = np.zeros(size, dtype), np.zeros(size, dtype)
            assert outcome(f, a, b, out) == outcome(merge, a, b, expected)
            assert np.array_equal(out, expected)
        out, expected = a.copy(), a.copy()
        assert outcome(f, a, out, out) == outcome(merge, a, expected, expected)
        assert np.array_equal(out, expected)


def test_merging_lists_that_nobody_sees():
    a, b = sorted(numbers(11, 300).tolist()), sorted(numbers(12, 300).tolist())
    with config.overridden(cold_calls=False, quick_runs=5):
        f = ljit.jit(merged)
        for _ in range(20):
            assert f(a, b) == merged(a, b)
        assert MARK in str(f.graph_for(a, b))


def caught(a, b, out):
    i = j = k = 0
    try:
        while i < len(a) and j < len(b):
            if a[i] <= b[j]:
                out[k] = a[i]
                i += 1
            else:
                out[k] = b[j]
                j += 1
            k += 1
    except IndexError:
        return -1, i, j, k
    return i, j, k


def test_handlers_see_what_the_variables_were_at_the_store():
    rng = np.random.default_rng(13)
    with config.overridden(cold_calls=False, quick_runs=5):
        f = ljit.jit(caught)
        for size in [400] * 20 + [100, 37, 0, 1, 399, 400]:
            a, b = (np.sort(rng.random(200)) for _ in range(2))
            out, expected = np.zeros(size), np.zeros(size)
            assert f(a, b, out) == caught(a, b, expected)
            assert np.array_equal(out, expected)
        assert MARK in str(f.graph_for(a, b, out))
