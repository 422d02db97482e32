"""Powers of arrays: NumPy's ways for each kind of exponent, in native code."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit.testing.elementary import errors_in_ulp, exact

SPECIAL = [-0.0, 0.0, -np.inf, np.inf, -1.0, np.nan, 4.0, 0.3, 1e-200, 1e200, -1e103, 5e-324, -2.5]


def square(a):
    return a**2


def cube(a):
    return a**3


def sixth(a):
    return np.power(a, 6.0)


def fifteenth(a):
    return a**15


def root(a):
    return a**0.5


def inverse(a):
    return a**-1


def three_halves(a):
    return np.power(a, 1.5)


def inverse_root(a):
    return np.power(a, -0.5)


def inverse_three_halves(a):
    return a**-1.5


def inverse_square(a):
    return a**-2


def inverse_cube(a):
    return a**-3.0


def far_half(a):
    return a**2.5


def inverse_far_half(a):
    return a**-2.5


def float_power(a):
    return np.float_power(a, 2.5)


def in_place(a):
    b = a.copy()
    b **= 2
    b **= 0.5
    return b


def chain(a):
    return np.sqrt((a * 0.5) ** 2)


def by(a, s):
    return a**s


def assert_close(found, wanted, ulp=1):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    equal = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    equal |= np.isnan(found) & np.isnan(wanted)
    with np.errstate(all="ignore"):
        places = np.spacing(np.maximum(np.abs(found), np.abs(wanted)))
        close = (np.abs(found - wanted) <= ulp * places) & (wanted != 0)
    assert (equal | close).all(), (found[~(equal | close)], wanted[~(equal | close)])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "function",
    [
        *(square, cube, sixth, fifteenth, root, inverse, three_halves, float_power, in_place),
        *(chain, inverse_root, inverse_three_halves, inverse_square, inverse_cube, far_half),
        inverse_far_half,
    ],
)
def test_powers_of_arrays_are_numpy_s(function, dtype):
    with np.errstate(over="ignore"):
        a = np.array(SPECIAL * 3).astype(dtype)
    compiled = ljit.jit(function)
    for x in (a, a, a, a[::2], a.reshape(3, -1).T, a[:0], np.array(2.5, dtype)):
        assert_close(np.asarray(compiled(x)), np.asarray(function(x)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("function", "exponent"),
    [
        *((cube, 3), (sixth, 6), (fifteenth, 15), (three_halves, 1.5), (far_half, 2.5)),
        *((inverse_root, -0.5), (inverse_three_halves, -1.5), (inverse_far_half, -2.5)),
        *((inverse_square, -2), (inverse_cube, -3)),
    ],
)
def test_small_powers_are_right_down_to_subnormal_results(function, exponent, dtype):
    limits = np.finfo(dtype)
    rng = np.random.default_rng(int(abs(2 * exponent)))
    sizes = np.concatenate([
        rng.uniform(limits.minexp - limits.nmant, limits.minexp + 3, 300),
        rng.uniform(limits.minexp, limits.maxexp, 300),
    ]) / exponent  # fmt: skip
    sizes = sizes.clip(limits.minexp - limits.nmant, limits.maxexp - 1)
    signs = rng.choice([-1.0, 1.0], 600) if exponent % 1 == 0 else 1.0
    with np.errstate(all="ignore"):
        a = (signs * 2.0**sizes).astype(dtype)
    compiled = ljit.jit(function)
    for _ in range(4):
        found = compiled(a)
    most = 1.0 if dtype == np.float64 and exponent in (3, 6, 15) else 0.8
    assert errors_in_ulp(found, exact("pow", a, np.full_like(a, exponent))).max() < most
    assert np.array_equal(np.signbit(found), np.signbit(a**exponent))
    assert "shared.pow." not in compiled.dump_llvm()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [0.5, 2.0, -1.0, 3.0, 0.0, np.float32(0.5), 2, -0.7])
def test_exponents_that_are_not_constants_are_taken_as_numpy_takes_them(exponent):
    a = np.array(SPECIAL)
    compiled = ljit.jit(by)
    for _ in range(4):
        assert_close(compiled(a, exponent), by(a, exponent))
    column, row = a[:, None], a[None, :]
    for _ in range(4):
        assert_close(compiled(column, row), by(column, row))


def some_root(a):
    return a**0.3, np.power(a, -2.7), 1.7**a


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_powers_by_one_number_are_numpys_in_all_layouts(dtype):
    a = np.random.default_rng(1).uniform(-0.1, 3.0, 1200).astype(dtype)
    compiled, by_number = ljit.jit(some_root), ljit.jit(by)
    square = a.reshape(30, 40)
    for x in (a, a, a, a[::2], a[::-3], square, square.T, square[:, ::2], square[::2].T, a[:1]):
        for found, wanted in zip(compiled(x), some_root(x), strict=True):
            assert_close(found, wanted, 2)
        for exponent in (2.4, dtype(2.4), np.array(2.4, dtype), 0.5, 2):
            assert_close(by_number(x, exponent), by(x, exponent), 2)


# -- complex numbers -------------------------------------------------------------------------------


def whole_powers(z):
    return (
        z**3,
        np.power(z, 4),
        z**-2,
        np.power(z, 2),
        np.power(z, 1.0),
        np.power(z, -1),
        z**0,
        z**31.0,
    )


def other_powers(z):
    return z**2.5, z**100, np.power(z, z), z**-1.0, z**2.0, z ** np.complex64(2)


def simple_powers(z):
    return z**2, z**-1, z**0.5


def complexes(dtype):
    parts = [0.0, -0.0, 1.0, -0.5, np.inf, -np.inf, np.nan, 1e300, 1e-300]
    rng = np.random.default_rng(3)
    numbers = [complex(x, y) for x in parts for y in parts]
    return np.array([*numbers, *(rng.normal(size=19) + 1j * rng.normal(size=19))]).astype(dtype)


def bits(a):
    """The bytes of the numbers, with all NaN as one."""
    parts = np.ascontiguousarray(a).reshape(-1).view(a.real.dtype)
    return np.where(np.isnan(parts), np.nan, parts).tobytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("function", [whole_powers, other_powers, simple_powers])
def test_powers_of_complex_numbers_are_numpys(function, dtype):
    z = complexes(dtype)
    compiled = ljit.jit(function)
    for a in (z, z, z[::-3], z[:0], z.reshape(2, -1).T, z[40:41].reshape(()), z[3]):
        for x, y in zip(compiled(a), function(a), strict=True):
            assert (type(x), x.dtype, x.shape) == (type(y), y.dtype, y.shape)
            if function is simple_powers:
                np.testing.assert_allclose(x, y, rtol=8 * np.finfo(dtype).eps)
            else:
                assert bits(x) == bits(y)


def test_whole_powers_of_complex_numbers_are_native_in_nests():
    def total(z):
        return (z**3 - 1.0) / (3.0 * z**2)

    z = complexes("complex128")[-19:]
    compiled = ljit.jit(total)
    for _ in range(3):
        np.testing.assert_allclose(compiled(z), total(z), rtol=1e-14)
    assert str(compiled.graph_for(z)).count("prim::Map") == 1


def test_an_array_without_axes_has_the_root_of_the_operator():
    def root_of(z):
        return z**0.5, z**-1

    z = np.array(complex(-4.0, -0.0))
    compiled = ljit.jit(root_of)
    for _ in range(3):
        assert [repr(x) for x in compiled(z)] == [repr(x) for x in root_of(z)]


BASES = [np.array([-np.inf, -0.0, 4.0]).astype(d) for d in "efdFD"] + [
    np.array([1, 0, 4]).astype(d) for d in "biB"
]
EXPONENTS = (
    *(0.5, 2.0, -1.0, 2, -1, 1, 0, 3, 3.0, 2.5),
    *(np.float64(0.5), np.float32(0.5), np.float32(2), np.float64(3), np.int64(2), np.int8(2)),
    *(np.int32(-1), np.array(0.5), np.array(2), np.array(0.5, np.float32)),
)


def by_function(a, exponent):
    return np.power(a, exponent)


def in_place(a, exponent):
    b = a.copy()
    b **= exponent
    return b


def constants(a, _exponent):
    return a**0.5, np.power(a, 0.5), a**2.0, a ** np.float64(0.5), a ** np.float32(2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.dtype.name)
@pytest.mark.parametrize("function", [by, by_function, in_place, constants])
def test_dtype_and_loop_of_powers_are_numpys(function, base):
    """NumPy's versions choose otherwise: some look at the number that a scalar of another dtype is."""
    for a in (base, base[1:2].reshape(()), np.tile(base, 100)):
        for exponent in EXPONENTS if function is not constants else (0,):
            compiled = ljit.jit(function)
            for _ in range(3):
                found, wanted = (outcome(f, a, exponent) for f in (compiled, function))
                assert [type(x) for x in found] == [type(x) for x in wanted], exponent
                for x, y in zip(found, wanted, strict=True):
                    if isinstance(y, Exception):
                        assert str(x) == str(y)
                    elif y.dtype.kind == "f":
                        assert_close(x, y)
                    else:
                        assert (x.dtype, x.shape) == (y.dtype, y.shape)
                        rtol = 8 * np.finfo(y.dtype).eps if y.dtype.kind == "c" else 0
                        np.testing.assert_allclose(x, y, rtol=rtol)


def outcome(function, a, exponent):
    try:
        result = function(a, exponent)
    except (TypeError, ValueError, OverflowError) as error:
        return (error,)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_first_power_of_numbers_is_the_number(dtype):
    def raised_once(a):
        out = np.empty_like(a)
        for i in range(a.shape[0]):
            out[i] = a[i] ** 1
        return out, a[0] ** 1.0, a**1

    a = np.array(SPECIAL, dtype)
    compiled = ljit.jit(raised_once, num_profiled_runs=0)
    for _ in range(3):
        for x, y in zip(compiled(a), raised_once(a), strict=True):
            assert (type(x), x.dtype) == (type(y), y.dtype)
            assert bits(x) == bits(y)
    assert "shared.pow" not in compiled.dump_llvm()
