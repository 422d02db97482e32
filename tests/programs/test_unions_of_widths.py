"""Variables that hold numbers of one kind and of various widths, whose values share a component."""

from itertools import permutations

import numpy as np
import pytest

import ljit
from ljit import config

NUMBERS = {
    "i": (2**40 + 3, np.int8(-128), np.uint8(255), np.int16(-2), np.uint32(2**32 - 1), np.uint64(2**64 - 1)),
    "f": (0.1, np.float16(-0.1), np.float32(1e-45), np.float64(1e300), np.float32("nan"), float("inf")),
    "mixed": (True, np.bool(True), np.int8(-1), 1.5, np.float32(0.1), None),
}  # fmt: skip
TRIPLES = [(kind, t) for kind, numbers in NUMBERS.items() for t in permutations(numbers, 3)]


def outcome(f, *args):
    try:
        result = f(*args)
    except (OverflowError, TypeError, ZeroDivisionError) as error:
        return type(error), str(error)
    return [(type(x), repr(x)) for x in result]


def handed_on(x, y, z, which):
    """Unions of two, then of three, then of two again."""
    two = x if which % 2 else y
    three = z if which > 3 else two
    back = two if three is z else three
    return two, three, back, (three, 7)


def used(x, y, which):
    v = x if which % 2 else y
    return v, v == 3, v < 100, bool(v)


def outcomes(f, *args):
    return [outcome(f, *args, which) for which in range(6)]


@pytest.mark.parametrize(("kind", "numbers"), TRIPLES[::5])
def test_unions_are_handed_on(kind, numbers):
    with config.overridden(cold_calls=False, quick_runs=3):
        f = ljit.jit(handed_on)
        for _ in range(8):
            assert outcomes(f, *numbers) == outcomes(handed_on, *numbers)


@pytest.mark.parametrize(("kind", "numbers"), TRIPLES[::4])
def test_unions_are_operands(kind, numbers):
    x, y, _ = numbers
    if x is None or y is None:
        return
    with config.overridden(cold_calls=False, quick_runs=3):
        f = ljit.jit(used)
        for _ in range(8):
            assert outcomes(f, x, y) == outcomes(used, x, y)


def least(a, v):
    for i in range(len(a)):
        v = min(v, a[i])
    return v, max(v, 7)


def below_a_constant(a):
    v = 1e300
    for i in range(len(a)):
        v = min(a[i], v)
    return v


def test_a_constant_that_is_beyond_the_other_type():
    a = np.array([3.5, 2.5, np.inf], np.float32)
    with config.overridden(cold_calls=False, quick_runs=3), np.errstate(over="ignore"):
        f = ljit.jit(below_a_constant)
        for _ in range(8):
            for part in (a, a[:0], a[2:]):
                assert repr(f(part)) == repr(below_a_constant(part))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint32", "int64", "float16", "float32"]
)
def test_the_least_has_the_class_of_the_one_that_it_is(dtype):
    rng = np.random.default_rng(1)
    a = rng.integers(3, 100, 50).astype(dtype)
    starts = (
        (0.25, 50.5, 1e9, 1e300, 3.0) if a.dtype.kind == "f" else (0, 50, 10**9, -5, int(a.min()))
    )
    with config.overridden(cold_calls=False, quick_runs=3), np.errstate(over="ignore"):
        f = ljit.jit(least)
        for _ in range(8):
            for start in starts:
                for part in (a, a[:0], a[:1]):
                    assert outcome(f, part, start) == outcome(least, part, start)
