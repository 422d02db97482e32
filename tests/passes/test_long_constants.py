"""Constant ints of more than 63 bits are NumPy's where np.uint64 is called with them, or an operand beside them."""

import numpy as np
import pytest

import ljit
from tests.programs.harness import compare

GIVEN = np.array([0, 5, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)


def split_mix(seed, n):
    state, mixed = seed, np.uint64(0)
    for _ in range(n):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        z = (state ^ (state >> np.uint64(30))) * 0xBF58476D1CE4E5B9
        mixed ^= z ^ 0x94D049BB133111EB
    return mixed


def beside_an_array(x):
    return x ^ 2**63, (x | 2**63) - 2**63, 2**64 - 1 - x, x < 2**63 + 5, x == 2**64 - 1


def made_by_constructors(x):
    return np.float64(2**70) * x, np.float32(2**63), np.uint64(2**64 - 1) // x


def shifts_and_quotients(x):
    return x >> 2**63, x % (2**63 + 1), x // 2**63


NATIVE = [
    (split_mix, (np.uint64(7), 50)),
    (beside_an_array, (GIVEN,)),
    (beside_an_array, (GIVEN[3],)),
    (made_by_constructors, (np.uint64(3),)),
    (shifts_and_quotients, (GIVEN[3],)),
]


@pytest.mark.parametrize(("function", "given"), NATIVE)
def test_long_constants_are_native(function, given):
    f = ljit.jit(function)
    with np.errstate(over="ignore"):
        expected = function(*given)
        for _ in range(5):
            assert compare(expected, f(*given)) is None
    graph = str(f.graph_for(*given))
    assert "py::call" not in graph
    assert "Any" not in graph


def plus(x):
    return x + 2**64


def below(x):
    return x < 2**64, x > -(2**64), x != 2**65


def too_long(x):
    return np.uint64(2**64) + x


def too_long_for_int32(x):
    return np.int32(2**40 << 30) + x


@pytest.mark.parametrize("function", [plus, below, too_long, too_long_for_int32, beside_an_array])
@pytest.mark.parametrize(
    "given",
    [GIVEN[3], GIVEN, np.int64(5), np.uint8(7), np.float64(0.5), 12, 0.5, GIVEN.astype("i8")],
)
def test_others_do_what_cpython_does(function, given):
    f = ljit.jit(function)
    for _ in range(5):
        outcomes = []
        for run in (function, f):
            try:
                outcomes.append(run(given))
            except (OverflowError, TypeError) as error:
                outcomes.append((type(error), str(error)))
        assert compare(*outcomes) is None
