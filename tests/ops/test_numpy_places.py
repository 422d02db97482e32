"""argmin and argmax give the places that NumPy gives: ties, NaN, integers' bounds, layouts, axes, nothing."""

import re

import numpy as np
import pytest

import ljit
from ljit.codegen.kernels.extreme_columns import ColumnSearch
from ljit.codegen.kernels.extreme_search import Search
from ljit.codegen.llvm.builder import ModuleBuilder
from tests.ops.layouts import DTYPES, LAYOUTS, filled

REAL = [dtype for dtype in DTYPES if not dtype.startswith("complex")]


def flat(a):
    return np.argmin(a), a.argmax()


def along_first(a):
    return np.argmin(a, axis=0), a.argmax(axis=0)


def along_last(a):
    return a.argmin(-1), np.argmax(a, axis=-1)


def three_ways(a):
    return *along_first(a), np.argmin(a, 1), np.argmax(a, axis=1), *along_last(a)


def kept(a):
    return np.argmin(a, axis=0, keepdims=True), np.argmax(a, keepdims=True)


def all_ways(a):
    return *along_first(a), *along_last(a), *flat(a), *kept(a)


def outcome(function, a):
    try:
        results = function(a)
    except ValueError as error:
        return str(error)
    return [
        (type(x), x.dtype, x.shape, x.flags.c_contiguous, np.asarray(x).tolist()) for x in results
    ]


def check(function, arrays):
    compiled = ljit.jit(function)
    for a in arrays:
        wanted = outcome(function, a)
        for _ in range(3):
            assert outcome(compiled, a) == wanted, (a.dtype, a.shape, a.strides)
    return compiled


@pytest.mark.parametrize("dtype", REAL)
def test_the_place_of_one_element_among_equal_ones(dtype):
    low, high = (False, True) if dtype == "bool" else (3, 5)

    def arrays():
        for size in (1, 2, 5, 31, 32, 70, 140, 300):
            for place in {0, 1, 7, size // 2, size - 1} & set(range(size)):
                for common, other in ((low, high), (high, low)):
                    a = np.full(size, common, dtype)
                    a[place] = other
                    yield a

    check(flat, arrays())


@pytest.mark.parametrize("size", [1, 7, 8, 15, 16, 17, 63, 64, 65, 255, 256, 257, 600])
def test_the_first_bool_is_found_wherever_it_is(size):
    """In registers, in what is left over behind them, in groups with gaps, and nowhere."""
    places = sorted({k for k in (0, 5, 15, 16, 63, 64, 255, 256, 259, size - 1) if k < size})
    arrays = [np.zeros(size, bool), np.ones(size, bool)]
    for place in places:
        a = np.arange(size) == place
        after = np.arange(size) >= place
        arrays += [a, ~a, after, ~after, np.repeat(a, 3)[::3], np.repeat(~a, 2)[::2], after[::-1]]
    arrays.append(np.full(size, 2, np.uint8).view(bool))
    check(flat, arrays)
    rows = np.arange(size) == np.array(places)[:, None]
    check(
        along_last, [np.concatenate((rows, ~rows)), np.asfortranarray(np.concatenate((rows,) * 9))]
    )


def test_searches_of_bools_end_with_the_first_one():
    module = ModuleBuilder("places")
    search = Search(np.dtype(bool), greatest=True)
    search.define(module)
    assert "select <" not in module.render()  # nothing is kept of what was seen before
    assert search.name != Search(np.dtype(np.uint8), greatest=True).name


@pytest.mark.parametrize("dtype", REAL)
def test_long_vectors_are_searched_in_blocks(dtype):
    rng = np.random.default_rng(1)

    def arrays():
        for size in (1023, 2048, 2049, 5000, 9001):
            a = (rng.normal(size=size) * 30).astype(dtype)
            down = np.sort(a)[::-1]
            yield from (
                a,
                down,
                down[::-1],
                down.copy(),
                a[::3],
                down[::5],
                np.full(size, 1, dtype),
            )

    check(flat, arrays())


@pytest.mark.parametrize("dtype", [x for x in REAL if x[0] in "iu"])
def test_nothing_is_beyond_the_bounds_of_integers(dtype):
    info = np.iinfo(dtype)
    a = np.full(5000, 7, dtype)
    a[2000], a[4000], a[100], a[3000] = info.min, info.min, info.max, info.max
    check(flat, (a, a[::-1].copy(), a[:100], a[90:110], a.reshape(50, 100)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_first_nan_wins(dtype):
    rng = np.random.default_rng(2)

    def arrays():
        for size in (1, 3, 8, 40, 700, 3000):
            for places in ((0,), (size - 1,), (size // 2, size - 1), (size // 3, size // 2)):
                a = rng.normal(size=size).astype(dtype)
                a[size // 4] = -np.inf
                a[list(places)] = np.nan
                yield from (a, a[::-1])
        yield np.array([np.nan] * 50, dtype)
        yield np.array([np.inf, -0.0, 0.0, np.inf, -np.inf, -np.inf] * 20, dtype)
        yield np.array([0.0, -0.0, 0.0] * 20, dtype)

    check(flat, arrays())
    matrices = [a.reshape(-1, 2) for a in arrays() if not a.size % 2]
    check(along_first, matrices)
    check(along_last, matrices)


@pytest.mark.parametrize("dtype", REAL)
def test_layouts_and_axes(dtype):
    def arrays():
        for shape in ((3, 5), (40, 3), (9, 37), (2, 16), (7, 1)):
            yield from (layout(filled(shape, dtype, 1)) for layout in LAYOUTS)

    check(all_ways, arrays())


@pytest.mark.parametrize("dtype", REAL)
def test_short_rows_are_searched_together(dtype):
    def arrays():
        random = np.random.default_rng(3)
        for shape in ((9, 4), (8, 1), (17, 7), (7, 5), (30, 16), (11, 17), (8, 32), (10, 33)):
            a = random.integers(0, 4, shape).astype(dtype)
            if a.dtype.kind == "f":
                a[random.random(shape) < 0.1] = np.nan
            yield from (layout(a) for layout in LAYOUTS)

    check(along_last, arrays())


@pytest.mark.parametrize("dtype", REAL)
def test_columns_are_searched_in_parts(dtype):
    """Extrema, equal ones, and NaNs, in each row, where parts meet and where they overlap."""
    arrays = []
    for rows in (1, 2, 3, 4, 5, 7, 9, 18):
        for columns in (4, 7, 16, 21):
            a = np.full((rows, columns), 3).astype(dtype)
            places = np.arange(columns)
            a[places % rows, places] = 5 * (places % 2)
            a[places * 3 % rows, places] = 5 * (places % 2)
            arrays.append(a)
            if a.dtype.kind == "f":
                with_nans = a.copy()
                with_nans[places * 5 % rows, places] = np.nan
                with_nans[places * 7 % rows, places] = np.nan
                arrays += [with_nans, with_nans[::-1]]
    check(along_first, arrays)


def test_rows_of_columns_do_not_wait_for_one_another():
    module = ModuleBuilder("places")
    ColumnSearch(Search(np.dtype(np.float64), greatest=True)).define(module)
    columns = module.render().split("row.4:")[1].split("end.4:")[0]
    assert columns.count("phi <4 x double>") == 4


def test_short_rows_are_lanes():
    module = ModuleBuilder("places")
    ColumnSearch(Search(np.dtype(np.float64), greatest=True)).define(module)
    rows = module.render().split("tile.rows:")[1].split("end.rows:")[0]
    assert rows.count("insertelement <8 x double>") == 16
    assert "call" not in rows


@pytest.mark.parametrize("dtype", ["float64", "int16", "bool"])
def test_extrema_of_three_axes_are_at_numpys_places(dtype):
    a = filled((6, 7, 21), dtype, 1)
    check(three_ways, (a, a.transpose(2, 0, 1), a[:, ::2, ::-3], a.swapaxes(0, 1), a[..., 1:5]))


@pytest.mark.parametrize("function", [flat, along_first, along_last, kept])
def test_the_extremum_of_nothing_raises(function):
    check(function, (np.ones((3, 4)), np.ones((0, 4)), np.ones((4, 0)), np.ones((0, 0))))
    check(flat, (np.ones(3), np.ones(0), np.ones(2)))


def test_places_are_found_natively():
    compiled = check(along_last, (np.arange(40.0).reshape(5, 8),))
    text = compiled.dump_llvm()
    assert (
        len(re.findall(r"call void inttoptr .* i64 8, .*nounwind", text)) == 2
    )  # of least and greatest
    assert "PyObject_Vectorcall" not in text
