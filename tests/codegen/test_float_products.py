"""Products of matrices of floats are right whichever function multiplies: NumPy's, ljit's own, or both in a contest."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.shared_code import shared_address
from ljit.codegen.nests import product_contests as contests
from tests.ops.layouts import repeated, reversed_, strided

DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]
WAYS = ["numpy", "own", "contest"]
HEIGHTS = [1, 2, 3, 5, 6, 8, 23, 30, 193]
DEPTHS = [1, 3, 48, 97, 250]
WIDTHS = [1, 7, 16, 17, 40, 64, 130]


def product(a, b):
    return a @ b


@pytest.fixture(params=WAYS)
def way(request) -> Iterator[str]:
    """Let all products go one way."""
    own = [
        (dtype, has_vector)
        for dtype in DTYPES
        if contests.has_own_product(dtype)
        for has_vector in (False, True)
    ]
    for kind in own:
        if request.param == "own":
            contests.use_for_all(*kind, contests.own_product(*kind))
        elif request.param == "contest":
            contests.compete(*kind)
    yield request.param
    for kind in own:
        contests.use_for_all(*kind, 0)


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Numbers whose sums of products are exact, in whatever order they are added."""
    return rng.integers(-9, 10, shape).astype(dtype)


def layouts(a: np.ndarray) -> Iterator[np.ndarray]:
    yield from (a, np.asfortranarray(a), strided(a), strided(a)[:, ::-1], reversed_(a), repeated(a))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_sizes_of_tiles_and_blocks(way: str, dtype: np.dtype) -> None:
    rng, compiled, turned = np.random.default_rng(3), ljit.jit(product), ljit.jit(product)
    for m, k, n in itertools.product(HEIGHTS, DEPTHS, WIDTHS):
        a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
        found = compiled(a, b)
        assert found.dtype == dtype and found.flags.c_contiguous
        np.testing.assert_array_equal(found, a @ b, f"{(m, k, n)}")
        np.testing.assert_array_equal(turned(a, np.asfortranarray(b)), found, f"{(m, k, n)}")
    assert any(s.state == "native" for s in compiled.specializations)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matrices_with_gaps_and_vectors(way: str, dtype: np.dtype) -> None:
    rng, compiled = np.random.default_rng(4), ljit.jit(product)
    a, b = whole_numbers(rng, (31, 20), dtype), whole_numbers(rng, (20, 67), dtype)
    for x, y in itertools.product(layouts(a), layouts(b)):
        for left, right in ((x, y), (x, y[:, 3]), (x[4], y), (y.T, x.T)):
            np.testing.assert_array_equal(compiled(left, right), left @ right)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_vectors_of_all_lengths(way: str, dtype: np.dtype) -> None:
    rng, compiled = np.random.default_rng(8), ljit.jit(product)
    for m, k in itertools.product([0, 1, 3, 4, 6, 17, 70], [0, 1, 2, 15, 33, 64, 100]):
        a = whole_numbers(rng, (m, k), dtype)
        x, y = whole_numbers(rng, (2 * k,), dtype), whole_numbers(rng, (m,), dtype)
        for matrix, step in itertools.product((a, np.asfortranarray(a)), (1, 2)):
            vector = x[: k * step : step]
            np.testing.assert_array_equal(compiled(matrix, vector), a @ vector)
            np.testing.assert_array_equal(compiled(y, matrix), y @ a)
        stack = np.stack([a, a + 1])
        np.testing.assert_array_equal(compiled(stack, x[:k]), stack @ x[:k])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_stacks_and_what_is_empty(way: str, dtype: np.dtype) -> None:
    rng, compiled = np.random.default_rng(5), ljit.jit(product)
    for left, right in (
        ((3, 7, 5), (3, 5, 18)),
        ((3, 7, 5), (5, 18)),
        ((7, 5), (3, 5, 18)),
        ((1, 7, 5), (4, 5, 18)),
        ((0, 5), (5, 4)),
        ((4, 0), (0, 5)),
        ((4, 5), (5, 0)),
        ((0, 4, 5), (5, 6)),
    ):
        a, b = whole_numbers(rng, left, dtype), whole_numbers(rng, right, dtype)
        for _ in range(5):
            np.testing.assert_array_equal(compiled(a, b), a @ b)
            swapped = b.swapaxes(-1, -2), a.swapaxes(-1, -2)
            np.testing.assert_array_equal(compiled(*swapped), swapped[0] @ swapped[1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_what_is_not_finite_stays_in_its_rows_and_columns(way: str, dtype: np.dtype) -> None:
    compiled = ljit.jit(product)
    a, b = np.ones((9, 21), dtype), np.ones((21, 35), dtype)
    a[2, 3], a[8, 20], b[5, 33], b[20, 17], b[3, 34] = np.nan, np.inf, -np.inf, np.inf, 0.0
    a[4] = -0.0
    with np.errstate(all="ignore"):
        wanted = a @ b
        for _ in range(20):
            found = compiled(a, b)
            np.testing.assert_array_equal(found, wanted)
            zeros = wanted == 0
            np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rounding_is_as_small_as_that_of_sums(way: str, dtype: np.dtype) -> None:
    rng, compiled = np.random.default_rng(6), ljit.jit(product)
    a, b = rng.uniform(0, 1, (40, 700)).astype(dtype), rng.uniform(0, 1, (700, 50)).astype(dtype)
    wanted = a.astype(np.longdouble) @ b.astype(np.longdouble)
    for _ in range(20):
        np.testing.assert_allclose(compiled(a, b), wanted, rtol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_matrix_times_itself_turned_is_symmetric(way: str, dtype: np.dtype) -> None:
    compiled = ljit.jit(lambda a: a @ a.T)
    a = np.random.default_rng(7).normal(size=(77, 301)).astype(dtype)
    for _ in range(20):
        found = compiled(a)
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_own_function_writes_nothing_but_the_result(dtype: np.dtype) -> None:
    if not contests.has_own_product(dtype):
        return
    vectors = ((1, 40, 33), (1, 5, 130), (29, 66, 1), (7, 3, 1), (1, 1, 1))
    shapes = [(False, x) for x in (*vectors, (5, 3, 7), (13, 99, 33), (29, 30, 66))]
    for has_vector, (m, k, n) in shapes + [(True, x) for x in vectors]:
        address = contests.own_product(dtype, has_vector)
        function = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 4)(address)
        a, b = np.ones((m, k), dtype), np.ones((k, n), dtype)
        around = np.full((m + 2, n + 40), 7, dtype)
        c = around[1:-1, 20:-20]
        places = [x.ctypes.data for x in (a, b, c)]
        strides = [0, 0, 0, *a.strides, *b.strides, *c.strides]
        given = [np.array(x, np.int64) for x in (places, [1, m, k, n], strides)]
        function(*(x.ctypes.data for x in given), None)
        assert (c == k).all()
        c[...] = 7
        assert (around == 7).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_own_function_is_compiled_when_enough_was_multiplied(dtype: np.dtype) -> None:
    if not contests.has_own_product(dtype):
        return
    way = contests._way(dtype, False)
    numpys, left = way.function, way.left
    a = np.ones((20, 20), dtype)
    try:
        way.left = 10_000
        with config.overridden(cold_calls=False):  # no call is CPython's
            compiled = ljit.jit(product)
            for _ in range(50):
                np.testing.assert_array_equal(compiled(a, a), np.full((20, 20), 20, dtype))
        assert way.function != numpys
    finally:
        contests.use_for_all(dtype, False, 0)
        way.left = left


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_product_of_a_stack_counts_as_one(dtype: np.dtype) -> None:
    if not contests.has_own_product(dtype):
        return
    way = contests._way(dtype, False)
    left = way.left
    a = np.ones((500, 3, 3), dtype)
    try:
        way.left = 2**31
        with config.overridden(cold_calls=False):
            compiled = ljit.jit(product)
            for _ in range(3):
                np.testing.assert_array_equal(compiled(a, a), np.full((500, 3, 3), 3, dtype))
            before = way.left
            compiled(a, a)
        assert before - way.left == 500 * (2**10 + 27)
    finally:
        way.left = left


def _when_asked(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let CPython ask for ljit's own products between two instructions, where making them raises something."""

    def fail(*_kind: object) -> None:
        raise error

    monkeypatch.setattr(contests, "compete", fail)
    earned = contests._way(np.dtype(np.float64), False).when_earned
    api = ctypes.pythonapi
    api.Py_AddPendingCall(
        ctypes.cast(api.PyObject_IsTrue, ctypes.c_void_p), ctypes.c_void_p(earned)
    )
    for _ in range(1000):
        len("instructions")


@pytest.mark.skipif(not contests.has_own_product(np.dtype(np.float64)), reason="NumPy's alone")
def test_an_interrupt_while_own_products_are_compiled_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(KeyboardInterrupt):
        _when_asked(monkeypatch, KeyboardInterrupt())


@pytest.mark.skipif(not contests.has_own_product(np.dtype(np.float64)), reason="NumPy's alone")
def test_without_own_products_numpys_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with config.overridden(check=0):
        _when_asked(monkeypatch, MemoryError())


def test_what_a_contest_has_shown_is_asked_again_after_many_calls() -> None:
    """With two functions that do nothing but count in the place of those that multiply."""
    counts = [0, 0]

    def counter(which: int) -> object:
        def count(*_operands: object) -> None:
            counts[which] += 1

        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(count)

    counters = [counter(0), counter(1)]
    first, second = (ctypes.cast(each, ctypes.c_void_p).value or 0 for each in counters)
    dtype = np.dtype(np.float64)

    def write(module: ModuleBuilder) -> None:
        contests._write_chooser(module, "chooser.counted", dtype, (first, second))

    place = shared_address("chooser.counted", write, straight=True)
    choose = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(place)
    data, sizes, steps = np.zeros(3, np.intp), np.array([1, 4, 4, 4]), np.full(9, 8)
    for _ in range(contests._HOLDS - 1):
        choose(data.ctypes.data, sizes.ctypes.data, steps.ctypes.data, None)
    assert min(counts) == contests._TRIES // 2
    for _ in range(contests._TRIES):
        choose(data.ctypes.data, sizes.ctypes.data, steps.ctypes.data, None)
    assert min(counts) == contests._TRIES
