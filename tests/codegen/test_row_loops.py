"""Rows that NumPy's own loops do, where these have wider vectors: bit for bit what NumPy gives."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen import mathlib
from ljit.codegen.layouts.layout import ufunc_loop
from ljit.codegen.llvm.instructions import callee_of
from ljit.codegen.llvm.shared_code import PACKING, is_shared
from ljit.codegen.nests.nest_packing import copy_function
from ljit.ops.ufuncs import ufuncs
from ljit.testing.elementary import evaluate

ROWS = 21
VIEWS = {
    "contiguous": lambda x: x,
    "with gaps": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, ::-1],
    "rows backwards": lambda x: x[:, ::-1],
    "narrow": lambda x: x[:, 1:4],
    "the other way around": lambda x: x.T,
    "one row": lambda x: x[3],
    "no elements": lambda x: x[:, :0],
    "no rows": lambda x: x[:0],
    "three axes": lambda x: x.reshape(3, 7, -1)[:, 1:, ::2],
}


#: relative, of float16, float32 and float64: ljit's own functions and NumPy's err by units in the last place (docs/math.md)
HALF, SHORT, LONG = 1e-3, 1e-6, 1e-14
PLACES = {"e": HALF, "f": SHORT, "d": LONG}


@pytest.fixture(params=[True, False], ids=["wide vectors", "none"])
def is_wide(request, monkeypatch):
    """Whether NumPy's loops have wide vectors, whatever this machine is."""
    monkeypatch.setattr(ufuncs, "has_wide_vectors", lambda _function, _loop: request.param)
    return request.param


def numbers(dtype: str) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.1, 0.9, (ROWS, 30)).astype(dtype)


def assert_same(found: np.ndarray, wanted: np.ndarray, *, is_wide: bool) -> None:
    assert (type(found), found.dtype, found.shape) == (type(wanted), wanted.dtype, wanted.shape)
    assert found.strides == wanted.strides
    if is_wide:
        assert found.tobytes() == wanted.tobytes()
    else:
        np.testing.assert_allclose(found, wanted, rtol=PLACES[wanted.dtype.char])


def uses(function, ufunc: np.ufunc, dtypes: str) -> bool:
    address, _ = ufunc_loop(ufunc, tuple(map(np.dtype, dtypes)))
    return str(address) in function.dump_llvm()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_rows_of_arrays_in_any_layout(dtype, is_wide):
    def wanted(x):
        return np.cosh(x)

    f = ljit.jit(wanted)
    for view in VIEWS.values():
        x = view(numbers(dtype))
        for _ in range(2):
            assert_same(f(x), wanted(x), is_wide=is_wide)
    char = np.dtype(dtype).char
    assert uses(f, np.cosh, 2 * char) == is_wide


@pytest.mark.skipif(not mathlib.is_available(), reason="the C library's functions serve")
@pytest.mark.parametrize(("dtype", "type_"), [("float64", "double"), ("float32", "float")])
def test_rows_of_ljit_s_own_functions_in_any_layout(dtype, type_, is_wide):
    def wanted(x):
        return np.exp(x)

    f = ljit.jit(wanted)
    with config.overridden(quick_runs=0):
        for view in VIEWS.values():
            x = view(numbers(dtype))
            for _ in range(2):
                found = f(x)
            assert_same(found, wanted(x), is_wide=False)
            if x.size:
                assert found.tobytes() == evaluate("exp", x.ravel()).tobytes()
    assert (str(mathlib.row_function("exp", type_)) in f.dump_llvm()) == is_wide


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("step", [2, 3, -1, -7])
def test_elements_with_gaps_are_put_side_by_side_for_rows(dtype, step, is_wide):
    def wanted(x):
        return np.cosh(x)

    f = ljit.jit(wanted)
    numbers = np.random.default_rng(2).uniform(-1, 1, (2, 3000 * abs(step))).astype(dtype)
    with config.overridden(quick_runs=0):
        for x in (numbers[:, ::step], numbers[0, ::step]):
            for count in (3000, 3000, 2048, 256, 7, 2, 0):
                assert_same(f(x[..., :count]), wanted(x[..., :count]), is_wide=is_wide)
    if is_wide:
        assert copy_function(np.dtype(dtype), "gather") in f.dump_llvm()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_short_rows_are_put_behind_one_another_for_rows(dtype, is_wide):
    def wanted(x):
        return np.cosh(x[:, 1:])

    f = ljit.jit(wanted)
    with config.overridden(quick_runs=0):
        for rows, columns in ((300, 9), (300, 9), (1, 1), (700, 4), (9, 65), (4, 66), (3, 300)):
            x = np.random.default_rng(columns).uniform(-1, 1, (rows, columns)).astype(dtype)
            for view in (x, x[::2], x[::-1], np.repeat(x, 2, axis=1)[:, ::2]):
                assert_same(f(view), wanted(view), is_wide=is_wide)


def test_rows_that_may_be_short_are_moved_together_for_rows(is_wide):
    f = ljit.jit(lambda x: np.cosh(x[:, 1:]))
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(np.ones((40, 20)))
    callees = [callee_of(line) or "" for line in f.dump_llvm().splitlines()]
    assert any(is_shared(f"{PACKING}move", x) for x in callees)  # whoever has the function


def test_two_operands_that_broadcast(is_wide):
    def angles(x, y):
        return np.arctan2(x, y)

    f = ljit.jit(angles)
    x = numbers("float32")
    for a, b in ((x, x), (x, x[0]), (x[:, :1], x[0]), (x[:, ::2], x[:, 1::2]), (x.T, x[:, 0])):
        for _ in range(3):
            assert_same(f(a, b), angles(a, b), is_wide=is_wide)
    assert uses(f, np.arctan2, "fff") == is_wide


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_moduli_of_complex_numbers(dtype, is_wide):
    def moduli(x):
        return abs(x)

    f = ljit.jit(moduli)
    for view in VIEWS.values():
        x = view((numbers("float64") - 2j).astype(dtype))
        for _ in range(2):
            np.testing.assert_allclose(
                f(x), moduli(x), rtol=SHORT if dtype == "complex64" else LONG
            )
            assert f(x).strides == moduli(x).strides
    char = np.dtype(dtype).char
    assert uses(f, np.absolute, char + char.lower()) == is_wide


def test_an_operand_that_nothing_else_needs_is_written_over(is_wide):
    def of_sums(x):
        return np.tanh(np.cumsum(x))

    f, x = ljit.jit(of_sums), numbers("float64")
    before = x.copy()
    for _ in range(3):
        assert_same(f(x), of_sums(x), is_wide=False)
    assert (x == before).all()
    assert (str(mathlib.row_function("tanh", "double")) in f.dump_llvm()) == is_wide


def test_arrays_of_other_dtypes_are_converted_by_the_body_and_numbers_in_front_of_it(is_wide):
    def of_ints(x):
        return np.cosh(x)

    def of_both(x, y):
        return np.arctan2(x, y)

    x = np.arange(40, dtype=np.int64)
    f, g = ljit.jit(of_ints), ljit.jit(of_both)
    for _ in range(2):
        np.testing.assert_allclose(f(x), of_ints(x), rtol=LONG)
        y = numbers("float32")[0]
        np.testing.assert_allclose(g(y, 2.0), of_both(y, 2.0), rtol=SHORT)
    assert not uses(f, np.cosh, "dd")
    assert uses(g, np.arctan2, "fff") == is_wide


@pytest.mark.parametrize("target", ["AVX512_SKX", "X86_V4", "FMA3__AVX2", "baseline(X86_V2)", None])
def test_what_numpy_says_of_its_loops_is_understood(target, monkeypatch):
    def told(func_name):
        assert func_name == "^exp2$"
        return (
            {} if target is None else {"exp2": {"dd": {"current": target, "available": "X86_V4"}}}
        )

    introspect = SimpleNamespace(opt_func_info=told)
    monkeypatch.setattr(np.lib, "introspect", introspect, raising=False)
    ask = ufuncs.has_wide_vectors.__wrapped__
    double, single = np.dtype("d"), np.dtype("f")
    assert ask(np.exp2, (double, double)) == (target in ("AVX512_SKX", "X86_V4"))
    assert not ask(np.exp2, (single, single))
