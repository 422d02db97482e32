"""Reductions in native code against NumPy: dtypes, axes, layouts, empty arrays, NaNs, and how exact sums are."""

import math
import warnings

import numpy as np
import pytest

import ljit

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(5)
DTYPES = [
    np.dtype(d)
    for d in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16")
]


def array_of(dtype, shape):
    if dtype.kind == "b":
        return RNG.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        low = -9 if dtype.kind == "i" else 0
        return RNG.integers(low, 10, shape).astype(dtype)
    values = RNG.standard_normal(shape)
    return (values + 1j * RNG.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def assert_same(found, wanted):
    assert type(found) is type(wanted)
    if isinstance(wanted, np.ndarray):
        assert found.shape == wanted.shape
        steps = zip(found.strides, wanted.strides, wanted.shape, strict=True)
        assert all(mine == other or n == 1 for mine, other, n in steps) or not wanted.size
    dtype = np.asarray(wanted).dtype  # of counts, ints in some versions of NumPy
    assert np.asarray(found).dtype == dtype
    if dtype.kind in "fc":
        tolerance = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=10 * tolerance)
    else:
        np.testing.assert_array_equal(found, wanted)


def check(function, *argument_lists):
    """Compare calls of compiled code with NumPy; the graph must have no boxed reduction."""
    compiled = ljit.jit(function)
    for arguments in argument_lists:
        for _ in range(3):
            assert_same(compiled(*arguments), function(*arguments))
    return compiled


def is_native(compiled, *arguments):
    return "prim::Map" in str(compiled.graph_for(*arguments))


FUNCTIONS = {
    "sum": lambda a: a.sum(),
    "prod": lambda a: a.prod(),
    "min": lambda a: a.min(),
    "max": lambda a: np.max(a),
    "any": lambda a: a.any(),
    "all": lambda a: np.all(a),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_elements_of_each_dtype(name, dtype):
    if dtype.kind == "c" and name in ("min", "max"):
        pytest.skip("complex numbers have no order here")
    arrays = [array_of(dtype, n) for n in (1, 2, 5, 33, 1500)]
    compiled = check(FUNCTIONS[name], *((a,) for a in arrays))
    assert is_native(compiled, arrays[-1])


AXES = {
    "0": lambda a: a.sum(axis=0),
    "1": lambda a: a.sum(axis=1),
    "-1": lambda a: a.sum(axis=-1),
    "(0, 1)": lambda a: a.sum(axis=(0, 1)),
    "(0, 2)": lambda a: a.sum(axis=(0, 2)),
    "(2, 1)": lambda a: a.sum(axis=(2, 1)),
    "None": lambda a: a.sum(axis=None),
    "0 kept": lambda a: a.sum(axis=0, keepdims=True),
    "1 kept": lambda a: a.sum(axis=1, keepdims=True),
    "(0, 2) kept": lambda a: a.sum(axis=(0, 2), keepdims=True),
    "-1 kept": lambda a: a.max(axis=-1, keepdims=True),
    "None kept": lambda a: a.sum(keepdims=True),
    "min 0": lambda a: a.min(axis=0),
    "max 1": lambda a: a.max(axis=1),
    "min (0, 2)": lambda a: a.min(axis=(0, 2)),
    "prod 1": lambda a: a.prod(axis=1),
    "any 0": lambda a: (a > 1).any(axis=0),
    "all -1": lambda a: (a < 1).all(axis=-1),
}


def layouts(base):
    """Views of every kind on a three-dimensional array."""
    yield base
    yield base[::2, :, ::3]
    yield base[::-1, ::-1, ::-1]
    yield base[..., ::-1]
    yield base.T
    yield np.asfortranarray(base)
    yield base.transpose(1, 0, 2) if base.shape[0] == 1 else base[:, :, :1]
    yield np.broadcast_to(base[:, :1], base.shape)
    yield np.broadcast_to(base[:1, :, :1], base.shape)


@pytest.mark.parametrize("axis", AXES)
def test_axes_in_all_layouts(axis):
    base = array_of(np.dtype(float), (4, 5, 37))
    compiled = check(AXES[axis], *((a,) for a in layouts(base)))
    assert is_native(compiled, base)
    assert is_native(compiled, base.T)


@pytest.mark.parametrize("axis", AXES)
def test_axes_with_sizes_of_one_and_many(axis):
    shapes = [(1, 1, 1), (1, 7, 1), (3, 1, 2000), (2000, 1, 3), (2, 3000, 2)]
    check(AXES[axis], *((array_of(np.dtype(float), shape),) for shape in shapes))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)])
def test_empty_arrays_give_the_identity_or_raise(axis, shape):
    function, compiled = AXES[axis], ljit.jit(AXES[axis])
    for a in (np.ones((2, 3, 4)), np.empty(shape)):
        for _ in range(3):
            try:
                wanted = function(a)
            except ValueError as error:
                with pytest.raises(ValueError) as caught:
                    compiled(a)
                assert str(caught.value) == str(error)
            else:
                assert_same(compiled(a), wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 3, 8, 40, 3000])
def test_a_nan_anywhere_spreads(dtype, n):
    def bounds(a):
        return a.min(), a.max(), a.sum(), a.min(axis=0), a.max(axis=0)

    compiled = ljit.jit(bounds)
    for at in {0, 1 % n, n // 2, n - 1}:
        a = array_of(np.dtype(dtype), (n,))
        a[at] = np.nan
        for _ in range(3):
            assert all(math.isnan(x) for x in compiled(a))
        a[at] = np.inf
        assert compiled(a)[1:3] == (np.inf, np.inf)
        a[(at + 1) % n] = -np.inf
        assert compiled(a)[0] == -np.inf
        assert math.isnan(compiled(a)[2]) or n == 1


def test_a_nan_in_a_column_stays_there():
    a = array_of(np.dtype(float), (50, 20))
    a[30, 3] = a[0, 7] = a[49, 19] = np.nan
    check(lambda a: a.max(axis=0), (a,), (a.T,))
    check(lambda a: a.min(axis=1), (a,), (a.T,))


def test_integers_wrap_as_numpy_has_it():
    big = np.full(1000, 2**62)
    check(lambda a: a.sum(), (big,), (-big,))
    check(lambda a: a.prod(), (np.full(70, 3),), (big,))
    check(lambda a: a.sum(), (np.full(300, 2**32 - 1, np.uint32),))
    check(lambda a: a.sum(dtype=np.int8), (np.full(300, 100, np.int8),))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2"])
def test_sums_of_small_integers_are_wide(dtype):
    info = None if dtype == "?" else np.iinfo(dtype)
    for value in (True,) if info is None else (info.max, info.min):
        a = np.full((100, 1000), value, dtype)
        check(lambda a: a.sum(), (a,), (a[:, ::2],), (a[:1],))
        check(lambda a: a.sum(axis=1), (a,), (a.T,))


def test_dtypes_are_those_asked_for():
    ints, floats = np.arange(100, dtype=np.int16), array_of(np.dtype("f4"), (10, 10))
    check(lambda a: a.sum(dtype=np.float64), (ints,), (floats,))
    check(lambda a: np.sum(a, axis=1, dtype=np.float64), (floats,), (floats.T,))
    check(lambda a: a.prod(dtype=np.float32), (ints[1:20],))
    check(lambda a: a.sum(dtype=np.complex128), (floats,))
    check(lambda a: a.sum(dtype=np.int64), (floats,))  # NumPy truncates each element


def test_producers_are_part_of_the_pass():
    a, b = array_of(np.dtype(float), (30, 40)), array_of(np.dtype(float), (40,))
    for function in (
        lambda a, b: ((a - b) ** 2).sum(axis=1),
        lambda a, b: (a * b).max(axis=1),
        lambda a, b: np.any(a > b + 1, axis=1),
        lambda a, b: np.sum(a[:, None] * b[:, None], axis=(0, 2)),
        lambda a, b: (a * a).sum(axis=-1, keepdims=True) + b[:1],
    ):
        compiled = check(function, (a, b), (a[::-1], b[::-1]))
        assert "np::sum" not in str(compiled.graph_for(a, b))
        assert_same(compiled(a[:0], b), function(a[:0], b))


def test_whole_array_tests_may_end_early():
    def found(a, x):
        return np.any(a == x), np.all(a != x)

    compiled = ljit.jit(found)
    a = np.arange(10_000)
    for x in (0, 1, 1023, 1024, 5000, 9999, 10_000, -1):
        for _ in range(3):
            assert compiled(a, x) == found(a, x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [100, 1024, 5000, 1_000_000])
def test_sums_are_as_exact_as_pairwise_ones(dtype, n):
    total = ljit.jit(lambda a: a.sum())
    for a in (
        RNG.random(n),
        RNG.standard_normal(n),
        np.full(n, 0.1),
        10.0 ** RNG.integers(-8, 8, n),
    ):
        values = a.astype(dtype)
        for _ in range(3):
            found = total(values)
        magnitude = math.fsum(map(abs, values.tolist()))
        error = abs(float(found) - math.fsum(values.tolist()))
        assert error <= 64 * np.finfo(dtype).eps / 2 * magnitude


def test_an_infinite_sum_is_no_nan():
    total = ljit.jit(lambda a: a.sum())
    a = np.full(5000, 1e308)
    for _ in range(3):
        assert total(a) == np.inf
    assert total(-a) == -np.inf


MOMENTS = {
    "mean": lambda a: a.mean(),
    "mean 0": lambda a: a.mean(axis=0),
    "mean -1 kept": lambda a: np.mean(a, axis=-1, keepdims=True),
    "mean as float32": lambda a: a.mean(dtype=np.float32),
    "mean as float64": lambda a: a.mean(axis=1, dtype=np.float64),
    "var": lambda a: a.var(),
    "var 0": lambda a: np.var(a, axis=0),
    "var 1": lambda a: a.var(axis=1, ddof=1),
    "var kept": lambda a: a.var(keepdims=True),
    "std": lambda a: a.std(),
    "std -1 kept": lambda a: a.std(axis=-1, keepdims=True, ddof=1),
    "std as float64": lambda a: a.std(dtype=np.float64),
    "ptp": lambda a: np.ptp(a),
    "ptp 0": lambda a: np.ptp(a, axis=0),
    "count_nonzero": lambda a: np.count_nonzero(a),
    "nansum": lambda a: np.nansum(a, axis=1),
}


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", MOMENTS)
def test_moments_are_made_of_sums(name, dtype):
    if "ptp" in name and dtype in "?c16":
        pytest.skip("no difference, or no order")
    arrays = [array_of(np.dtype(dtype), shape) for shape in ((5, 6), (70, 40), (1, 3), (3, 1))]
    check(MOMENTS[name], *((a,) for a in (*arrays, arrays[1][::2, ::-3], arrays[1].T)))


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_of_nothing(name):
    if "ptp" in name:
        pytest.skip("raises, like an extremum")
    check(MOMENTS[name], *((np.empty(shape),) for shape in ((0, 3), (3, 0), (0, 0))))


def test_moments_of_few_values():
    for function in (lambda a: a.var(ddof=3), lambda a: a.std(axis=0, ddof=1), lambda a: a.var()):
        check(function, (np.array([[1.0, 2.0]]),), (np.array([[np.inf, 1.0], [2.0, np.nan]]),))


def test_a_sum_skips_nans():
    a = array_of(np.dtype(float), (30, 40))
    a[3, 4] = a[7, 0] = a[29, 39] = np.nan
    check(lambda a: np.nansum(a), (a,), (a.T,))
    check(lambda a: np.nansum(a, axis=0), (a,), (a.astype(np.float32),))
    b = array_of(np.dtype(complex), (5, 6))
    b[2, 3], b[0, 1], b[4, 5] = np.nan, complex(1, np.nan), complex(np.nan, np.nan)
    check(lambda a: np.nansum(a), (b,), (b.astype(np.complex64),))
    check(lambda a: np.nansum(a, axis=1), (b,), (b.T,))


def test_moments_take_no_boxed_call():
    def moments(a):
        return a.mean(axis=0), a.std(), np.ptp(a), np.count_nonzero(a > 0), np.nansum(a)

    compiled, a = ljit.jit(moments), array_of(np.dtype(float), (5, 6))
    for _ in range(3):
        compiled(a)
    graph = str(compiled.graph_for(a))
    for op in ("mean", "std", "ptp", "count_nonzero", "nansum", "sum"):
        assert f"np::{op}[" not in graph
        assert f"np::{op}(" not in graph


def test_orders_of_memory_that_native_code_does_not_make():
    a = np.moveaxis(array_of(np.dtype(float), (5, 6, 7)), 0, -1)
    b = a[::-1, :, ::2].transpose(1, 0, 2)
    check(lambda a: a.var(axis=0, keepdims=True), *[(x,) for x in (a, b, a.T, a.copy()) * 2])
    check(lambda a: a.sum(axis=-1) + 1, *[(x,) for x in (a, b, a.T, a.copy()) * 2])


def test_halves_are_added_as_numpy_does():
    a = RNG.random((60, 50)).astype(np.float16)
    check(lambda a: (a.sum(), a.mean(), a.max(), (a * 2).sum(axis=0))[0], (a,), (a.T,))
    check(lambda a: (a + 1).sum(axis=1), (a,), (a[::-1],))
    check(lambda a: a.std(axis=0), (a,))
    check(lambda a: a.max(axis=0) - np.min(a, axis=0), (a,))
    check(lambda a: a.sum(dtype=np.float32), (a,))


def without_nans(a):
    return np.nanmin(a), np.nanmax(a), np.nanmin(a, axis=0), np.nanmax(a, axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "bool"])
def test_extrema_without_nans_warn_as_numpy_does(dtype):
    """Numbers and NaNs, infinities, nothing but NaNs, nothing at all."""
    plain = (np.arange(60).reshape(6, 10) % 7 - 3).astype(dtype)
    arrays = [plain, plain.T, plain[::2, ::-3], plain[:0], plain[:, :1]]
    if dtype.startswith("f"):
        for places, value in (((2, 3), np.nan), ((0, 0), np.inf), ((5, 1), -np.inf)):
            arrays.append(arrays[-1].copy() if arrays[-1].shape == plain.shape else plain.copy())
            arrays[-1][places] = value
        arrays += [np.full((6, 10), value, dtype) for value in (np.nan, np.inf, -np.inf)]
        arrays += [np.full((6, 10), value, dtype) for value in (np.finfo(dtype).max, -0.0)]
        arrays.append(plain.copy())
        arrays[-1][:, 4] = np.nan
    compiled = ljit.jit(without_nans)
    for a in arrays:
        for _ in range(3):
            assert _with_warnings(compiled, a) == _with_warnings(without_nans, a)


def _with_warnings(function, a):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = [(type(x), x.dtype, x.shape, repr(x)) for x in function(a)]
        except ValueError as error:
            found = str(error)
    return found, [(w.category, str(w.message)) for w in caught]
