"""Ufuncs that split numbers, and `math` on integers: as NumPy and CPython have them, over all sizes of numbers."""

import math
import re

import numpy as np
import pytest

import ljit

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(11)


def parts(x):
    fraction, whole = np.modf(x)
    mantissa, exponent = np.frexp(x)
    return fraction, whole, mantissa, exponent


def scaled(x, n):
    return np.ldexp(x, n)


def together(x):
    mantissa, exponent = np.frexp(x)
    return np.ldexp(mantissa, exponent)


def divisors(x, y):
    return np.gcd(x, y), np.lcm(x, y)


def of_ints(xs, ys):
    out = []
    for x, y in zip(xs, ys):
        out.append(math.gcd(x, y))
        out.append(math.lcm(x, y) if abs(x) < 2**30 else math.gcd(x, 2, y))
    return out


def ways(n):
    total = 0
    for a in range(n):
        for b in range(n):
            total += math.comb(a, b)
        total += math.factorial(a % 18)
    return total


def native(plain, *args, calls=3):
    compiled = ljit.jit(plain)
    for _ in range(calls):
        found = compiled(*args)
    assert "calls Python" not in compiled.explain()
    assert any(info.calls for info in compiled.specializations)
    return found


def check(plain, *args):
    found, expected = native(plain, *args), plain(*args)
    pairs = [(found, expected)] if isinstance(expected, np.ndarray) else zip(found, expected)
    for one, other in pairs:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def floats(dtype):
    """Of all sizes: any bits are one."""
    size = np.dtype(dtype).itemsize
    drawn = RNG.integers(0, 256, size * 2000, dtype=np.uint8).view(dtype)
    return np.concatenate([drawn, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -2], dtype)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_taken_apart_and_put_together(dtype):
    x = floats(dtype)
    check(parts, x)
    check(together, x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("power", [np.int32, np.int64])
def test_powers_of_two_round_once(dtype, power):
    x = floats(dtype)
    n = RNG.integers(-2200, 2200, x.size).astype(power)
    for shift in (1, 8, 40):
        check(scaled, x, n // shift)
    check(scaled, x, np.full(x.size, np.iinfo(power).max))
    check(scaled, x, np.full(x.size, np.iinfo(power).min))


@pytest.mark.parametrize("dtype", "bBhHiIqQ")
def test_divisors_of_every_size(dtype):
    info = np.iinfo(dtype)
    x, y = (RNG.integers(info.min, info.max, 500, dtype, endpoint=True) for _ in range(2))
    x[:30] = np.repeat([0, info.min, info.max], 10)
    y[:30] = np.tile([0, info.min, info.max], 10)
    check(divisors, x, y)
    check(divisors, x >> 3, y >> 4)


def test_ints_have_python_s_divisors():
    xs = [0, 0, 12, -12, 7, 2**62, -(2**63) + 1, 1, *RNG.integers(-(2**30), 2**30, 200).tolist()]
    ys = [0, 5, 18, 18, -3, 2**40, 2**63 - 1, 9, *RNG.integers(-(2**30), 2**30, 200).tolist()]
    found = native(of_ints, xs, ys)
    assert found == of_ints(xs, ys)
    assert set(map(type, found)) == {int}


def test_ways_to_choose():
    assert native(ways, 40) == ways(40)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("gcd", (-(2**63), 0)),
        ("lcm", (2**40, 3**30)),
        ("factorial", (21,)),
        ("factorial", (-1,)),
        ("comb", (70, 35)),
        ("comb", (-1, 2)),
        ("comb", (3, -2)),
    ],
)
def test_what_is_no_int64_is_python_s(name, given):
    def call(*numbers):
        total = 0
        for _ in range(3):
            total += function(*numbers)
        return total

    function = getattr(math, name)
    compiled = ljit.jit(call)
    for _ in range(3):
        compiled(*(5 for _ in given))
    try:
        expected = call(*given)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            compiled(*given)
    else:
        assert compiled(*given) == expected
