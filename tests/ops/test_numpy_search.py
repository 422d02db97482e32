"""np.searchsorted and np.interp of one number give what NumPy gives, also for arrays that are not sorted.

What is found in those is what NumPy 2.0 to 2.4 find: docs/semantics-and-limits.md.
"""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.kernels import many_searches


def left(a, keys):
    return [np.searchsorted(a, k) for k in keys]


def right(a, keys):
    return [np.searchsorted(a, k, side="right") for k in keys]


def by_method(a, keys):
    return [a.searchsorted(k, side="right") for k in keys]


def interpolated(xs, xp, fp):
    out = np.empty(len(xs))
    for i in range(len(xs)):
        out[i] = np.interp(xs[i], xp, fp)
    return out


SIZES = [1, 2, 4, 5, 10, 11, 12, 40]


FINDS_THE_SAME = np.lib.NumpyVersion(np.__version__) < "2.5.0"


def arrays(size, dtype, *, unsorted=True):
    """Sorted, with equal elements, shuffled, and every other element of memory."""
    rng = np.random.default_rng(size)
    values = rng.normal(size=size) * 10
    yield np.sort(values).astype(dtype)
    yield np.sort(np.round(values / 10)).astype(dtype)
    if unsorted:
        yield values.astype(dtype)
    yield np.sort(np.repeat(values, 2)).astype(dtype)[::2]


def keys_for(a):
    keys = [*a.tolist(), *(a + 1).tolist(), -1000, 1000, 0]
    return keys if a.dtype.kind == "i" else [*map(float, keys), 0.5, np.inf, -np.inf, np.nan]


OTHER_WIDTHS = [np.float32, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.float64]


@pytest.mark.parametrize("dtype", OTHER_WIDTHS)
@pytest.mark.parametrize("key", [*OTHER_WIDTHS, int, float])
@pytest.mark.parametrize("function", [left, right, by_method])
def test_numbers_are_found_among_those_of_other_dtypes(function, dtype, key):
    compiled = ljit.jit(function)
    numbers = np.array([0, 1, 1, 2, 3, 5, 7, 100])
    wide = [2**53, 2**53 + 1, 2**53 + 2] if dtype == np.int64 else [0.1, 1 / 3]
    unsorted = numbers[::-1] if FINDS_THE_SAME else numbers
    for a in (numbers, unsorted, np.sort(np.append(numbers, wide)), numbers[:0]):
        a = np.repeat(a.astype(dtype), 2)[::2]
        for v in (0, 1, 4, 7, 127, 1 / 3, 0.1, 2**31 - 1, 2**53 + 1):
            if v < 128 or np.dtype(key).itemsize == 8:
                found = compiled(a, [key(v)])
                assert found == function(a, [key(v)])
                assert type(found[0]) is np.int64
    assert "calls Python" not in str(compiled.explain())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("function", [left, right, by_method])
def test_searchsorted_finds_numpys_places(function, dtype, size):
    compiled = ljit.jit(function)
    for a in arrays(size, dtype, unsorted=FINDS_THE_SAME):
        keys = keys_for(a)
        for _ in range(3):
            found = compiled(a, keys)
        wanted = function(a, keys)
        assert list(map(type, found)) == list(map(type, wanted))
        assert found == wanted


@pytest.mark.parametrize("size", SIZES)
def test_interp_gives_numpys_bits(size):
    compiled = ljit.jit(interpolated)
    rng = np.random.default_rng(size)
    for xp in arrays(size, np.float64):
        fp = rng.normal(size=size)
        fp[rng.integers(size)] = rng.choice([np.nan, np.inf, 1.0])
        xs = np.array(keys_for(xp))
        for _ in range(3):
            found = compiled(xs, xp, fp)
        assert found.view(np.int64).tolist() == interpolated(xs, xp, fp).view(np.int64).tolist()


def test_interp_has_a_loop_without_calls_of_numpy():
    compiled = ljit.jit(interpolated)
    xp = np.linspace(0.0, 1.0, 20)
    for _ in range(4):
        compiled(xp, xp, xp)
    assert "@interval" in compiled.dump_llvm()


@pytest.mark.parametrize(("points", "values"), [(0, 0), (3, 2)])
def test_bad_points_raise_as_in_numpy(points, values):
    def f(x, xp, fp):
        return np.interp(x, xp, fp)

    compiled = ljit.jit(f)
    good = np.arange(3.0)
    for _ in range(4):
        compiled(1.5, good, good)
    with pytest.raises(ValueError) as wanted:
        f(1.5, good[:points], good[:values])
    with pytest.raises(ValueError) as found:
        compiled(1.5, good[:points], good[:values])
    assert str(found.value) == str(wanted.value)


# -- arrays of numbers -----------------------------------------------------------------------------


def all_positions(a, keys):
    return np.searchsorted(a, keys), np.searchsorted(a, keys, side="right"), a.searchsorted(keys)


def all_values(x, xp, fp):
    return np.interp(x, xp, fp)


def many_keys(a, rng):
    """Keys in no order and in order, few and many, near each other and anywhere, NaN among them."""
    keys = np.array(keys_for(a), a.dtype)
    some = rng.choice(keys, 37)
    near = np.repeat(np.sort(keys), 3)
    return [
        keys,
        keys[:0],
        keys[:3],
        np.sort(some),
        some[::-1],
        np.repeat(some, 2)[::2],
        near,
        near[::-1],
    ]


def agree(compiled, function, *args):
    found, wanted = (
        [*f(*args)] if f(*args).__class__ is tuple else [f(*args)] for f in (compiled, function)
    )
    for x, y in zip(found, wanted, strict=True):
        assert (type(x), x.dtype, x.shape, x.flags.c_contiguous) == (
            type(y),
            y.dtype,
            y.shape,
            True,
        )
        assert np.array_equal(x, y, equal_nan=y.dtype.kind == "f"), args


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_searchsorted_of_arrays(dtype):
    compiled = ljit.jit(all_positions)
    rng = np.random.default_rng(2)
    for size in (0, 1, 2, 5, 12, 40, 700):
        for a in arrays(size, dtype, unsorted=FINDS_THE_SAME):
            for keys in many_keys(np.ascontiguousarray(a), rng):
                agree(compiled, all_positions, a, keys)
                agree(compiled, all_positions, np.ascontiguousarray(a), keys)
    with_nan = np.array([-1.0, 0.0, 0.0, 2.0, np.nan, np.nan])
    if dtype is np.float64:
        for keys in many_keys(with_nan, rng):
            agree(compiled, all_positions, with_nan, keys)
    assert any(s.state == "native" for s in compiled.specializations)


GRIDS = {
    "even": lambda n: np.linspace(-3, 5, n),
    "geometric": lambda n: np.geomspace(1e-9, 1e9, n),
    "both signs": lambda n: np.concatenate([-np.geomspace(1e300, 1e-300, n), np.geomspace(1e-300, 1e300, n)]),
    "no order of distances": lambda n: np.sort(np.random.default_rng(n).normal(size=n)),
    "equal ones": lambda n: np.sort(np.random.default_rng(n).integers(-9, 9, n)) * 1.0,
    "zeros": lambda n: np.repeat([-0.0, 0.0, 1.0], n)[:n],
    "infinite": lambda n: np.append(np.arange(n - 1.0), np.inf),
    "NaN": lambda n: np.append(np.arange(n - 1.0), np.nan),
    "not sorted": lambda n: np.append(np.arange(1.0, n), 0.0),
    "whole": lambda n: np.arange(n) * 3 - 7,
    "whole without order": lambda n: np.unique(np.random.default_rng(n).integers(-9 * n, 9 * n, n)),
    "whole to the limits": lambda n: np.linspace(-(2**63), 2**63 - 1025, n).astype(np.int64),
    "the highest": lambda n: np.append(np.arange(n - 1), 2**63 - 1),
}  # fmt: skip


def keys_of_a_grid(a, rng):
    """Thousands of keys: the items, numbers beside them and far from them."""
    items = rng.choice(a, 6000)
    if a.dtype.kind == "i":
        beside = np.clip(items, -(2**62), 2**62) + rng.integers(-1, 2, 6000)
        ends = rng.choice([2**63 - 1, -(2**63), 0], 6000)
    else:
        beside = np.nextafter(items, rng.choice([-np.inf, np.inf], 6000))
        ends = rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0], 6000)
    return np.choose(rng.integers(0, 3, 6000), [items, beside, ends])


@pytest.mark.parametrize("name", GRIDS)
def test_searches_for_thousands_of_numbers(name):
    if name == "not sorted" and not FINDS_THE_SAME:
        pytest.skip("where such numbers belong is not defined: this NumPy searches in another way")

    def positions(a, keys):
        return np.searchsorted(a, keys), np.searchsorted(a, keys, side="right")

    compiled, rng = ljit.jit(positions), np.random.default_rng(4)
    with config.overridden(quick_runs=0):
        for size in (5, 1, 2, 3, 16, 17, 100, 1000, 1024, 1025, 1500, 1501):
            a = GRIDS[name](size)
            for keys in (keys_of_a_grid(a, rng), keys_of_a_grid(a, rng)[::-1]):
                agree(compiled, positions, a, keys)
                agree(compiled, positions, a, keys[:9])
    assert any(s.state == "native" for s in compiled.specializations)


@pytest.mark.parametrize(("count", "is_used"), [(4096, True), (500, False)])
def test_tables_are_for_code_that_has_seen_thousands(count, is_used, monkeypatch):
    made = []

    def search(*args, after):
        made.append(after)
        return search_grid(*args, after=after)

    search_grid = many_searches.search_grid
    monkeypatch.setattr(many_searches, "search_grid", search)
    with config.overridden(quick_runs=0):
        f = ljit.jit(lambda p, keys: np.searchsorted(p, keys))
        for _ in range(3):
            assert f(np.arange(50.0), np.full(count, 7.5)).tolist() == [8] * count
    assert made == [False] * is_used


@pytest.mark.parametrize(
    "search",
    [
        lambda p, keys: np.searchsorted(p, keys),
        lambda p, keys: np.digitize(keys, p),
        lambda p, keys: np.histogram(keys, p)[0],
        lambda p, keys: np.interp(keys, p, p),
    ],
)
def test_code_made_for_few_numbers_is_made_anew_for_thousands(search):
    rng, p = np.random.default_rng(6), np.linspace(0, 1, 50)
    with config.overridden(quick_runs=0, cold_calls=0):
        f = ljit.jit(search)
        for count in (100, 100, 100, *(6000,) * 20):
            keys = rng.random(count)
            np.testing.assert_array_equal(f(p, keys), search(p, keys))
    (info,) = f.specializations
    assert info.state == "native"
    assert 1 <= info.bailouts <= 2
    assert info.compiles == 2


@pytest.mark.parametrize("keys", [
    np.arange(12).reshape(3, 4), np.arange(12.0).reshape(3, 4).T, np.arange(5, dtype=np.float32), np.array(2.0),
    np.arange(5, dtype=np.uint64), np.arange(5, dtype=">f8"), np.arange(5) > 2, np.arange(3) * 1j, np.zeros((0, 2)),
    [1.0, 2.0], np.arange(6, dtype=np.int8)[::-2], np.arange(4, dtype=np.float16),
])  # fmt: skip
def test_searchsorted_and_interp_of_odd_keys(keys):
    def positions(a, keys):
        return np.searchsorted(a, keys)

    for points in (np.arange(7.0), np.arange(7)):
        compiled = ljit.jit(positions)
        for _ in range(3):
            found, wanted = compiled(points, keys), positions(points, keys)
            assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
            assert np.array_equal(found, wanted)
    compiled = ljit.jit(all_values)
    points = np.arange(7.0)
    for _ in range(3):
        assert outcome_of(compiled, keys, points, points) == outcome_of(
            all_values, keys, points, points
        )


def outcome_of(function, *args):
    try:
        x = function(*args)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return type(x), x.dtype, x.shape, x.tobytes()


def test_interp_of_arrays():
    rng = np.random.default_rng(4)
    compiled, plain = ljit.jit(all_values), ljit.jit(all_values)
    for size in (1, 2, 4, 5, 12, 40, 700):
        for xp in arrays(size, np.float64):
            fp = rng.normal(size=size)
            for y in (fp, fp[::-1]):
                for x in many_keys(np.ascontiguousarray(xp), rng):
                    agree(compiled, all_values, x, xp, y)
                    agree(plain, all_values, x, np.sort(xp), y)
            fp[rng.integers(size)] = rng.choice([np.nan, np.inf, 1.0])
            agree(plain, all_values, x, np.sort(xp), fp)
    with_nan = np.array([-1.0, 0.0, 0.0, 2.0, np.nan])
    for x in many_keys(with_nan, rng):
        agree(plain, all_values, x, with_nan, with_nan[::-1])
        agree(plain, all_values, x, with_nan[:4], with_nan[:4])
    assert any(s.state == "native" for s in plain.specializations)


@pytest.mark.parametrize(("points", "values"), [(0, 0), (3, 2)])
@pytest.mark.parametrize("count", [0, 3])
def test_bad_points_of_many_numbers_raise_as_in_numpy(points, values, count):
    compiled = ljit.jit(all_values)
    good = np.arange(3.0)
    for _ in range(3):
        compiled(good, good, good)
    for _ in range(2):
        args = good[:count], good[:points], good[:values]
        assert outcome_of(compiled, *args) == outcome_of(all_values, *args)


def binned(x, bins):
    return np.digitize(x, bins), np.digitize(x, bins, right=True), np.digitize(x, bins, False)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_digitize_gives_numpys_bins(dtype):
    rng = np.random.default_rng(5)
    compiled = ljit.jit(binned)
    for size in (1, 2, 5, 12, 700):
        for a in arrays(size, dtype):
            bins = np.sort(a)
            for keys in many_keys(bins, rng):
                agree(compiled, binned, keys, bins)
    assert any(s.state == "native" for s in compiled.specializations)
    good = np.arange(4).astype(dtype)
    for bins in (
        good[::-1].copy(),
        good[::-1],
        good[[0, 2, 1]],
        good[:0],
        good[[1, 1]],
        good.reshape(2, 2),
    ):
        for x in (good, good[:0]):
            for _ in range(2):
                try:
                    wanted = [y.tolist() for y in binned(x, bins)]
                except ValueError as error:
                    with pytest.raises(ValueError) as found:
                        compiled(x, bins)
                    assert str(found.value) == str(error)
                else:
                    assert [y.tolist() for y in compiled(x, bins)] == wanted


def test_digitize_with_nan():
    compiled = ljit.jit(binned)
    nan = np.array([0.0, 1.0, np.nan])
    for bins in (nan[:2], nan, nan[::-1].copy()):
        for _ in range(2):
            try:
                wanted = [y.tolist() for y in binned(nan, bins)]
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error)):
                    compiled(nan, bins)
            else:
                assert [y.tolist() for y in compiled(nan, bins)] == wanted


def bounded_values(x, xp, fp):
    return (
        np.interp(x, xp, fp, left=-1.5),
        np.interp(x, xp, fp, right=7),
        np.interp(x, xp, fp, -1, np.nan),
        np.interp(x, xp, fp, None, 2.5),
    )


def bounded_outcome(function, *args):
    try:
        return [(type(y), y.dtype, y.shape, y.tobytes()) for y in function(*args)]
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("values", [np.float64, np.float32, np.int16, np.uint64, bool, complex])
def test_interp_with_ends_of_its_own(values):
    rng = np.random.default_rng(6)
    compiled = ljit.jit(bounded_values)
    for size in (5, 1, 2, 5, 0):
        xp, fp = np.sort(rng.normal(size=size)), rng.integers(0, 50, size).astype(values)
        keys = np.concatenate([xp, rng.normal(size=20) * 3, [np.nan, np.inf, -np.inf]])
        for x in (keys, keys[::-1], keys[:4].reshape(2, 2), 0.25, -9.0, float("nan"), 9):
            for points in (fp, np.repeat(fp, 2)[::2], fp[:1]):
                for _ in range(2):
                    args = x, xp, points
                    assert bounded_outcome(compiled, *args) == bounded_outcome(
                        bounded_values, *args
                    )


def test_interp_with_ends_is_native():
    compiled, x = ljit.jit(bounded_values), np.arange(9.0)
    for keys in (x, 0.5):
        for _ in range(3):
            compiled(keys, x[2:6], x[2:6])
        assert "calls Python: np" not in compiled.explain()
