"""Long stretches of memory are copied as a whole; what comes out is what loops give."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.instructions import callee_of
from ljit.codegen.llvm.shared_code import PACKING, is_shared

WIDE = 1000  # elements of rows of eight bytes: with 40 rows they are long, with 4 short

FUNCTIONS = {
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype(a.dtype, order="C"),
    "transposed copy": lambda a: a.T.copy(),
    "concatenate": lambda a: np.concatenate((a, a)),
    "tile": lambda a: np.tile(a, (2, 1)),
    "roll": lambda a: np.roll(a, 1700),
    "pad": lambda a: np.pad(a, 1),
    "insert": lambda a: np.insert(a, 1, 5, axis=0),
}


def stored(a, b):
    a[:] = b


def stored_behind(a):
    a[1:] = a[:-1]


def stored_before(a):
    a[:-1] = a[1:]


def rows(count: int, dtype: str, layout: str) -> np.ndarray:
    a = (np.arange(count * WIDE) % 251).astype(dtype).reshape(count, WIDE)
    if layout == "strided":
        return np.repeat(a, 2, axis=1)[:, ::2]
    return np.asfortranarray(a) if layout == "transposed" else a


def assert_same(found: np.ndarray, wanted: np.ndarray) -> None:
    assert (type(found), found.dtype, found.shape) == (type(wanted), wanted.dtype, wanted.shape)
    assert found.flags.c_contiguous == wanted.flags.c_contiguous
    assert (found == wanted).all()


@pytest.mark.parametrize("layout", ["contiguous", "strided", "transposed"])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "int8", "bool"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_of_any_length_are_numpys(name, dtype, layout):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    for count in (4, 4, 40, 300):
        a = rows(count, dtype, layout)
        result = f(a)
        assert_same(result, function(a))
        assert not np.shares_memory(result, a)


@pytest.mark.parametrize("layout", ["contiguous", "strided", "transposed"])
@pytest.mark.parametrize("dtype", ["float64", "complex64", "bool"])
def test_stores_of_any_length_are_numpys(dtype, layout):
    f = ljit.jit(stored)
    for count in (4, 4, 40, 300):
        a, b = np.zeros((count, WIDE), dtype), rows(count, dtype, layout)
        f(a, b)
        assert_same(a, np.ascontiguousarray(b))
        f(a, a)
        assert_same(a, np.ascontiguousarray(b))


@pytest.mark.parametrize("function", [stored_behind, stored_before])
def test_long_stores_that_overlap_read_all_first(function):
    f = ljit.jit(function)
    for shape in ((10,), (10,), (100_000,), (100, 1000), (3, 100_000)):
        a = np.arange(np.prod(shape)).reshape(shape)
        b = a.copy()
        f(a)
        function(b)
        assert_same(a, b)


@pytest.mark.parametrize("function", [FUNCTIONS["copy"], FUNCTIONS["concatenate"], stored])
def test_long_copies_are_the_c_librarys(function):
    f = ljit.jit(function)
    args = [rows(40, "float64", "contiguous") for _ in range(f.__wrapped__.__code__.co_argcount)]
    for _ in range(2):
        f(*args)
    assert "@llvm.memmove" in f.dump_llvm()


def stack(a, b):
    return np.stack((a, b))


def concatenate(a, b):
    return np.concatenate((a, b))


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "int16", "bool"])
@pytest.mark.parametrize("function", [stack, concatenate])
def test_optimised_copies_are_the_c_librarys_whatever_their_length(function, dtype):
    f = ljit.jit(function)
    with config.overridden(cold_calls=False, quick_runs=0):
        for count in (3, 3, 0, 1, 17, 100, 5000):
            a = (np.arange(count) % 7).astype(dtype)
            assert_same(f(a, a[::-1].copy()), function(a, a[::-1]))
    text = f.dump_llvm(optimized=False)
    assert text.count("call void @llvm.memmove") == 2
    assert "@nest." not in text


def roll(a, shift):
    return np.roll(a, shift, axis=1)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "int16", "bool"])
def test_rows_are_rolled_by_a_function_that_all_units_share(dtype):
    f = ljit.jit(roll)
    with config.overridden(cold_calls=False, quick_runs=0):
        for shape in ((4, 5), (40, 7), (3, 100), (1, 1), (0, 3), (3, 0), (2, 3000)):
            a = (np.arange(np.prod(shape)) % 7).astype(dtype).reshape(shape)
            for shift in (0, 1, -1, 3, -700):
                assert_same(f(a, shift), roll(a, shift))
    callees = [callee_of(line) or "" for line in f.dump_llvm(optimized=False).splitlines()]
    assert any(is_shared(f"{PACKING}roll", callee) for callee in callees)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("name", ["sum", "max", "prod"])
def test_long_rows_that_are_combined_are_not_copied(name, dtype):
    f = ljit.jit(
        {"sum": lambda a: a.sum(0), "max": lambda a: a.max(0), "prod": lambda a: a.prod(0)}[name]
    )
    with config.overridden(quick_runs=0):
        for count in (2, 2, 1, 5, 7):
            a = np.resize(np.arange(1, 8), (count, 40 * WIDE)).astype(dtype)
            assert_same(f(a), getattr(a, name)(0))


def fill(a):
    a[:] = 1
    return np.full(a.size, 3, a.dtype)


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int32"])
def test_large_arrays_are_filled_to_their_ends(dtype):
    f = ljit.jit(fill)
    with config.overridden(quick_runs=0):
        for count in (2**18, 2**18, 5, 0, 2**20 + 3):
            a = np.zeros(count, dtype)
            assert_same(f(a), np.full(count, 3, dtype))
            assert a.all()
