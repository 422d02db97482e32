"""Remainders and floored quotients are NumPy's, of floats to the bit: near multiples, extreme and special numbers."""

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen import mathlib

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(9)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 0.1]
SPECIAL += [2.0**53, 2.0**52 + 1, 1e-310, 3.0, -7.5, 2.0**-1022, 1e16, 6.283185307179586]


def numbers(dtype):
    drawn = RNG.normal(size=4000) * 2.0 ** RNG.integers(-60, 60, 4000)
    divisors = RNG.normal(size=4000) * 2.0 ** RNG.integers(-30, 30, 4000)
    multiples = divisors * RNG.integers(-1000, 1000, 4000)
    near = np.nextafter(multiples, RNG.choice([-np.inf, np.inf], 4000))
    x, y = (np.array(p).ravel() for p in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        left = np.concatenate((drawn, multiples, near, x)).astype(dtype)
        right = np.concatenate((divisors, divisors, divisors, y)).astype(dtype)
    return left, right


def remainder(a, b):
    return a % b


def truncated(a, b):
    return np.fmod(a, b)


def quotient(a, b):
    return a // b


def both(a, b):
    q, r = np.divmod(a, b)
    return q * 2 + r


def by_constants(a, b):
    return np.concatenate(
        (a % 1.0, a % 2, a % -4.0, a % 0.5, a % 6, np.fmod(b, 8), b // 16, b // -1.0)
    )


def in_loop(a, b):
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = a[i] % b[i] + a[i] // 1.0 + b[i] % 1.0
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("function", [remainder, truncated, quotient, both, by_constants, in_loop])
def test_remainders_have_numpys_bits(function, dtype):
    a, b = numbers(dtype)
    compiled = ljit.jit(function)
    check_bits(compiled, function, a, b)
    with config.overridden(quick_runs=0):
        check_bits(ljit.jit(function), function, a, b)


def check_bits(compiled, function, a, b):
    wanted = function(a, b)
    for _ in range(3):
        found = compiled(a, b)
        assert found.dtype == wanted.dtype
        same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
        places = np.flatnonzero(~(same | (np.isnan(found) & np.isnan(wanted))))
        assert places.size == 0, [(found[k], wanted[k]) for k in places[:3]]


@pytest.mark.skipif(not mathlib.is_available(), reason="the C library's functions serve")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [remainder, truncated, quotient])
def test_loops_over_floats_have_vectors(function, dtype):
    a, b = numbers(dtype)
    compiled = ljit.jit(function)
    with config.overridden(quick_runs=0):
        for _ in range(3):
            compiled(a, b)
    assert "shared.fmod.double.x" in compiled.dump_asm()


@pytest.mark.parametrize(
    "layout", [lambda a: a[::-1], lambda a: a.reshape(2, -1).T, lambda a: a[:0]]
)
def test_pairs_of_quotients_and_remainders_of_arrays(layout):
    def pair(a, b):
        return divmod(a, b)

    a, b = (layout(x[:100]) for x in numbers(np.float64))
    compiled = ljit.jit(pair)
    for _ in range(3):
        for found, wanted in zip(compiled(a, b), pair(a, b), strict=True):
            np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("divisor", [3, 7, 10, 100, 127])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_ints_by_a_constant(dtype, divisor):
    namespace = {"np": np}
    exec(
        f"def parts(a):\n    return a // {divisor}, a % {divisor}, np.divmod(a, {divisor})",
        namespace,
    )
    parts = namespace["parts"]
    limits = np.iinfo(dtype)
    near = [np.arange(-300, 300), *(np.array([x]) for x in (limits.min, limits.max))]
    near += [limits.min + np.arange(300), limits.max - np.arange(300)]
    a = np.concatenate([x[(x >= limits.min) & (x <= limits.max)] for x in near]).astype(dtype)
    f = ljit.jit(parts)
    for x in (a, a, a[::2], a[0], a[-1]):
        for found, wanted in zip(f(x), parts(x), strict=True):
            for y, z in zip(np.atleast_1d(found), np.atleast_1d(wanted), strict=True):
                assert (type(y), np.asarray(y).dtype) == (type(z), np.asarray(z).dtype)
                assert np.array_equal(y, z)
